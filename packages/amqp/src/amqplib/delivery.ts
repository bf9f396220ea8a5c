import type { Delivery } from '@acemq/core';
import type { Message } from 'amqplib/callback_api';
import type { LinkChannel } from './link-channel.ts';
import { readTable } from './properties.ts';

/** What settles messages on a channel. Either may throw, when the link is closing. */
export interface Settling {
  ack(message: Message): void;
  nack(message: Message, requeue: boolean): void;
}

/** Each with a frame of its own. */
export class SettlingEach implements Settling {
  readonly #channel: LinkChannel;

  constructor(channel: LinkChannel) {
    this.#channel = channel;
  }

  ack(message: Message): void {
    this.#channel.raw.ack(message);
  }

  nack(message: Message, requeue: boolean): void {
    this.#channel.raw.nack(message, false, requeue);
  }
}

/** A message that came on a channel, and is settled on the same one. */
export class AmqplibDelivery implements Delivery {
  readonly #channel: LinkChannel;
  readonly #settling: Settling;
  readonly #message: Message;
  #headers: Readonly<Record<string, unknown>> | undefined;
  #settled = false;

  constructor(channel: LinkChannel, settling: Settling, message: Message) {
    this.#channel = channel;
    this.#settling = settling;
    this.#message = message;
  }

  get body(): Uint8Array {
    return this.#message.content;
  }

  get contentType(): string | undefined {
    return this.#message.properties.contentType;
  }

  get messageId(): string | undefined {
    return this.#message.properties.messageId;
  }

  get replyTo(): string | undefined {
    return this.#message.properties.replyTo;
  }

  get exchange(): string {
    return this.#message.fields.exchange;
  }

  get routingKey(): string {
    return this.#message.fields.routingKey;
  }

  get headers(): Readonly<Record<string, unknown>> {
    this.#headers ??= readTable(this.#message.properties.headers);
    return this.#headers;
  }

  get redelivered(): boolean {
    return this.#message.fields.redelivered;
  }

  get timestamp(): number | undefined {
    return this.#message.properties.timestamp;
  }

  get priority(): number | undefined {
    return this.#message.properties.priority;
  }

  get expiration(): string | undefined {
    return this.#message.properties.expiration;
  }

  ack(): boolean {
    if (!this.#settle()) return false;
    try {
      this.#settling.ack(this.#message);
      return true;
    } catch {
      // The link is closing, and with it the channel: the broker takes the message back.
      return false;
    }
  }

  nack(requeue: boolean): boolean {
    if (!this.#settle()) return false;
    try {
      this.#settling.nack(this.#message, requeue);
      return true;
    } catch {
      // As for ack.
      return false;
    }
  }

  #settle(): boolean {
    if (this.#settled || !this.#channel.open) return false;
    this.#settled = true;
    return true;
  }
}
