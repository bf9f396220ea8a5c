import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitLines } from '../src/order-lines.ts';

async function linesOf(chunks: readonly Uint8Array[]): Promise<Buffer[]> {
  const lines: Buffer[] = [];
  for await (const line of splitLines(Readable.from(chunks))) lines.push(Buffer.from(line));
  return lines;
}

test('bytes that are not UTF-8 stay as they are', async () => {
  const bytes = Buffer.from('Zo\xeb\nb\n', 'latin1');
  expect(await linesOf([bytes])).toEqual([Buffer.from('Zo\xeb', 'latin1'), Buffer.from('b')]);
});

test('a byte order mark, carriage returns, blank lines and a missing last line feed are no part of a line', async () => {
  const lines = await linesOf([Buffer.from('\ufeffa\r\n\n \t\r\nb')]);
  expect(lines.map(String)).toEqual(['a', 'b']);
});

test('the lines do not depend on how the bytes arrive', async () => {
  const byte = fc.oneof(
    fc.constantFrom(0x0a, 0x0d, 0x20, 0xef, 0xbb, 0xbf),
    fc.integer({ min: 0, max: 255 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(byte), fc.array(fc.nat(40)), async (bytes, cuts) => {
      const whole = Uint8Array.from(bytes);
      const ends = [...cuts.filter((cut) => cut < whole.length).sort((a, b) => a - b), whole.length];
      const chunks = ends.map((end, index) => whole.subarray(ends[index - 1] ?? 0, end));
      expect(await linesOf(chunks)).toEqual(await linesOf([whole]));
    }),
  );
});
