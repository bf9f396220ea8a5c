import type { PublishListener } from '@acemq/core';

/** A message that is written and not yet judged. */
export interface Pending {
  readonly exchange: string;
  readonly routingKey: string;
  readonly messageId: string;
  readonly mandatory: boolean;
  readonly listener: PublishListener;
  /** The broker's words when it returned the message; it is confirmed after that all the same. */
  returned: string | undefined;
}

/** How far the front of the list may be empty before it is cut off. */
const SLACK = 1024;

/**
 * What is outstanding on one confirm channel, by delivery tag. The broker numbers the publishes of a channel
 * from 1 in the order in which they were written, and may judge them one by one, in any order, or all up to
 * one.
 */
export class ConfirmWindow {
  #entries: (Pending | undefined)[] = [];
  /** Where the oldest outstanding one is in the list. */
  #front = 0;
  /** The delivery tag of the oldest outstanding one. */
  #tag = 1;

  /** Adds the message that was written last. */
  push(pending: Pending): void {
    this.#entries.push(pending);
  }

  /** Takes out what the broker judged. A tag that is not outstanding is nobody's. */
  settle(tag: number, multiple: boolean, judge: (pending: Pending) => void): void {
    if (multiple) {
      // 0 means every one (AMQP 0-9-1, basic.ack).
      const count = tag === 0 ? this.#entries.length - this.#front : tag - this.#tag + 1;
      const last = Math.min(this.#front + count, this.#entries.length);
      for (let index = this.#front; index < last; index += 1) this.#take(index, judge);
    } else if (tag >= this.#tag) {
      this.#take(this.#front + tag - this.#tag, judge);
    }
    this.#advance();
  }

  /** The oldest message that a return can be about. */
  find(exchange: string, routingKey: string, messageId: string): Pending | undefined {
    for (let index = this.#front; index < this.#entries.length; index += 1) {
      const pending = this.#entries[index];
      if (
        pending?.messageId === messageId &&
        pending.routingKey === routingKey &&
        pending.exchange === exchange &&
        pending.mandatory &&
        pending.returned === undefined
      ) {
        return pending;
      }
    }
    return undefined;
  }

  /** Takes out everything. */
  drain(take: (pending: Pending) => void): void {
    const entries = this.#entries;
    this.#entries = [];
    this.#front = 0;
    for (const pending of entries) if (pending !== undefined) take(pending);
  }

  #take(index: number, judge: (pending: Pending) => void): void {
    const pending = this.#entries[index];
    if (pending === undefined) return;
    this.#entries[index] = undefined;
    judge(pending);
  }

  #advance(): void {
    while (this.#front < this.#entries.length && this.#entries[this.#front] === undefined) {
      this.#front += 1;
      this.#tag += 1;
    }
    if (this.#front === this.#entries.length) {
      this.#entries.length = 0;
      this.#front = 0;
    } else if (this.#front > SLACK) {
      this.#entries.splice(0, this.#front);
      this.#front = 0;
    }
  }
}
