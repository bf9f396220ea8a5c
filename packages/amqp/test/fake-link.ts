import {
  ConnectionLostError,
  type Link,
  type Outbound,
  type PublishChannel,
  type PublishChannelEvents,
  type PublishListener,
  type PublishVerdict,
} from '@acemq/core';

/** One message as it was written to a {@link FakeChannel}. */
export interface Written {
  readonly exchange: string;
  readonly routingKey: string;
  readonly message: Outbound;
  readonly listener: PublishListener;
}

/** A confirm channel that answers when the test says so. */
export class FakeChannel implements PublishChannel {
  open = true;
  closed = false;
  /** Everything that was written, in order. */
  readonly written: Written[] = [];
  /** Thrown by the next `publish`. */
  refusal: Error | undefined;
  readonly #events: PublishChannelEvents;
  #unanswered: Written[] = [];

  constructor(events: PublishChannelEvents) {
    this.#events = events;
  }

  get keys(): string[] {
    return this.written.map(({ routingKey }) => routingKey);
  }

  publish(exchange: string, routingKey: string, message: Outbound, listener: PublishListener): boolean {
    if (this.refusal !== undefined) throw this.refusal;
    const one = { exchange, routingKey, message, listener };
    this.written.push(one);
    this.#unanswered.push(one);
    return true;
  }

  /** Answers the oldest `count` messages that have none. */
  answer(verdict: PublishVerdict = 'confirmed', count = 1): void {
    for (const { listener } of this.#unanswered.splice(0, count)) listener.answered(verdict, '');
  }

  /** The broker closes it. */
  end(error: Error): void {
    this.open = false;
    for (const { listener } of this.#unanswered.splice(0)) listener.cut(error);
    this.#events.closed(error);
  }

  async close(): Promise<void> {
    this.open = false;
    this.closed = true;
  }
}

/** The part of a link that publishes; channels open when the test says so, unless `opens` is true. */
export class FakeLink {
  open = true;
  readonly channels: FakeChannel[] = [];
  /** Whether a channel opens by itself. */
  opens: boolean;
  #asked: { readonly resolve: (channel: PublishChannel) => void; readonly reject: (error: Error) => void }[] =
    [];

  constructor(opens = true) {
    this.opens = opens;
  }

  /** What the library sees. */
  get link(): Link {
    return this as unknown as Link;
  }

  /** How many channels are asked for and not open. */
  get opening(): number {
    return this.#asked.length;
  }

  openPublishChannel(events: PublishChannelEvents): Promise<PublishChannel> {
    if (!this.open) return Promise.reject(new ConnectionLostError('the link is not open'));
    const make = (): FakeChannel => {
      const channel = new FakeChannel(events);
      this.channels.push(channel);
      return channel;
    };
    if (this.opens) return Promise.resolve(make());
    return new Promise((resolve, reject) => {
      this.#asked.push({ resolve: () => resolve(make()), reject });
    });
  }

  /** Opens the oldest `count` channels that were asked for, one after the other. */
  openNext(count = 1): void {
    for (const { resolve } of this.#asked.splice(0, count)) resolve(undefined as never);
  }

  /** Refuses every channel that was asked for. */
  refuseOpening(error: Error): void {
    for (const { reject } of this.#asked.splice(0)) reject(error);
  }

  /** Loses the link: what waits on it rejects, what was written is cut. Its owner is told by the test. */
  lose(): void {
    this.open = false;
    const error = new ConnectionLostError('the link was cut');
    this.refuseOpening(error);
    for (const channel of this.channels) if (channel.open) channel.end(error);
  }
}
