import type { KindReading } from './reading.ts';
import { compareIds, timeOf } from './stream-id.ts';

/** The kind of an entry that says none, or is no longer there to be asked. */
export const UNKNOWN_KIND = 'unknown';

interface Tally {
  count: number;
  held: number;
  oldest: string;
}

/** Counts entries by kind and keeps the oldest id of each. */
export class KindTally {
  readonly #byKind: Map<string, Tally> = new Map();

  add(kind: string, count: number, oldest: string, held: boolean): void {
    const tally = this.#byKind.get(kind);
    if (tally === undefined) {
      this.#byKind.set(kind, { count, held: held ? count : 0, oldest });
      return;
    }
    tally.count += count;
    if (held) tally.held += count;
    if (compareIds(oldest, tally.oldest) < 0) tally.oldest = oldest;
  }

  /** An id from the future is of age 0. */
  readings(now: number): KindReading[] {
    return [...this.#byKind].map(([kind, { count, held, oldest }]) => ({
      kind,
      depth: count,
      oldestAge: Math.max(0, now - timeOf(oldest)) / 1000,
      held,
    }));
  }
}
