import {
  BrokerRefusedError,
  ConnectionLostError,
  type Outbound,
  type PublishChannel,
  type PublishChannelEvents,
  type PublishListener,
  type PublishVerdict,
} from '@acemq/core';
import type { Inbound, MemoryLink } from './link.ts';
import { type HeldMessage, written } from './message.ts';

/** What the broker says of a mandatory message that reached no queue. */
const NO_ROUTE = '312 NO_ROUTE';

/** One publish: on the wire, then judged, then told. */
export class PendingPublish implements Inbound {
  readonly publishes = true;
  readonly channel: MemoryPublishChannel;
  readonly exchange: string;
  readonly message: HeldMessage;
  readonly mandatory: boolean;
  readonly #listener: PublishListener;
  #verdict: PublishVerdict | undefined;
  #told = false;

  constructor(
    channel: MemoryPublishChannel,
    exchange: string,
    message: HeldMessage,
    mandatory: boolean,
    listener: PublishListener,
  ) {
    this.channel = channel;
    this.exchange = exchange;
    this.message = message;
    this.mandatory = mandatory;
    this.#listener = listener;
  }

  read(): void {
    this.channel.read(this);
  }

  lost(): void {
    // The channel cuts all of its publishes at once, with its own reason.
  }

  judged(verdict: PublishVerdict): void {
    this.#verdict = verdict;
  }

  /** The broker's answer arrives. */
  answer(): void {
    if (this.#told || this.#verdict === undefined) return;
    this.#told = true;
    this.channel.outstanding.delete(this);
    try {
      this.#listener.answered(this.#verdict, this.#verdict === 'unroutable' ? NO_ROUTE : '');
    } catch (error) {
      this.channel.fail(error);
    }
  }

  cut(error: Error): void {
    if (this.#told) return;
    this.#told = true;
    try {
      this.#listener.cut(error);
    } catch (thrown) {
      this.channel.fail(thrown);
    }
  }
}

/** How many writes may be unread before `publish` hints that it would be time to slow down. */
const WRITE_BUFFER = 1024;

/** A channel in confirm mode. */
export class MemoryPublishChannel implements PublishChannel {
  /** Written and not yet answered. */
  readonly outstanding: Set<PendingPublish> = new Set();
  readonly #link: MemoryLink;
  readonly #events: PublishChannelEvents;
  #open = true;
  #refused = false;

  constructor(link: MemoryLink, events: PublishChannelEvents) {
    this.#link = link;
    this.#events = events;
  }

  get open(): boolean {
    return this.#open && this.#link.open;
  }

  publish(exchange: string, routingKey: string, message: Outbound, listener: PublishListener): boolean {
    if (!this.open) throw new ConnectionLostError('the channel is not open; nothing was written');
    const held = written(exchange, routingKey, message);
    const pending = new PendingPublish(this, exchange, held, message.mandatory, listener);
    this.outstanding.add(pending);
    this.#link.write(pending);
    return this.#link.unread < WRITE_BUFFER;
  }

  /** The broker takes one publish off the wire. */
  read(pending: PendingPublish): void {
    // What its owner wrote before closing it is on the wire all the same; what the broker closed, it reads no
    // more.
    if (this.#refused) return;
    try {
      pending.judged(this.#link.broker.publish(this.#link, pending));
    } catch (error) {
      if (!(error instanceof BrokerRefusedError)) throw error;
      // The broker closes the channel; what it has judged on it but not yet confirmed is never answered.
      this.#refused = true;
      this.end(error);
      return;
    }
    this.#link.answerLater(pending);
  }

  /** A listener threw. */
  fail(error: unknown): void {
    this.#link.fail(error);
  }

  async close(): Promise<void> {
    if (!this.#open) return;
    const said = this.#link.say(() => {
      this.#link.publishChannels.delete(this);
    });
    this.#cut(new ConnectionLostError('the channel was closed before the broker answered'));
    await said;
  }

  /** Ends it for a reason that is not its owner's. */
  end(error: Error): void {
    if (!this.#open) return;
    this.#link.publishChannels.delete(this);
    this.#cut(error);
    this.#events.closed(error);
  }

  #cut(error: Error): void {
    this.#open = false;
    const cut = [...this.outstanding];
    this.outstanding.clear();
    for (const pending of cut) pending.cut(error);
  }
}
