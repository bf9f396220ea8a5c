import { ConnectionLostError, type Link, type PublishChannel, type PublishVerdict } from '@acemq/core';
import type { Pending, PendingRoute } from './pending.ts';

/** How many exchanges may have a channel open at once; past it, the one idle for longest is closed. */
const MOST_CHANNELS = 64;

/**
 * The key of the channel for the library's own copies. No exchange can have this name: it is 256 bytes long.
 */
const COPIES = '\u0000'.repeat(256);

/** What {@link ExchangeChannels} tells its owner. */
export interface ChannelsOwner {
  /** The channel is open: write it. */
  write(pending: Pending, channel: WritableChannel): void;
  /** The channel could not be opened; the message was not written. */
  unopened(pending: Pending, error: Error): void;
  answered(pending: Pending, verdict: PublishVerdict, reason: string): void;
  /** `others` is how many messages were outstanding on the channel besides this one when it went. */
  cut(pending: Pending, error: Error, others: number): void;
}

/** What a message is written to once its exchange's channel is open. */
export interface WritableChannel {
  /** Throws, with nothing written, where the transport's channel does. */
  write(pending: Pending): void;
}

/**
 * A confirm channel an exchange, and one for the library's copies.
 *
 * The broker answers a publish to an exchange that is not there, or not permitted, by closing the whole
 * channel. With a channel an exchange that answer costs only messages to the same exchange, which would have
 * been refused as well.
 */
export class ExchangeChannels {
  readonly #owner: ChannelsOwner;
  /** Least recently used first, as soon as there are so many that one may have to go. */
  readonly #channels = new Map<string, ExchangeChannel>();
  #link: Link | undefined;

  constructor(owner: ChannelsOwner) {
    this.#owner = owner;
  }

  attach(link: Link): void {
    this.#link = link;
  }

  /** The link is gone, and every channel with it. What was still waiting for a channel to open goes back. */
  detach(error: Error): void {
    this.#link = undefined;
    const channels = [...this.#channels.values()];
    this.#channels.clear();
    for (const channel of channels) channel.giveBack(error);
  }

  send(pending: Pending): void {
    const key = pending.copy ? COPIES : pending.exchange;
    let channel = this.#channels.get(key);
    if (channel?.usable !== true) {
      channel = this.#open(key);
    } else if (this.#channels.size >= MOST_CHANNELS) {
      this.#channels.delete(key);
      this.#channels.set(key, channel);
    }
    if (channel === undefined) {
      this.#owner.unopened(pending, new ConnectionLostError('there is no connection to publish on'));
    } else {
      channel.send(pending);
    }
  }

  #open(key: string): ExchangeChannel | undefined {
    const link = this.#link;
    if (link === undefined) return undefined;
    this.#makeRoom();
    const channel: ExchangeChannel = new ExchangeChannel(this.#owner, () => {
      if (this.#channels.get(key) === channel) this.#channels.delete(key);
    });
    this.#channels.delete(key);
    this.#channels.set(key, channel);
    channel.open(link);
    return channel;
  }

  #makeRoom(): void {
    if (this.#channels.size < MOST_CHANNELS) return;
    for (const [key, channel] of this.#channels) {
      if (key === COPIES || channel.busy) continue;
      this.#channels.delete(key);
      channel.close();
      return;
    }
  }
}

/** One exchange's channel, from the moment it is asked for. */
class ExchangeChannel implements WritableChannel, PendingRoute {
  readonly #owner: ChannelsOwner;
  readonly #gone: () => void;
  #channel: PublishChannel | undefined;
  #queue: Pending[] = [];
  #outstanding = 0;
  /** What the channel went with, and how many were outstanding then: each of them is told the same number. */
  #end: { readonly error: Error; readonly others: number } | undefined;

  constructor(owner: ChannelsOwner, gone: () => void) {
    this.#owner = owner;
    this.#gone = gone;
  }

  /** Opening, or open. False from the moment it closed, which may be before its owner was told. */
  get usable(): boolean {
    return this.#channel === undefined || this.#channel.open;
  }

  get busy(): boolean {
    return this.#outstanding > 0 || this.#channel === undefined;
  }

  open(link: Link): void {
    link.openPublishChannel({ closed: () => this.#gone() }).then(
      (channel) => {
        this.#channel = channel;
        const queue = this.#queue;
        this.#queue = [];
        for (const pending of queue) this.#owner.write(pending, this);
      },
      (error: unknown) => {
        this.#gone();
        this.giveBack(error instanceof Error ? error : new Error(String(error)));
      },
    );
  }

  send(pending: Pending): void {
    if (this.#channel === undefined) this.#queue.push(pending);
    else this.#owner.write(pending, this);
  }

  write(pending: Pending): void {
    const channel = this.#channel;
    if (channel === undefined) throw new ConnectionLostError('the channel is not open');
    pending.route = this;
    channel.publish(pending.exchange, pending.routingKey, pending.message, pending);
    this.#outstanding += 1;
  }

  answered(pending: Pending, verdict: PublishVerdict, reason: string): void {
    this.#outstanding -= 1;
    this.#owner.answered(pending, verdict, reason);
  }

  cut(pending: Pending, error: Error): void {
    this.#end ??= { error, others: this.#outstanding - 1 };
    this.#outstanding -= 1;
    this.#owner.cut(pending, error, this.#end.others);
  }

  /** Last first, since each goes to the front of those who wait. */
  giveBack(error: Error): void {
    const queue = this.#queue;
    this.#queue = [];
    for (let at = queue.length - 1; at >= 0; at -= 1) this.#owner.unopened(queue[at] as Pending, error);
  }

  close(): void {
    void this.#channel?.close();
  }
}
