import type { Clock, Timer } from '@acemq/core';
import { type BackOff, waitAfter } from './back-off.ts';
import type { Outgoing } from './outgoing.ts';
import type { OutboxLedger, OwedRecord, Refusal, Rest } from './store.ts';

/** The largest number of records that one statement marks. */
const LARGEST_MARK = 1000;

/** What an {@link OutcomeWriter} is made with. */
export interface OutcomeWriterParts {
  readonly ledger: OutboxLedger;
  readonly relay: string;
  readonly clock: Clock;
  readonly backOff: BackOff;
  /** These have been written down: whoever reads them from now on reads what became of them. */
  readonly written: (seqs: readonly number[]) => void;
  /** How many of those that were asked for have been marked. */
  readonly marked: (count: number) => void;
  readonly failed: (error: unknown) => void;
  /** Nothing is left to be written. */
  readonly idle: () => void;
}

interface Refused {
  readonly destination: Outgoing;
  readonly refusal: Refusal;
  readonly rest: number | undefined;
}

/**
 * Writes down what became of records, many at once: what comes while one batch is written goes with the next. What cannot
 * be written is kept and tried again, since forgetting that the broker has a record means to send it twice.
 */
export class OutcomeWriter {
  readonly #parts: OutcomeWriterParts;
  #published: OwedRecord[] = [];
  #refused: Refused[] = [];
  readonly #recovered = new Set<Outgoing>();
  #writing: Promise<void> | undefined;
  #failures = 0;
  #retry: Timer | undefined;

  constructor(parts: OutcomeWriterParts) {
    this.#parts = parts;
  }

  get isIdle(): boolean {
    return this.#writing === undefined && this.#isEmpty;
  }

  get #isEmpty(): boolean {
    return this.#published.length === 0 && this.#refused.length === 0 && this.#recovered.size === 0;
  }

  published(record: OwedRecord): void {
    this.#published.push(record);
    this.#start();
  }

  /** `rest` is how long its destination rests, where this refusal begins one. */
  refused(destination: Outgoing, refusal: Refusal, rest: number | undefined): void {
    destination.unwritten += 1;
    this.#recovered.delete(destination);
    this.#refused.push({ destination, refusal, rest });
    this.#start();
  }

  recovered(destination: Outgoing): void {
    this.#recovered.add(destination);
    this.#start();
  }

  /** Resolves when everything that has come by now is written, or cannot be written for the moment. */
  async flush(): Promise<void> {
    this.#retry?.cancel();
    this.#retry = undefined;
    this.#start();
    await this.#writing;
  }

  /** Tries no more. */
  stop(): void {
    this.#retry?.cancel();
    this.#retry = undefined;
  }

  #start(): void {
    if (this.#writing !== undefined || this.#retry !== undefined || this.#isEmpty) return;
    // After a turn, in which the rest of what the broker has just answered comes in.
    this.#writing = Promise.resolve().then(() => this.#write());
  }

  async #write(): Promise<void> {
    try {
      while (!this.#isEmpty) await this.#writeOnce();
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      const { clock, backOff, failed } = this.#parts;
      this.#retry = clock.after(waitAfter(this.#failures, backOff), () => {
        this.#retry = undefined;
        this.#start();
      });
      failed(error);
    } finally {
      this.#writing = undefined;
    }
    if (this.isIdle) this.#parts.idle();
  }

  async #writeOnce(): Promise<void> {
    const { ledger, relay, written, marked } = this.#parts;
    const taken = this.#published.slice(0, LARGEST_MARK);
    if (taken.length > 0) {
      const seqs = taken.map(({ seq }) => seq);
      const count = await ledger.published(relay, seqs);
      this.#published.splice(0, taken.length);
      written(seqs);
      marked(count);
    }
    const refused = [...this.#refused];
    if (refused.length > 0) {
      const rests = refused.flatMap(({ destination, rest }) =>
        rest === undefined ? [] : [restOf(destination, rest)],
      );
      await ledger.refused(
        relay,
        refused.map(({ refusal }) => refusal),
        rests,
      );
      this.#refused.splice(0, refused.length);
      for (const { destination } of refused) destination.unwritten -= 1;
      written(refused.map(({ refusal }) => refusal.seq));
    }
    const recovered = [...this.#recovered];
    if (recovered.length > 0) {
      await ledger.recovered(recovered);
      for (const destination of recovered) this.#recovered.delete(destination);
    }
  }
}

function restOf({ exchange, routingKey, refusals }: Outgoing, remaining: number): Rest {
  return { exchange, routingKey, remaining, refusals };
}
