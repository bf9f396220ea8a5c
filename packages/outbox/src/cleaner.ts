import type { Clock } from '@acemq/core';
import type { OutboxLedger } from './store.ts';

/** How many records are removed at once: a statement that holds nobody up. */
const AT_ONCE = 1000;

/** Milliseconds between two looks whether there is something to remove. */
const EVERY = 10_000;

/** What a {@link Cleaner} is made with. */
export interface CleanerParts {
  readonly ledger: OutboxLedger;
  readonly clock: Clock;
  /** Milliseconds; `false` for ever. */
  readonly keep: number | false;
  readonly failed: (error: unknown) => void;
}

/** Removes published records that have been kept long enough, a few at a time. */
export class Cleaner {
  readonly #parts: CleanerParts;
  #due = Number.NEGATIVE_INFINITY;
  #removing: Promise<void> | undefined;

  constructor(parts: CleanerParts) {
    this.#parts = parts;
  }

  /** Removes one batch, if that is due and none is being removed. */
  run(): void {
    const { keep, clock } = this.#parts;
    if (keep === false || this.#removing !== undefined || clock.elapsed() < this.#due) return;
    this.#removing = this.#remove(keep).finally(() => {
      this.#removing = undefined;
    });
  }

  /** Resolves when nothing is being removed. */
  async close(): Promise<void> {
    this.#due = Number.POSITIVE_INFINITY;
    await this.#removing;
  }

  async #remove(keep: number): Promise<void> {
    const { ledger, clock, failed } = this.#parts;
    try {
      let removed = AT_ONCE;
      while (removed === AT_ONCE && this.#due !== Number.POSITIVE_INFINITY) {
        removed = await ledger.removePublished(keep, AT_ONCE);
      }
    } catch (error) {
      failed(error);
    }
    if (this.#due !== Number.POSITIVE_INFINITY) this.#due = clock.elapsed() + EVERY;
  }
}
