import type { Clock, Timer } from '@acemq/core';

/** Something that ends by itself at a time of its own, and the node of the list that it waits in. */
export abstract class Expiring {
  /** When it ends, as the clock's elapsed time. */
  due = 0;
  line: DeadlineLine | undefined = undefined;
  previous: Expiring | undefined = undefined;
  next: Expiring | undefined = undefined;

  /** It is due, and in no list any more. */
  abstract expired(): void;
}

/** What waits equally long ends in the order in which it began to: one timer, set for the oldest, serves them all. */
export class DeadlineLine {
  readonly ms: number;
  head: Expiring | undefined = undefined;
  tail: Expiring | undefined = undefined;
  timer: Timer | undefined = undefined;

  constructor(ms: number) {
    this.ms = ms;
  }

  add(one: Expiring): void {
    one.line = this;
    one.previous = this.tail;
    one.next = undefined;
    if (this.tail === undefined) this.head = one;
    else this.tail.next = one;
    this.tail = one;
  }

  remove(one: Expiring): void {
    const { previous, next } = one;
    if (previous === undefined) this.head = next;
    else previous.next = next;
    if (next === undefined) this.tail = previous;
    else next.previous = previous;
    one.line = undefined;
    one.previous = undefined;
    one.next = undefined;
  }
}

/** Ends what is due: one timer for each length of wait that is in use. */
export class Deadlines {
  readonly #clock: Clock;
  /** The wait of nearly all: its timer is left set when nobody waits, instead of one being set for each. */
  readonly #usual: number;
  readonly #lines = new Map<number, DeadlineLine>();

  constructor(clock: Clock, usual: number) {
    this.#clock = clock;
    this.#usual = usual;
  }

  /** `one` ends `ms` milliseconds from `now`, the clock's elapsed time. */
  add(one: Expiring, ms: number, now: number): void {
    let line = this.#lines.get(ms);
    if (line === undefined) {
      line = new DeadlineLine(ms);
      this.#lines.set(ms, line);
    }
    one.due = now + ms;
    line.add(one);
    if (line.timer === undefined) this.#watch(line, ms);
  }

  /** It has ended otherwise. */
  remove(one: Expiring): void {
    const { line } = one;
    if (line === undefined) return;
    line.remove(one);
    if (line.head === undefined && line.ms !== this.#usual) this.#close(line);
  }

  /** Sets no timer any more, and ends nothing. */
  stop(): void {
    for (const line of this.#lines.values()) line.timer?.cancel();
    this.#lines.clear();
  }

  #close(line: DeadlineLine): void {
    line.timer?.cancel();
    if (this.#lines.get(line.ms) === line) this.#lines.delete(line.ms);
  }

  #watch(line: DeadlineLine, ms: number): void {
    // One turn of the event loop past its time: where something kept the loop busy, what came meanwhile is read first.
    line.timer = this.#clock.after(ms, () => {
      line.timer = this.#clock.after(0, () => this.#expire(line));
    });
  }

  #expire(line: DeadlineLine): void {
    line.timer = undefined;
    const now = this.#clock.elapsed();
    let one = line.head;
    while (one !== undefined && one.due <= now) {
      line.remove(one);
      one.expired();
      one = line.head;
    }
    if (one === undefined) this.#close(line);
    else if (line.timer === undefined) this.#watch(line, Math.max(1, one.due - now));
  }
}
