import type { Outbound, PublishListener, PublishVerdict } from '@acemq/core';

/** Where a pending publish stands. `waiting` and `opening` mean that nothing of it has been written. */
export type PendingStage = 'waiting' | 'opening' | 'written' | 'done';

/** Why there was no verdict. */
export type PublishFailure =
  /** The broker blocks the connection; nothing was written. */
  | { readonly kind: 'paused'; readonly reason: string }
  /** No permit, or no link, for the whole time-out; nothing was written. */
  | { readonly kind: 'stalled'; readonly reason: string }
  /** The connection was closed first; nothing was written. */
  | { readonly kind: 'closed' }
  /** The caller's signal; `written` says whether the message was on its way already. */
  | { readonly kind: 'aborted'; readonly written: boolean; readonly cause: unknown }
  /** Written, and no confirm within the time-out. */
  | { readonly kind: 'timeout'; readonly reason: string }
  /**
   * Written, and the link or the channel went first. `others` counts what else was outstanding on the
   * channel.
   */
  | { readonly kind: 'cut'; readonly error: Error; readonly others: number }
  /** It could not be written at all: its headers cannot be encoded. */
  | { readonly kind: 'unwritable'; readonly error: Error };

/** What a written message hands the transport's word on to: the channel it was written on. */
export interface PendingRoute {
  answered(pending: Pending, verdict: PublishVerdict, reason: string): void;
  cut(pending: Pending, error: Error): void;
}

/**
 * One message between `publish` and its outcome.
 *
 * It is the node of its {@link PendingList}, the transport's listener and the holder of its outcome in one,
 * since there is one for every message: whoever publishes derives a class of its own. Exactly one of `judged`
 * and `failed` is called, once. A verdict is the broker's word about this very message; a failure says
 * nothing about the message, only that no verdict came.
 */
export abstract class Pending implements PublishListener {
  readonly exchange: string;
  readonly routingKey: string;
  readonly message: Outbound;
  /** A copy the library makes: it has a channel of its own and takes no permit. */
  readonly copy: boolean;
  stage: PendingStage = 'waiting';
  /** When the stage began, as the clock's elapsed time. */
  since = 0;
  previous: Pending | undefined = undefined;
  next: Pending | undefined = undefined;
  route: PendingRoute | undefined = undefined;

  constructor(exchange: string, routingKey: string, message: Outbound, copy: boolean) {
    this.exchange = exchange;
    this.routingKey = routingKey;
    this.message = message;
    this.copy = copy;
  }

  abstract judged(verdict: PublishVerdict, reason: string): void;
  abstract failed(failure: PublishFailure): void;

  /** Written into an alarm, and no confirm within the time-out: it goes on waiting, since it is a copy. */
  delayed(_reason: string): void {}

  answered(verdict: PublishVerdict, reason: string): void {
    this.route?.answered(this, verdict, reason);
  }

  cut(error: Error): void {
    this.route?.cut(this, error);
  }
}

/**
 * A first-in-first-out list from whose middle an entry can leave at once. An entry is in one list at a time.
 */
export class PendingList {
  #head: Pending | undefined;
  #tail: Pending | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get head(): Pending | undefined {
    return this.#head;
  }

  add(pending: Pending): void {
    const tail = this.#tail;
    pending.previous = tail;
    pending.next = undefined;
    if (tail === undefined) this.#head = pending;
    else tail.next = pending;
    this.#tail = pending;
    this.#size += 1;
  }

  /** Puts an entry before all others: it was here before they came. */
  addFirst(pending: Pending): void {
    const head = this.#head;
    pending.previous = undefined;
    pending.next = head;
    if (head === undefined) this.#tail = pending;
    else head.previous = pending;
    this.#head = pending;
    this.#size += 1;
  }

  remove(pending: Pending): void {
    const { previous, next } = pending;
    if (previous === undefined) this.#head = next;
    else previous.next = next;
    if (next === undefined) this.#tail = previous;
    else next.previous = previous;
    pending.previous = undefined;
    pending.next = undefined;
    this.#size -= 1;
  }

  shift(): Pending | undefined {
    const head = this.#head;
    if (head !== undefined) this.remove(head);
    return head;
  }
}
