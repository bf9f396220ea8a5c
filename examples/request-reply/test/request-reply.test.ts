import { expect, test } from 'vitest';
import { expectNumbers, useProgram } from './running.ts';

const ran = useProgram();

test('on the in-memory broker every ask has its outcome', async () => {
  expectNumbers(await ran([], ''));
}, 60_000);

test('says how it is used', async () => {
  expect(await ran(['--help'], '')).toMatchObject({
    code: 0,
    out: expect.stringContaining('Usage: request-reply'),
  });
  expect(await ran(['many'], '')).toMatchObject({
    code: 2,
    err: expect.stringContaining('Usage: request-reply'),
  });
});
