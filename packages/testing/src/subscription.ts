import {
  type BrokerRefusedError,
  ConnectionLostError,
  type ConsumeEvents,
  type ConsumeSpec,
  type Subscription,
} from '@acemq/core';
import { type DeliveryChannel, MemoryDelivery } from './delivery.ts';
import type { Inbound, MemoryLink } from './link.ts';
import type { MemoryQueue, QueueConsumer } from './queue.ts';
import type { Entry } from './ready.ts';
import { preconditionFailed } from './refusals.ts';
import { Unsettled } from './unsettled.ts';
import { Wake } from './wake.ts';

/** A consumer on a channel of its own. */
export class MemorySubscription implements Subscription, QueueConsumer, DeliveryChannel {
  readonly tag: string;
  readonly exclusive: boolean;
  waiting = false;
  readonly queue: MemoryQueue;
  readonly #link: MemoryLink;
  readonly #prefetch: number;
  readonly #events: ConsumeEvents;
  readonly #unsettled = new Unsettled();
  readonly #late: Wake;
  /** Whether its owner may still use the channel. */
  #channelOpen = true;
  /** Whether the broker has read that the channel is closed, or has closed it. */
  #closed = false;
  #stopped = false;
  /** Whether its owner has been told of its end, or has asked for it. */
  #ended = false;
  #stopping: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(link: MemoryLink, queue: MemoryQueue, spec: ConsumeSpec, tag: string, events: ConsumeEvents) {
    this.#link = link;
    this.queue = queue;
    this.tag = tag;
    this.exclusive = spec.exclusive;
    this.#prefetch = spec.prefetch;
    this.#events = events;
    this.#late = new Wake(link.broker.clock, () => this.#checkLate());
  }

  get open(): boolean {
    return this.#channelOpen && this.#link.open;
  }

  get room(): boolean {
    return !this.#stopped && !this.#closed && this.#unsettled.size < this.#prefetch;
  }

  deliver(entry: Entry): void {
    const delivery = new MemoryDelivery(entry, this.queue, this, this.#link.broker.clock.now(), false);
    this.#unsettled.add(delivery);
    if (this.#unsettled.size === 1) this.#watch();
    // A client does not look at what comes on a channel that it is closing.
    if (!this.#channelOpen) return;
    try {
      this.#events.delivered(delivery);
    } catch (error) {
      this.#link.fail(error);
    }
  }

  holds(delivery: MemoryDelivery): boolean {
    return this.#unsettled.has(delivery);
  }

  write(settlement: Inbound): void {
    this.#link.write(settlement);
  }

  settled(delivery: MemoryDelivery): void {
    const wasOldest = this.#unsettled.oldest === delivery;
    this.#unsettled.delete(delivery);
    if (wasOldest) this.#watch();
    this.queue.offer(this);
  }

  /**
   * The broker cancelled it, and the channel is closed for it. The broker reads that after what was settled
   * on the channel before, and then takes back the rest.
   */
  cancelled(): void {
    this.#stopped = true;
    if (this.#ended) return;
    this.#channelOpen = false;
    this.#closing ??= this.#link.say(() => this.close());
    this.#end(
      new ConnectionLostError(`the broker cancelled the consumer ${this.tag} of queue '${this.queue.name}'`),
    );
  }

  stop(): Promise<void> {
    if (this.#ended) return this.#stopping ?? this.#closing ?? Promise.resolve();
    this.#ended = true;
    this.#stopping = this.#link.say(() => {
      this.#stopped = true;
      this.queue.removeConsumer(this);
    });
    return this.#stopping;
  }

  release(): Promise<void> {
    this.#ended = true;
    this.#channelOpen = false;
    this.#closing ??= this.#closed ? Promise.resolve() : this.#link.say(() => this.close());
    return this.#closing;
  }

  /** Ends the channel: what is out goes back to the queue. */
  close(error?: Error): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#channelOpen = false;
    this.#late.at(undefined);
    this.#link.subscriptions.delete(this);
    this.queue.removeConsumer(this);
    // Told first: whoever held a delivery must not find it delivered again while it still thinks it has it.
    if (error !== undefined) this.#end(error);
    this.#unsettled.giveBack();
  }

  #end(error: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#events.ended(error);
  }

  #watch(): void {
    const timeout = this.#link.broker.consumerTimeout;
    const { oldest } = this.#unsettled;
    this.#late.at(oldest === undefined || timeout === undefined ? undefined : oldest.at + timeout);
  }

  #checkLate(): void {
    const timeout = this.#link.broker.consumerTimeout ?? Number.POSITIVE_INFINITY;
    const { oldest } = this.#unsettled;
    if (oldest === undefined) return;
    if (this.#link.broker.clock.now() - oldest.at < timeout) this.#watch();
    else this.close(tooLate(timeout));
  }
}

function tooLate(timeout: number): BrokerRefusedError {
  return preconditionFailed(
    `delivery acknowledgement on channel 1 timed out. Timeout value used: ${timeout} ms. ` +
      'This timeout value can be configured, see consumers doc guide to learn more',
  );
}
