import { isNoChannelLeft, type LinkChannel } from './link-channel.ts';

/** The most questions of one link that are on their way at the same time. */
const MOST = 8;

/** A question that waits for a channel. */
interface Waiting {
  /** The number of the question. */
  readonly order: number;
  readonly resolve: (channel: LinkChannel) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The channels that questions are asked on.
 *
 * A question has its channel to itself while it is asked, since a refusal closes the channel that asked. So
 * that thousands at once do not use up the channels of the link, a few are asked at a time, and the others
 * wait, first in, first out. One channel is kept for the next question.
 */
export class AskingChannels {
  readonly #open: () => Promise<LinkChannel>;
  /** By the number of the question. */
  readonly #waiting: Waiting[] = [];
  #asked = 0;
  #spare: LinkChannel | undefined;
  /** Channels that are in use or being opened. */
  #busy = 0;

  constructor(open: () => Promise<LinkChannel>) {
    this.#open = open;
  }

  /** Keeps a channel that nothing else uses for the next question. */
  keep(channel: LinkChannel): void {
    if (channel.open && this.#spare === undefined) this.#spare = channel;
    else void channel.close();
  }

  /** Does something on a channel of its own. */
  async use<T>(work: (channel: LinkChannel) => Promise<T>): Promise<T> {
    const channel = await this.#take();
    try {
      return await work(channel);
    } finally {
      this.#giveBack(channel);
    }
  }

  /** The link has gone: what waits rejects. */
  end(error: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  #take(): Promise<LinkChannel> {
    this.#asked += 1;
    const order = this.#asked;
    return this.#busy < MOST && this.#waiting.length === 0 ? this.#obtain(order) : this.#wait(order);
  }

  #wait(order: number): Promise<LinkChannel> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { order, resolve, reject };
      const before = this.#waiting.findLastIndex((other) => other.order < order);
      this.#waiting.splice(before + 1, 0, waiting);
    });
  }

  async #obtain(order: number): Promise<LinkChannel> {
    this.#busy += 1;
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare?.open) return spare;
    try {
      return await this.#open();
    } catch (error) {
      this.#busy -= 1;
      // Consumers and publishers have taken the rest of the link's channels, but another question will be
      // done with its own.
      if (this.#busy > 0 && isNoChannelLeft(error)) return this.#wait(order);
      this.#serveNext();
      throw error;
    }
  }

  #giveBack(channel: LinkChannel): void {
    if (channel.open && this.#waiting.length > 0) {
      this.#waiting.shift()?.resolve(channel);
      return;
    }
    this.#busy -= 1;
    this.keep(channel);
    this.#serveNext();
  }

  #serveNext(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) this.#obtain(next.order).then(next.resolve, next.reject);
  }
}
