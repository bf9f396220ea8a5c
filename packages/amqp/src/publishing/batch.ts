import { BatchPublishError, describeError, type Envelope } from '@acemq/core';
import type { PublishFailure } from './pending.ts';

/** What a {@link Batch} is made with. */
export interface BatchParts<T> {
  /** How many of its sends may be open at once. */
  readonly most: number;
  send(payload: T): Promise<Envelope>;
  /** The error of a payload that is not even tried. */
  refuse(failure: PublishFailure): Error;
}

/** The sends of one `sendAll`, and how each of them ended, in the order of the payloads. */
export class Batch<T> {
  readonly #parts: BatchParts<T>;
  readonly #envelopes: Envelope[] = [];
  readonly #errors: (Error | undefined)[] = [];
  #open = 0;
  #failed = false;
  #end: PublishFailure | undefined;
  #waiting: (() => void) | undefined;

  constructor(parts: BatchParts<T>) {
    this.#parts = parts;
  }

  /** Payloads that were taken so far. */
  get taken(): number {
    return this.#errors.length;
  }

  /** Whether as many sends are open as may be. */
  get isFull(): boolean {
    return this.#open >= this.#parts.most;
  }

  /** Whether no further payload is tried. */
  get isEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Tries no further payload: each would end as the one before it did, and take its time over it. */
  end(failure: PublishFailure): void {
    this.#end ??= failure;
  }

  /** Takes one payload: sends it, or refuses it when the batch has ended. */
  add(payload: T): void {
    if (this.#end !== undefined) {
      this.refuse(1);
      return;
    }
    const at = this.#errors.length;
    this.#errors.push(undefined);
    this.#open += 1;
    this.#parts.send(payload).then(
      (envelope) => {
        this.#envelopes[at] = envelope;
        this.#done();
      },
      (error: unknown) => {
        this.#errors[at] = error instanceof Error ? error : new Error(describeError(error), { cause: error });
        this.#failed = true;
        this.#done();
      },
    );
  }

  /** Counts payloads that are not tried. */
  refuse(count: number): void {
    const failure = this.#end ?? { kind: 'closed' };
    for (let refused = 0; refused < count; refused += 1) this.#errors.push(this.#parts.refuse(failure));
    if (count > 0) this.#failed = true;
  }

  /** Resolves when one of the open sends has ended, at once when there is none. */
  async turn(): Promise<void> {
    if (this.#open === 0) return;
    await new Promise<void>((resolve) => {
      this.#waiting = resolve;
    });
  }

  /** Resolves when every outcome is known. */
  async settled(): Promise<void> {
    while (this.#open > 0) await this.turn();
  }

  /** Every outcome is known: the envelopes, or a `BatchPublishError`. */
  async outcome(): Promise<Envelope[]> {
    await this.settled();
    if (this.#failed) throw new BatchPublishError(this.#errors);
    return this.#envelopes;
  }

  #done(): void {
    this.#open -= 1;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.();
  }
}
