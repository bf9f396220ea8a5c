import { type Clock, ConfigurationError, type Timer } from '@acemq/core';
import { Heap } from './heap.ts';
import { turn } from './turn.ts';

/**
 * How many turns of the event loop are let pass after each step, for what a timer set going to come to rest.
 */
const TURNS_TO_REST = 12;

/**
 * When a {@link manualClock} starts unless it is told: a round number, so that times read well in a failing
 * test.
 */
const DEFAULT_START = Date.UTC(2024, 0, 1);

/** What a {@link manualClock} may be given. */
export interface ManualClockOptions {
  /** Milliseconds since the epoch at which it starts. Default: 1 January 2024, 00:00 UTC. */
  readonly now?: number;
}

/** Time that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /** How many timers are set. */
  readonly timers: number;
  /**
   * Moves the time on by `ms` milliseconds.
   *
   * The timers due by then are called in the order of their times, each at its own time, those included that
   * are set on the way. After each time the event loop is let run a dozen turns, so that what a timer set
   * going (a dead letter, a handler, its acknowledgement) comes to rest before the next. Work that waits for
   * something other than this clock and the in-memory broker may still be running when it resolves.
   *
   * Throws `ConfigurationError` for a number that is negative or not finite.
   */
  advance(ms: number): Promise<void>;
}

interface SetTimer {
  readonly at: number;
  readonly order: number;
  work: (() => void) | undefined;
}

class TestClock implements ManualClock {
  #now: number;
  #order = 0;
  #set = 0;
  #moving: Promise<void> = Promise.resolve();
  readonly #timers = new Heap<SetTimer>((a, b) => (a.at === b.at ? a.order < b.order : a.at < b.at));

  constructor(now: number) {
    this.#now = now;
  }

  get timers(): number {
    return this.#set;
  }

  now(): number {
    return this.#now;
  }

  elapsed(): number {
    return this.#now;
  }

  after(ms: number, work: () => void): Timer {
    this.#order += 1;
    this.#set += 1;
    const timer: SetTimer = { at: this.#now + Math.max(0, ms), order: this.#order, work };
    this.#timers.push(timer);
    return {
      cancel: () => {
        if (timer.work === undefined) return;
        timer.work = undefined;
        this.#set -= 1;
      },
    };
  }

  advance(ms: number): Promise<void> {
    if (!Number.isFinite(ms) || ms < 0) {
      return Promise.reject(
        new ConfigurationError(`advance(ms): ${ms} is not a number of milliseconds of 0 or more`),
      );
    }
    // Two calls at once move the time one after the other, as two calls in a row do.
    this.#moving = this.#moving.then(() => this.#advance(ms));
    return this.#moving;
  }

  async #advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await rest();
    for (;;) {
      const next = this.#timers.peek();
      if (next === undefined || next.at > until) break;
      this.#now = Math.max(this.#now, next.at);
      this.#fireDue();
      await rest();
    }
    this.#now = until;
  }

  /** Calls what is due at this very time; what that sets for the same time waits for the next round. */
  #fireDue(): void {
    const last = this.#order;
    for (let next = this.#timers.peek(); next !== undefined; next = this.#timers.peek()) {
      if (next.at > this.#now || next.order > last) return;
      this.#timers.pop();
      const work = next.work;
      if (work === undefined) continue;
      next.work = undefined;
      this.#set -= 1;
      work();
    }
  }
}

async function rest(): Promise<void> {
  for (let count = 0; count < TURNS_TO_REST; count += 1) await turn();
}

/**
 * A clock that a test drives: give it to `memoryBroker({ clock })`, and every wait of the broker and of the
 * connections on it follows {@link ManualClock.advance}.
 */
export function manualClock(options: ManualClockOptions = {}): ManualClock {
  const now = options.now ?? DEFAULT_START;
  if (!Number.isFinite(now)) {
    throw new ConfigurationError(
      `manualClock({ now }): ${now} is not a number of milliseconds since the epoch`,
    );
  }
  return new TestClock(now);
}
