import type { Clock, QueueSpec } from '@acemq/core';
import type { DeathReason } from './dead-letter.ts';
import { Fifo } from './fifo.ts';
import { LengthLimit } from './length-limit.ts';
import type { HeldMessage } from './message.ts';
import type { QueueSettings } from './queue-arguments.ts';
import { ClassicReady, type Entry, QuorumReady, type Ready, type ReturnedBy } from './ready.ts';
import { Wake } from './wake.ts';

/** Who takes messages from a queue. */
export interface QueueConsumer {
  readonly tag: string;
  readonly exclusive: boolean;
  /** Whether it may have another message now. */
  readonly room: boolean;
  /** Whether it stands in the queue's line; kept by the queue. */
  waiting: boolean;
  deliver(entry: Entry): void;
  /** The queue is gone, or somebody cancelled it. */
  cancelled(): void;
}

/** What a queue needs from the broker that it is in. */
export interface QueueHost {
  readonly clock: Clock;
  /** Whether nothing may move. */
  readonly frozen: boolean;
  deadLetter(queue: MemoryQueue, message: HeldMessage, reason: DeathReason): void;
  removeQueue(queue: MemoryQueue): void;
}

/**
 * A queue: what waits in it, who takes from it, and what becomes of a message that stays too long or is one
 * too many.
 */
export class MemoryQueue {
  readonly name: string;
  readonly spec: QueueSpec;
  readonly settings: QueueSettings;
  /** The link that it belongs to, when it is exclusive. */
  readonly owner: object | undefined;
  readonly consumers: Set<QueueConsumer> = new Set();
  readonly #host: QueueHost;
  readonly #ready: Ready;
  readonly #limit: LengthLimit;
  /** Consumers with room, who had nothing for the longest time first. */
  readonly #line = new Fifo<QueueConsumer>();
  readonly #expiry: Wake;
  readonly #unused: Wake;
  #order = 0;
  #unsettled = 0;
  #usedAt: number;
  #moving = false;
  #deleted = false;

  constructor(
    name: string,
    spec: QueueSpec,
    settings: QueueSettings,
    owner: object | undefined,
    host: QueueHost,
  ) {
    this.name = name;
    this.spec = spec;
    this.settings = settings;
    this.owner = owner;
    this.#host = host;
    this.#ready =
      settings.type === 'classic'
        ? new ClassicReady()
        : new QuorumReady(settings.deliveryLimit !== undefined);
    this.#limit = new LengthLimit(settings, this.#ready);
    this.#usedAt = host.clock.now();
    this.#expiry = new Wake(host.clock, () => this.#expire());
    this.#unused = new Wake(host.clock, () => this.touch(false));
    this.touch();
  }

  /** Messages that wait for delivery. */
  get depth(): number {
    return this.#ready.size;
  }

  /** Messages that were delivered and are not settled. */
  get unsettled(): number {
    return this.#unsettled;
  }

  get deleted(): boolean {
    return this.#deleted;
  }

  /** What waits for delivery, in the order in which it goes. */
  entries(): readonly Entry[] {
    return this.#ready.toArray();
  }

  /** Takes a message in. False when the queue is full and refuses it. */
  enqueue(message: HeldMessage): boolean {
    if (this.#limit.refuses(message.body.length)) {
      if (this.settings.overflow === 'reject-publish-dlx') this.#host.deadLetter(this, message, 'maxlen');
      return false;
    }
    this.#order += 1;
    const entry: Entry = { message, order: this.#order, expiresAt: this.#expiresAt(message), returns: 0 };
    const consumer =
      this.#ready.size === 0 && !this.#moving && !this.#host.frozen ? this.#nextConsumer() : undefined;
    // A message that is delivered at once does not expire, not even with a time to live of 0.
    if (consumer !== undefined) {
      this.#hand(consumer, entry);
      if (this.#ready.size > 0) this.move();
      return true;
    }
    this.#ready.append(entry);
    this.#trim();
    this.move();
    return true;
  }

  /** Takes one message for a pull. */
  take(): Entry | undefined {
    this.touch();
    this.#dropExpired();
    const entry = this.#ready.take();
    if (entry !== undefined) this.#unsettled += 1;
    this.#limit.taken();
    this.#arm();
    return entry;
  }

  /** A delivered message is done with. */
  settled(): void {
    this.#unsettled -= 1;
  }

  /** A delivered message was given up for good. */
  rejected(entry: Entry): void {
    this.#unsettled -= 1;
    if (!this.#deleted) this.#host.deadLetter(this, entry.message, 'rejected');
  }

  /** A delivered message comes back. */
  giveBack(entry: Entry, by: ReturnedBy): void {
    this.#unsettled -= 1;
    if (this.#deleted) return;
    entry.returns += 1;
    const limit = this.settings.deliveryLimit;
    if (limit !== undefined && entry.returns > limit) {
      this.#host.deadLetter(this, entry.message, 'delivery_limit');
      return;
    }
    this.#ready.giveBack(entry, by);
    this.#trim();
  }

  addConsumer(consumer: QueueConsumer): void {
    this.consumers.add(consumer);
    this.touch();
    this.offer(consumer);
  }

  removeConsumer(consumer: QueueConsumer): void {
    if (!this.consumers.delete(consumer)) return;
    this.touch();
    if (this.spec.autoDelete && this.consumers.size === 0) this.#host.removeQueue(this);
  }

  /** A consumer has room again. */
  offer(consumer: QueueConsumer): void {
    if (!consumer.waiting && consumer.room && this.consumers.has(consumer)) {
      consumer.waiting = true;
      this.#line.push(consumer);
    }
    this.move();
  }

  /** Delivers what can be delivered. */
  move(): void {
    if (this.#moving || this.#deleted) return;
    this.#moving = true;
    try {
      this.#limit.taken();
      while (!this.#host.frozen && this.#ready.size > 0) {
        this.#dropExpired();
        if (this.#ready.size === 0) break;
        const consumer = this.#nextConsumer();
        if (consumer === undefined) break;
        this.#hand(consumer, this.#ready.take() as Entry);
      }
    } finally {
      this.#moving = false;
    }
    this.#limit.taken();
    this.#arm();
  }

  /**
   * Says that the queue is in use, or, without `used`, deletes it when it has not been for its `x-expires`.
   */
  touch(used = true): void {
    const { expires } = this.settings;
    if (expires === undefined || this.#deleted) return;
    const now = this.#host.clock.now();
    if (used || this.consumers.size > 0) this.#usedAt = now;
    if (this.consumers.size > 0) this.#unused.at(undefined);
    else if (now - this.#usedAt >= expires) this.#host.removeQueue(this);
    else this.#unused.at(this.#usedAt + expires);
  }

  /** Ends it: every consumer is cancelled, and what it held is gone. Returns how many waited. */
  delete(): number {
    this.#deleted = true;
    this.#expiry.at(undefined);
    this.#unused.at(undefined);
    this.cancelConsumers();
    return this.#ready.size;
  }

  /** Ends every subscription, as the broker may. Returns how many there were. */
  cancelConsumers(): number {
    const cancelled = [...this.consumers];
    this.consumers.clear();
    for (const consumer of cancelled) consumer.cancelled();
    this.touch();
    return cancelled.length;
  }

  /** Loses what a restart of the broker loses. */
  restarted(): void {
    if (this.settings.type === 'quorum') return;
    const kept: Entry[] = [];
    for (let entry = this.#ready.take(); entry !== undefined; entry = this.#ready.take()) {
      if (entry.message.persistent) kept.push(entry);
    }
    for (const entry of kept) this.#ready.append(entry);
    this.#arm();
  }

  #nextConsumer(): QueueConsumer | undefined {
    for (let next = this.#line.shift(); next !== undefined; next = this.#line.shift()) {
      next.waiting = false;
      if (next.room && this.consumers.has(next)) return next;
    }
    return undefined;
  }

  #hand(consumer: QueueConsumer, entry: Entry): void {
    this.#unsettled += 1;
    const moving = this.#moving;
    this.#moving = true;
    consumer.deliver(entry);
    this.#moving = moving;
    if (consumer.room && !consumer.waiting) {
      consumer.waiting = true;
      this.#line.push(consumer);
    }
  }

  #expiresAt(message: HeldMessage): number | undefined {
    const own = message.expiration === undefined ? undefined : Number(message.expiration);
    const { messageTtl } = this.settings;
    if (own === undefined && messageTtl === undefined) return undefined;
    return (
      this.#host.clock.now() +
      Math.min(own ?? Number.POSITIVE_INFINITY, messageTtl ?? Number.POSITIVE_INFINITY)
    );
  }

  /** Only the head is looked at, so that a short time to live can wait behind a long one. */
  #dropExpired(): void {
    const now = this.#host.clock.now();
    for (
      let head = this.#ready.peek();
      head?.expiresAt !== undefined && head.expiresAt <= now;
      head = this.#ready.peek()
    ) {
      this.#ready.take();
      this.#host.deadLetter(this, head.message, 'expired');
    }
  }

  #expire(): void {
    if (!this.#host.frozen) this.#dropExpired();
    this.move();
  }

  #arm(): void {
    this.#expiry.at(this.#host.frozen || this.#deleted ? undefined : this.#ready.peek()?.expiresAt);
  }

  #trim(): void {
    while (this.#limit.added()) {
      const head = this.#ready.take();
      if (head === undefined) return;
      this.#host.deadLetter(this, head.message, 'maxlen');
    }
  }
}
