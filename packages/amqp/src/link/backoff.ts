/** How the waits between attempts grow: `initial` milliseconds, doubling to `max`. */
export interface Backoff {
  readonly initial: number;
  readonly max: number;
}

/** The longest wait before attempt number `attempt` (from 1), in milliseconds, before jitter. */
export function backoffCeiling(backoff: Backoff, attempt: number): number {
  // 2 ** 31 times the smallest wait is past any ceiling; the cap keeps the power finite on an endless outage.
  return Math.min(backoff.initial * 2 ** Math.min(attempt - 1, 31), backoff.max);
}

/**
 * The wait before attempt number `attempt`, with full jitter: anywhere from nothing to the ceiling. A broker
 * that comes back meets its clients one by one and not all in the same instant.
 */
export function backoffWait(backoff: Backoff, attempt: number, random: () => number): number {
  return Math.round(backoffCeiling(backoff, attempt) * random());
}
