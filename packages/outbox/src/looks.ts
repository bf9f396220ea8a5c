import type { Clock, Timer } from '@acemq/core';

/**
 * Milliseconds after a record was added at which the relay of this process looks: when its transaction commits is not
 * known here, and most commit soon.
 */
const AFTER_ADD: readonly number[] = [5, 20, 80, 320];

/** Looks a few times after something was added. One timer, however much is added. */
export class Looks {
  readonly #clock: Clock;
  readonly #look: () => void;
  #timer: Timer | undefined;
  #last = 0;
  #step = 0;

  constructor(clock: Clock, look: () => void) {
    this.#clock = clock;
    this.#look = look;
  }

  added(): void {
    this.#last = this.#clock.elapsed();
    this.#step = 0;
    if (this.#timer === undefined) this.#set();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#step = AFTER_ADD.length;
  }

  #set(): void {
    const after = AFTER_ADD[this.#step];
    if (after === undefined) return;
    const wait = Math.max(1, this.#last + after - this.#clock.elapsed());
    this.#timer = this.#clock.after(
      wait,
      () => {
        this.#timer = undefined;
        this.#step += 1;
        this.#look();
        this.#set();
      },
      { background: true },
    );
  }
}
