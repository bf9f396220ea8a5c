import { onTestFinished } from 'vitest';

/**
 * Everything that would have ended the process from here to the end of the test: exceptions that nobody caught, and
 * rejections that nobody awaited. Vitest reports them too; a test that asserts on this says which.
 */
export function uncaughtErrors(): readonly unknown[] {
  const errors: unknown[] = [];
  const note = (error: unknown): void => void errors.push(error);
  process.on('uncaughtException', note);
  process.on('unhandledRejection', note);
  onTestFinished(() => {
    process.off('uncaughtException', note);
    process.off('unhandledRejection', note);
  });
  return errors;
}
