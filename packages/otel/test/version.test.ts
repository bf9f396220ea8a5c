import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { VERSION } from '../src/version.ts';

it('the version of the scope is that of package.json; src/version.ts is to be changed with it', () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  expect(VERSION).toBe(manifest.version);
});
