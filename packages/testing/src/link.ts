import {
  ConnectionClosedError,
  ConnectionLostError,
  type ConsumeEvents,
  type ConsumeSpec,
  checkShortText,
  type Delivery,
  type ExchangeSpec,
  type Link,
  type LinkEvents,
  type PublishChannel,
  type PublishChannelEvents,
  type QueueReader,
  type QueueSpec,
  type QueueState,
  type Subscription,
} from '@acemq/core';
import type { Broker } from './broker.ts';
import { checkSpec } from './consume-arguments.ts';
import { MemoryPublishChannel, type PendingPublish } from './publish-channel.ts';
import { MemoryReader } from './reader.ts';
import { MemorySubscription } from './subscription.ts';
import { soon } from './turn.ts';
import { checkArguments } from './wire-table.ts';

const EXCHANGE_NAME = 'the name of the exchange';
const QUEUE_NAME = 'the name of the queue';

/** Something that was written to a link and that the broker has not read yet. */
export interface Inbound {
  /** Whether it is a publish: the thing that makes a broker with an alarm stop reading. */
  readonly publishes: boolean;
  /** The broker reads it. */
  read(): void;
  /** The link went before that. */
  lost(error: Error): void;
}

/** A question, or an order that is answered. */
class Question<T> implements Inbound {
  readonly publishes = false;
  readonly #work: () => T;
  readonly #resolve: (value: T) => void;
  readonly #reject: (error: unknown) => void;

  constructor(work: () => T, resolve: (value: T) => void, reject: (error: unknown) => void) {
    this.#work = work;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  read(): void {
    try {
      this.#resolve(this.#work());
    } catch (error) {
      this.#reject(error);
    }
  }

  lost(error: Error): void {
    this.#reject(error);
  }
}

/**
 * One connection to the in-memory broker.
 *
 * What is written to it is read by the broker in a later turn of the event loop, in the order in which it was
 * written: nothing is ever answered from within the call that asked.
 */
export class MemoryLink implements Link {
  readonly name: string;
  readonly broker: Broker;
  readonly publishChannels: Set<MemoryPublishChannel> = new Set();
  readonly subscriptions: Set<MemorySubscription> = new Set();
  readonly #events: LinkEvents;
  /** Those that others opened, and one for each queue that was pulled from. */
  readonly readers: Set<MemoryReader> = new Set();
  readonly #pulls = new Map<string, MemoryReader>();
  #open = true;
  #closed = false;
  #blocked = false;
  #scheduled = false;
  #inbox: Inbound[] = [];
  /** What is being read in this turn, and how far. */
  #batch: Inbound[] = [];
  #at = 0;
  #answers: PendingPublish[] = [];

  constructor(broker: Broker, name: string, events: LinkEvents) {
    this.broker = broker;
    this.name = name;
    this.#events = events;
  }

  get open(): boolean {
    return this.#open && !this.#closed;
  }

  /** Whether the broker has stopped reading it because of an alarm. */
  get blocked(): boolean {
    return this.#blocked;
  }

  /** How much was written and not read. */
  get unread(): number {
    return this.#inbox.length;
  }

  async declareExchange(name: string, spec: ExchangeSpec): Promise<void> {
    checkShortText(EXCHANGE_NAME, name);
    checkShortText('the type of the exchange', spec.type);
    checkArguments(`declare exchange "${name}"`, spec.arguments);
    return this.ask(() => this.broker.declareExchange(this, name, spec));
  }

  async declareQueue(name: string, spec: QueueSpec): Promise<void> {
    checkShortText(QUEUE_NAME, name);
    checkArguments(`declare queue "${name}"`, spec.arguments);
    return this.ask(() => this.broker.declareQueue(this, name, spec));
  }

  async bind(queue: string, exchange: string, routingKey: string): Promise<void> {
    checkShortText(QUEUE_NAME, queue);
    checkShortText(EXCHANGE_NAME, exchange);
    checkShortText('the routing key', routingKey);
    return this.ask(() => this.broker.bind(this, queue, exchange, routingKey));
  }

  async checkQueue(name: string): Promise<QueueState | undefined> {
    checkShortText(QUEUE_NAME, name);
    return this.ask(() => this.broker.checkQueue(this, name));
  }

  async checkExchange(name: string): Promise<boolean> {
    checkShortText(EXCHANGE_NAME, name);
    return this.ask(() => this.broker.checkExchange(name));
  }

  async deleteQueue(name: string): Promise<number> {
    checkShortText(QUEUE_NAME, name);
    return this.ask(() => this.broker.deleteQueue(this, name));
  }

  async deleteExchange(name: string): Promise<void> {
    checkShortText(EXCHANGE_NAME, name);
    return this.ask(() => this.broker.deleteExchange(this, name));
  }

  async pull(name: string): Promise<Delivery | undefined> {
    checkShortText(QUEUE_NAME, name);
    let reader = this.#pulls.get(name);
    if (reader?.open !== true) {
      reader = new MemoryReader(this, name);
      this.#pulls.set(name, reader);
    }
    return reader.pull();
  }

  async openReader(name: string): Promise<QueueReader> {
    checkShortText(QUEUE_NAME, name);
    return this.ask(() => new MemoryReader(this, name));
  }

  openPublishChannel(events: PublishChannelEvents): Promise<PublishChannel> {
    return this.ask(() => {
      const channel = new MemoryPublishChannel(this, events);
      this.publishChannels.add(channel);
      return channel;
    });
  }

  async consume(name: string, spec: ConsumeSpec, events: ConsumeEvents): Promise<Subscription> {
    checkShortText(QUEUE_NAME, name);
    checkSpec(name, spec);
    return this.ask(() => {
      const { queue, tag } = this.broker.consume(this, name, spec);
      const subscription = new MemorySubscription(this, queue, spec, tag, events);
      this.subscriptions.add(subscription);
      queue.addConsumer(subscription);
      return subscription;
    });
  }

  async close(): Promise<void> {
    if (this.#closed || !this.#open) return;
    this.#closed = true;
    // A broker that does not read this link would never answer the goodbye.
    if (!this.#blocked && !this.broker.frozen) await this.#say(() => {});
    this.#end(new ConnectionLostError('the connection was closed before the broker answered'));
  }

  destroy(): void {
    this.lose(new ConnectionLostError('the connection was dropped by its owner'));
  }

  /** The link is cut. */
  lose(error: Error): void {
    const told = this.open;
    this.#end(error);
    // Later, so that whoever waits for something that has just been rejected hears of it first.
    if (told) soon(() => this.#events.lost(error));
  }

  /** A listener threw, which it must not: it costs the link, and neither the broker nor any other link. */
  fail(error: unknown): void {
    soon(() => this.lose(new ConnectionLostError('a listener of the link threw an error', { cause: error })));
  }

  /** Writes something, to be read by the broker in a later turn. */
  write(inbound: Inbound): void {
    this.#inbox.push(inbound);
    this.#schedule();
  }

  /** Writes something that is only to be read; resolves when it was, or when the link is gone. */
  say(work: () => void): Promise<void> {
    return this.open ? this.#say(work) : Promise.resolve();
  }

  /** Has a publish answered once everything that came with it was read. */
  answerLater(pending: PendingPublish): void {
    this.#answers.push(pending);
  }

  /** The alarm is over. */
  unblock(): void {
    if (!this.#blocked) return;
    this.#blocked = false;
    this.#events.unblocked();
    this.#schedule();
  }

  /** The broker answers again. */
  thaw(): void {
    this.#schedule();
  }

  #say(work: () => void): Promise<void> {
    return new Promise((resolve) => {
      this.write(new Question(work, resolve, () => resolve()));
    });
  }

  /** Writes a question; resolves with what the broker answers when it has read it. */
  ask<T>(work: () => T): Promise<T> {
    if (this.#closed) return Promise.reject(new ConnectionClosedError('the connection was closed'));
    if (!this.#open) return Promise.reject(new ConnectionLostError('the connection is lost'));
    return new Promise((resolve, reject) => {
      this.write(new Question(work, resolve, reject));
    });
  }

  #schedule(): void {
    if (this.#scheduled || !this.#open || this.#blocked || this.#inbox.length === 0) return;
    this.#scheduled = true;
    soon(() => {
      this.#scheduled = false;
      if (this.#open && !this.#blocked && !this.broker.frozen) this.#read();
    });
  }

  #read(): void {
    this.#batch = this.#inbox;
    this.#inbox = [];
    for (this.#at = 0; this.#at < this.#batch.length; this.#at += 1) {
      const inbound = this.#batch[this.#at] as Inbound;
      if (this.broker.frozen || (inbound.publishes && this.broker.alarm !== undefined)) break;
      inbound.read();
      if (!this.#open) return;
    }
    const unread = this.#batch.slice(this.#at);
    this.#batch = [];
    if (unread.length > 0) this.#inbox = unread.concat(this.#inbox);
    this.#answer();
    if (this.#open && unread.length > 0 && !this.broker.frozen) this.#block();
  }

  #answer(): void {
    const answers = this.#answers;
    this.#answers = [];
    for (const pending of answers) pending.answer();
  }

  #block(): void {
    const reason = this.broker.alarm;
    // The alarm may have ended while answers were given out.
    if (reason === undefined) this.#schedule();
    else {
      this.#blocked = true;
      this.#events.blocked(reason);
    }
  }

  #end(error: Error): void {
    if (!this.#open) return;
    this.#open = false;
    this.broker.linkEnded(this);
    const unread = [...this.#batch.slice(this.#at + 1), ...this.#inbox];
    this.#batch = [];
    this.#inbox = [];
    this.#answers = [];
    for (const channel of [...this.publishChannels]) channel.end(error);
    for (const inbound of unread) inbound.lost(error);
    for (const subscription of [...this.subscriptions]) subscription.close(error);
    for (const reader of [...this.readers]) reader.close();
    this.broker.deleteExclusive(this);
  }
}
