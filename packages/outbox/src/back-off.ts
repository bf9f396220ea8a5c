/** A wait that doubles from the first to the longest. */
export interface BackOff {
  /** Milliseconds. */
  readonly first: number;
  /** Milliseconds. */
  readonly longest: number;
}

/** Milliseconds of the wait after this many failures in a row, from 1. */
export function waitAfter(failures: number, { first, longest }: BackOff): number {
  return Math.min(longest, first * 2 ** Math.min(Math.max(0, failures - 1), 40));
}
