import type { Clock, Logger, Timer } from '@acemq/core';

/** How many rows go at once: few enough to hold no lock for long. */
export const CLEANING_BATCH = 1000;

/** Removes in the background what is no longer kept, from time to time, one pass after the other. */
export class Cleaning {
  readonly #remove: () => Promise<number>;
  readonly #every: number | false;
  readonly #clock: Clock;
  readonly #logger: Pick<Logger, 'warn'>;
  #timer: Timer | undefined;
  #pass: Promise<void> = Promise.resolve();
  #closing = false;
  #failing = false;

  /** @param remove - Removes up to {@link CLEANING_BATCH} rows, and says how many it has. */
  constructor(
    remove: () => Promise<number>,
    every: number | false,
    clock: Clock,
    logger: Pick<Logger, 'warn'>,
  ) {
    this.#remove = remove;
    this.#every = every;
    this.#clock = clock;
    this.#logger = logger;
    this.#schedule();
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#timer?.cancel();
    await this.#pass;
  }

  #schedule(): void {
    if (this.#every === false) return;
    // Processes that were started together do not clean together.
    const wait = this.#every * (0.75 + Math.random() / 4);
    this.#timer = this.#clock.after(wait, this.#run, { background: true });
  }

  readonly #run = (): void => {
    this.#pass = this.#removeAll().then(() => {
      if (!this.#closing) this.#schedule();
    });
  };

  async #removeAll(): Promise<void> {
    try {
      while (!this.#closing && (await this.#remove()) >= CLEANING_BATCH);
      this.#failing = false;
    } catch (error) {
      // The next pass tries again; one line an outage is enough.
      if (!this.#failing) this.#logger.warn('the inbox could not be cleaned', { error });
      this.#failing = true;
    }
  }
}
