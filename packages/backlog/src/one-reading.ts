import { type Clock, renderDelay, TimeoutError, type Timer } from '@acemq/core';
import type { BacklogReading, BacklogSource } from './reading.ts';

/** Reads one source, one reading at a time, each under a deadline. */
export class OneReading {
  readonly #source: BacklogSource;
  readonly #deadline: number;
  readonly #clock: Clock;
  #running: AbortController | undefined;

  constructor(source: BacklogSource, deadline: number, clock: Clock) {
    this.#source = source;
    this.#deadline = deadline;
    this.#clock = clock;
  }

  /**
   * Rejects with `TimeoutError` (`ACEMQ_TIMEOUT`) at the deadline, and as long as a reading that missed it has not come to an
   * end: a slow server is not asked twice at the same time.
   */
  async read(): Promise<BacklogReading> {
    if (this.#running !== undefined) {
      throw new TimeoutError(`the last reading of ${this.#source.name} has still not ended`);
    }
    const controller = new AbortController();
    this.#running = controller;
    const reading = this.#read(controller.signal);
    let timer: Timer | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = this.#clock.after(
        this.#deadline,
        () => {
          const error = new TimeoutError(
            `${this.#source.name} was not read within ${renderDelay(this.#deadline)}`,
          );
          reject(error);
          controller.abort(error);
        },
        { background: true },
      );
    });
    try {
      return await Promise.race([reading, late]);
    } finally {
      timer?.cancel();
    }
  }

  /** Ends a reading that runs. */
  end(reason: unknown): void {
    this.#running?.abort(reason);
  }

  async #read(signal: AbortSignal): Promise<BacklogReading> {
    try {
      return await this.#source.read(signal);
    } finally {
      this.#running = undefined;
    }
  }
}
