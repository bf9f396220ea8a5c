import type { Clock } from '@acemq/core';

/** Waits, and no longer than until the signal is aborted. Resolves to false where it was. */
export function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  if (signal?.aborted === true) return Promise.resolve(false);
  return new Promise((resolve) => {
    const end = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', end);
      resolve(signal?.aborted !== true);
    };
    const timer = clock.after(ms, end);
    signal?.addEventListener('abort', end);
  });
}
