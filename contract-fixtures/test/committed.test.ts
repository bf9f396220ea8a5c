import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { FIXTURE_FILES, textOf } from '../src/files.ts';

describe('the committed fixtures', () => {
  it.each(FIXTURE_FILES)('are what the library generates: $name', async ({ name, generate }) => {
    const file = fileURLToPath(new URL(`../${name}`, import.meta.url));
    await expect(textOf(generate())).toMatchFileSnapshot(file);
  });

  it.each(FIXTURE_FILES)('come out the same twice: $name', ({ generate }) => {
    expect(textOf(generate())).toBe(textOf(generate()));
  });
});
