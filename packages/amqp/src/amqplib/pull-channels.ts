import type { Delivery } from '@acemq/core';
import type { GetMessage } from 'amqplib/callback_api';
import { AmqplibDelivery, SettlingEach } from './delivery.ts';
import type { LinkChannel } from './link-channel.ts';

/**
 * The channels that messages are pulled on, one for each queue and opened again when it has gone. They live
 * as long as the link, since what was pulled is settled on them. One for all queues would not do: a queue
 * that is not there closes the channel that asked for it, and what was pulled from the others would go back.
 */
export class PullChannels {
  readonly #open: () => Promise<LinkChannel>;
  readonly #channels = new Map<string, Promise<LinkChannel>>();

  constructor(open: () => Promise<LinkChannel>) {
    this.#open = open;
  }

  async pull(queue: string): Promise<Delivery | undefined> {
    const channel = await this.#channelFor(queue);
    const message = await channel.ask<GetMessage | false>(`pull from queue "${queue}"`, (raw, done) => {
      raw.get(queue, { noAck: false }, done);
    });
    return message === false ? undefined : new AmqplibDelivery(channel, new SettlingEach(channel), message);
  }

  async #channelFor(queue: string): Promise<LinkChannel> {
    const known = this.#channels.get(queue);
    if (known !== undefined) {
      const channel = await known;
      if (channel.open) return channel;
      if (this.#channels.get(queue) !== known) return this.#channelFor(queue);
    }
    const opening = this.#open();
    this.#channels.set(queue, opening);
    const forget = (): void => {
      if (this.#channels.get(queue) === opening) this.#channels.delete(queue);
    };
    try {
      const channel = await opening;
      channel.onGone = forget;
      return channel;
    } catch (error) {
      forget();
      throw error;
    }
  }
}
