import type { Delivery, Envelope, Message } from '@acemq/core';

/** What a message is of: one delivery, and the signal of its run. */
export interface MessageSource {
  readonly delivery: Delivery;
  readonly signal: AbortSignal;
}

/** What the handler sees. The fields that cost something to hold are read from the delivery. */
export class RunMessage implements Message<unknown> {
  readonly payload: unknown;
  readonly envelope: Envelope;
  readonly queue: string;
  readonly #source: MessageSource;

  constructor(source: MessageSource, queue: string, envelope: Envelope, payload: unknown) {
    this.payload = payload;
    this.envelope = envelope;
    this.queue = queue;
    this.#source = source;
  }

  get exchange(): string {
    return this.#source.delivery.exchange;
  }
  get routingKey(): string {
    return this.#source.delivery.routingKey;
  }
  get contentType(): string | undefined {
    return this.#source.delivery.contentType;
  }
  get redelivered(): boolean {
    return this.#source.delivery.redelivered;
  }
  get body(): Uint8Array {
    return this.#source.delivery.body;
  }
  get replyTo(): string | undefined {
    return this.#source.delivery.replyTo;
  }
  get signal(): AbortSignal {
    return this.#source.signal;
  }
}
