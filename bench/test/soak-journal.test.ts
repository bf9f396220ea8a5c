import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Journal, readSent, readWorked } from '../src/soak/journal.ts';

let folder: string;
let file: string;
let journal: Journal;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'acemq-journal-'));
  file = join(folder, 'numbers');
  journal = new Journal(file);
});

afterEach(() => {
  journal.close();
  rmSync(folder, { recursive: true, force: true });
});

test('what a publisher wrote is read back, without a close and in order', async () => {
  journal.sent(0, 'confirmed');
  journal.sent(12_345_678, 'uncertain');
  journal.sent(2, 'unwritten');
  const lines: string[] = [];
  await readSent(file, (number, outcome) => lines.push(`${number} ${outcome}`));
  expect(lines).toEqual(['0 confirmed', '12345678 uncertain', '2 unwritten']);
});

test('what a consumer wrote is read back, over more than one read of the file', async () => {
  const numbers = Array.from({ length: 20_000 }, (_, number) => number);
  for (const number of numbers) journal.worked(number, 'park');
  const read: number[] = [];
  await readWorked(file, (number, step) => {
    if (step === 'park') read.push(number);
  });
  expect(read).toEqual(numbers);
});

test('a file that ends in the middle of a line is refused', async () => {
  journal.sent(1, 'confirmed');
  appendFileSync(file, '2 ');
  await expect(readSent(file, () => {})).rejects.toThrow('middle of a line');
});
