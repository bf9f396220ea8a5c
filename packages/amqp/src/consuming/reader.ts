import type { Delivery, Subscription } from '@acemq/core';

/**
 * One subscription of a consumer, from the question to its end. A consumer has another after each lost link
 * or cancellation; what was delivered by an earlier one has gone back to the broker and must not be settled
 * any more.
 */
export class Reader {
  /** False once the broker has taken back what this subscription delivered. */
  alive = true;
  subscription: Subscription | undefined = undefined;
}

/** What has been delivered and not started: first in, first out, without moving the rest at each step. */
export class DeliveryBuffer {
  #items: (Delivery | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(delivery: Delivery): void {
    this.#items.push(delivery);
  }

  shift(): Delivery | undefined {
    if (this.#head >= this.#items.length) return undefined;
    const delivery = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head === this.#items.length) {
      this.#items.length = 0;
      this.#head = 0;
    } else if (this.#head > 1_024 && this.#head * 2 > this.#items.length) {
      this.#items.splice(0, this.#head);
      this.#head = 0;
    }
    return delivery;
  }

  clear(): void {
    this.#items = [];
    this.#head = 0;
  }
}
