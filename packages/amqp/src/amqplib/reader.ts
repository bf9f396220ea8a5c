import type { Delivery, QueueReader } from '@acemq/core';
import type { GetMessage } from 'amqplib/callback_api';
import { AmqplibDelivery, SettlingEach } from './delivery.ts';
import type { LinkChannel } from './link-channel.ts';

/** Takes messages out of a queue, on a channel that nobody else uses for it. */
export class AmqplibReader implements QueueReader {
  readonly #channel: LinkChannel;
  readonly #queue: string;
  readonly #settling: SettlingEach;

  constructor(channel: LinkChannel, queue: string) {
    this.#channel = channel;
    this.#queue = queue;
    this.#settling = new SettlingEach(channel);
  }

  /** Told when the channel goes by itself. */
  set onGone(listener: () => void) {
    this.#channel.onGone = listener;
  }

  get open(): boolean {
    return this.#channel.open;
  }

  async pull(): Promise<Delivery | undefined> {
    const message = await this.#channel.ask<GetMessage | false>(
      `pull from queue "${this.#queue}"`,
      (raw, done) => {
        raw.get(this.#queue, { noAck: false }, done);
      },
    );
    return message === false ? undefined : new AmqplibDelivery(this.#channel, this.#settling, message);
  }

  /** The broker gives back what is out on a channel that is closed. */
  release(): Promise<void> {
    return this.#channel.close();
  }
}
