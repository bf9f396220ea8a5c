import type { Clock, Timer } from '@acemq/core';

/** One timer that is set anew only when its time changes. It never keeps the process alive. */
export class Wake {
  readonly #clock: Clock;
  readonly #work: () => void;
  #timer: Timer | undefined;
  #at: number | undefined;

  constructor(clock: Clock, work: () => void) {
    this.#clock = clock;
    this.#work = work;
  }

  /** Sets it for a time, in milliseconds since the epoch, or with `undefined` takes it off. */
  at(time: number | undefined): void {
    if (time === this.#at) return;
    this.#timer?.cancel();
    this.#at = time;
    this.#timer =
      time === undefined
        ? undefined
        : this.#clock.after(Math.max(0, time - this.#clock.now()), () => this.#fired(), { background: true });
  }

  #fired(): void {
    this.#timer = undefined;
    this.#at = undefined;
    this.#work();
  }
}
