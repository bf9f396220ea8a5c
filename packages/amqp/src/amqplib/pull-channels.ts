import type { Delivery } from '@acemq/core';
import type { LinkChannel } from './link-channel.ts';
import { AmqplibReader } from './reader.ts';

/**
 * The channels that messages are pulled on, one for each queue and opened again when it has gone. They live
 * as long as the link, since what was pulled is settled on them. One for all queues would not do: a queue
 * that is not there closes the channel that asked for it, and what was pulled from the others would go back.
 */
export class PullChannels {
  readonly #open: () => Promise<LinkChannel>;
  readonly #readers = new Map<string, Promise<AmqplibReader>>();

  constructor(open: () => Promise<LinkChannel>) {
    this.#open = open;
  }

  async pull(queue: string): Promise<Delivery | undefined> {
    return (await this.#readerOf(queue)).pull();
  }

  async #readerOf(queue: string): Promise<AmqplibReader> {
    const known = this.#readers.get(queue);
    if (known !== undefined) {
      const reader = await known;
      if (reader.open) return reader;
      if (this.#readers.get(queue) !== known) return this.#readerOf(queue);
    }
    const opening = this.#reader(queue);
    this.#readers.set(queue, opening);
    const forget = (): void => {
      if (this.#readers.get(queue) === opening) this.#readers.delete(queue);
    };
    try {
      const reader = await opening;
      reader.onGone = forget;
      return reader;
    } catch (error) {
      forget();
      throw error;
    }
  }

  async #reader(queue: string): Promise<AmqplibReader> {
    return new AmqplibReader(await this.#open(), queue);
  }
}
