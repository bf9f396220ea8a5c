import { BatchPublishError, type Envelope } from '@acemq/core';
import type { PublishFailure } from './pending.ts';

/** The sends of one `sendAll`, and how each of them ended, in the order of the payloads. */
export class Batch<T> {
  readonly #send: (payload: T) => Promise<Envelope>;
  readonly #skip: (failure: PublishFailure) => Error;
  readonly #envelopes: Envelope[] = [];
  readonly #errors: (Error | undefined)[] = [];
  #open = 0;
  #failed = false;
  #stalled: PublishFailure | undefined;
  #finished: (() => void) | undefined;

  /** `skip` makes the error of a payload that is not even tried, since the one before it waited in vain. */
  constructor(send: (payload: T) => Promise<Envelope>, skip: (failure: PublishFailure) => Error) {
    this.#send = send;
    this.#skip = skip;
  }

  /**
   * Nobody got a permit for the whole time-out: waiting for the same again with each of the rest would take
   * ages.
   */
  stall(failure: PublishFailure): void {
    this.#stalled = failure;
  }

  get stalled(): boolean {
    return this.#stalled !== undefined;
  }

  add(payload: T): void {
    const at = this.#errors.length;
    this.#errors.push(undefined);
    if (this.#stalled !== undefined) {
      this.#failed = true;
      this.#errors[at] = this.#skip(this.#stalled);
      return;
    }
    this.#open += 1;
    this.#send(payload).then(
      (envelope) => {
        this.#envelopes[at] = envelope;
        this.#done();
      },
      (error: Error) => {
        this.#errors[at] = error;
        this.#failed = true;
        this.#done();
      },
    );
  }

  /** Resolves when every outcome is known. */
  async settled(): Promise<void> {
    if (this.#open === 0) return;
    await new Promise<void>((resolve) => {
      this.#finished = resolve;
    });
  }

  /** Every outcome is known: the envelopes, or a `BatchPublishError`. */
  async outcome(): Promise<Envelope[]> {
    await this.settled();
    if (this.#failed) throw new BatchPublishError(this.#errors);
    return this.#envelopes;
  }

  #done(): void {
    this.#open -= 1;
    if (this.#open === 0) this.#finished?.();
  }
}
