import type { PublishFailure } from './pending.ts';

interface Waiter {
  readonly since: number;
  readonly resolve: (failure: PublishFailure | undefined) => void;
}

/** Batches that wait until there is a permit for their next message. */
export class RoomWaiters {
  #waiting: Waiter[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  /** When the one that waits longest began to. */
  get oldest(): number | undefined {
    return this.#waiting[0]?.since;
  }

  /** Resolves to undefined when released, and to the failure when its time has run out. */
  wait(now: number): Promise<PublishFailure | undefined> {
    return new Promise((resolve) => this.#waiting.push({ since: now, resolve }));
  }

  /** Lets all of them try. */
  release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { resolve } of waiting) resolve(undefined);
  }

  /** Ends the wait of those who began it at or before a time. */
  expire(before: number, failure: PublishFailure): void {
    const late = this.#waiting.filter(({ since }) => since <= before);
    this.#waiting = this.#waiting.filter(({ since }) => since > before);
    for (const { resolve } of late) resolve(failure);
  }
}
