import { expect } from 'vitest';
import type { ErrorCode } from '../src/index.ts';
import { AceMQError } from '../src/index.ts';

/**
 * Expects that `work` throws an error of the library with this code, whose message has each of these words.
 */
export function expectRefusal(work: () => unknown, code: ErrorCode, ...words: readonly string[]): void {
  let thrown: unknown;
  try {
    work();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(AceMQError);
  expect((thrown as AceMQError).code).toBe(code);
  for (const word of words) expect((thrown as AceMQError).message).toContain(word);
}
