import { ConnectionLostError, type Delivery, type QueueReader } from '@acemq/core';
import { type DeliveryChannel, MemoryDelivery } from './delivery.ts';
import type { Inbound, MemoryLink } from './link.ts';
import { Unsettled } from './unsettled.ts';

/** Takes messages out of a queue, on a channel of its own. */
export class MemoryReader implements QueueReader, DeliveryChannel {
  readonly #link: MemoryLink;
  readonly #queue: string;
  readonly #unsettled = new Unsettled();
  /** Whether its owner may still use the channel. */
  #channelOpen = true;
  #closing: Promise<void> | undefined;

  constructor(link: MemoryLink, queue: string) {
    this.#link = link;
    this.#queue = queue;
    link.readers.add(this);
  }

  get open(): boolean {
    return this.#channelOpen && this.#link.open;
  }

  pull(): Promise<Delivery | undefined> {
    if (!this.#channelOpen) {
      return Promise.reject(new ConnectionLostError(`the reader of queue '${this.#queue}' has ended`));
    }
    return this.#link.ask(() => this.#take());
  }

  #take(): Delivery | undefined {
    const { broker } = this.#link;
    try {
      const queue = broker.queueToRead(this.#link, this.#queue);
      const entry = queue.take();
      if (entry === undefined) return undefined;
      const delivery = new MemoryDelivery(entry, queue, this, broker.clock.now(), true);
      this.#unsettled.add(delivery);
      return delivery;
    } catch (error) {
      // The broker closes a channel with its refusal.
      this.close();
      throw error;
    }
  }

  release(): Promise<void> {
    this.#channelOpen = false;
    this.#closing ??= this.#link.say(() => this.close());
    return this.#closing;
  }

  /** Ends the channel: what is out goes back to the queue. */
  close(): void {
    this.#channelOpen = false;
    this.#link.readers.delete(this);
    this.#unsettled.giveBack();
  }

  holds(delivery: MemoryDelivery): boolean {
    return this.#unsettled.has(delivery);
  }

  write(settlement: Inbound): void {
    this.#link.write(settlement);
  }

  settled(delivery: MemoryDelivery): void {
    this.#unsettled.delete(delivery);
    delivery.queue.move();
  }
}
