import type { Delivery } from '@acemq/core';
import type { Inbound } from './link.ts';
import type { MemoryQueue } from './queue.ts';
import type { Entry } from './ready.ts';
import { type WireTable, wireTable } from './wire-table.ts';

/** Where a delivery came out: a consumer's channel, or that of the pulls. */
export interface DeliveryChannel {
  /** Whether something can still be written to it. */
  readonly open: boolean;
  /** Whether this delivery is out on it, as the broker sees it. */
  holds(delivery: MemoryDelivery): boolean;
  /** Writes a settlement to the link. */
  write(settlement: Inbound): void;
  /** The broker has read the settlement of this delivery. */
  settled(delivery: MemoryDelivery): void;
}

type Settlement = 'ack' | 'reject' | 'requeue';

/**
 * One message on its way in. It is also its own settlement on the way out: no other object is made for it.
 */
export class MemoryDelivery implements Delivery, Inbound {
  readonly publishes = false;
  readonly exchange: string;
  readonly routingKey: string;
  readonly headers: WireTable;
  readonly redelivered: boolean;
  readonly entry: Entry;
  readonly queue: MemoryQueue;
  /** When it was delivered, in milliseconds since the epoch. */
  readonly at: number;
  readonly #channel: DeliveryChannel;
  #settlement: Settlement | undefined;

  constructor(entry: Entry, queue: MemoryQueue, channel: DeliveryChannel, at: number, pulled: boolean) {
    const { message } = entry;
    this.entry = entry;
    this.queue = queue;
    this.at = at;
    this.exchange = message.exchange;
    this.routingKey = message.routingKeys[0];
    // A copy of its own: two consumers never share a table.
    this.headers = wireTable(message.headers);
    // RabbitMQ's quorum queue counts a first delivery as 0 to a pull and says nothing of it to a consumer.
    if (queue.settings.type === 'quorum' && (pulled || entry.returns > 0)) {
      this.headers['x-delivery-count'] = entry.returns;
    }
    this.redelivered = entry.returns > 0;
    this.#channel = channel;
  }

  get body(): Uint8Array {
    return this.entry.message.body;
  }

  get contentType(): string | undefined {
    return this.entry.message.contentType;
  }

  get messageId(): string | undefined {
    return this.entry.message.messageId;
  }

  get replyTo(): string | undefined {
    return this.entry.message.replyTo;
  }

  get timestamp(): number | undefined {
    return this.entry.message.timestamp;
  }

  get priority(): number | undefined {
    return this.entry.message.priority;
  }

  get expiration(): string | undefined {
    return this.entry.message.expiration;
  }

  ack(): boolean {
    return this.#settle('ack');
  }

  nack(requeue: boolean): boolean {
    return this.#settle(requeue ? 'requeue' : 'reject');
  }

  #settle(settlement: Settlement): boolean {
    if (this.#settlement !== undefined || !this.#channel.open) return false;
    this.#settlement = settlement;
    this.#channel.write(this);
    return true;
  }

  read(): void {
    // A channel that closed in between has given the message back already.
    if (!this.#channel.holds(this)) return;
    switch (this.#settlement) {
      case 'ack':
        this.queue.settled();
        break;
      case 'reject':
        this.queue.rejected(this.entry);
        break;
      default:
        this.queue.giveBack(this.entry, 'consumer');
    }
    this.#channel.settled(this);
  }

  lost(): void {}
}
