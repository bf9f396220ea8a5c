import type { Delivery, Envelope, Message } from '@acemq/core';

/** What a message takes from the consumer that hands it over. */
export interface MessageSource {
  readonly queue: string;
  readonly signal: AbortSignal;
}

/** What the handler sees. The fields that cost something to hold are read from the delivery. */
export class RunMessage implements Message<unknown> {
  readonly payload: unknown;
  readonly envelope: Envelope;
  readonly #delivery: Delivery;
  readonly #consumer: MessageSource;

  constructor(delivery: Delivery, consumer: MessageSource, envelope: Envelope, payload: unknown) {
    this.payload = payload;
    this.envelope = envelope;
    this.#delivery = delivery;
    this.#consumer = consumer;
  }

  get queue(): string {
    return this.#consumer.queue;
  }
  get exchange(): string {
    return this.#delivery.exchange;
  }
  get routingKey(): string {
    return this.#delivery.routingKey;
  }
  get contentType(): string | undefined {
    return this.#delivery.contentType;
  }
  get redelivered(): boolean {
    return this.#delivery.redelivered;
  }
  get body(): Uint8Array {
    return this.#delivery.body;
  }
  get replyTo(): string | undefined {
    return this.#delivery.replyTo;
  }
  get signal(): AbortSignal {
    return this.#consumer.signal;
  }
}
