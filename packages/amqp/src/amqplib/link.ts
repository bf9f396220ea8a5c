import {
  type BrokerEndpoint,
  BrokerRefusedError,
  type ConsumeEvents,
  type ConsumeSpec,
  checkShortText,
  type Delivery,
  type ExchangeSpec,
  type Link,
  type LinkEvents,
  type PublishChannel,
  type PublishChannelEvents,
  type QueueReader,
  type QueueSpec,
  type QueueState,
  REPLY_NOT_FOUND,
  type Subscription,
} from '@acemq/core';
import type { Connection, Replies } from 'amqplib/callback_api';
import { AskingChannels } from './asking-channels.ts';
import { type Done, type LinkChannel, lostAs, openChannel } from './link-channel.ts';
import type { LinkState } from './link-state.ts';
import { AmqplibPublishChannel } from './publish-channel.ts';
import { PullChannels } from './pull-channels.ts';
import { AmqplibReader } from './reader.ts';
import { refusalOf, replyOf } from './refusal.ts';
import { subscribe } from './subscription.ts';
import { wireArguments } from './table-size.ts';
import { frameMaxOf, type MessageSender, socketOf } from './untyped.ts';

/** Milliseconds for the broker to agree to the end of the link; then the socket is dropped. */
const CLOSE_TIMEOUT = 5000;

/** Milliseconds for the socket to end by itself after the link was lost. */
const LINGER = 1000;

/**
 * The refusals with which the broker closes the whole connection though they are about one declaration: an
 * exchange type that it does not know (503), a reserved name or another type (530), something not implemented
 * (540).
 */
const REFUSALS_OF_A_CONNECTION: ReadonlySet<number> = new Set([503, 530, 540]);

const EXCHANGE_NAME = 'the name of the exchange';
const QUEUE_NAME = 'the name of the queue';

/** One connection of amqplib. */
export class AmqplibLink implements Link {
  readonly #model: Connection;
  readonly #state: LinkState;
  readonly #events: LinkEvents;
  readonly #asking = new AskingChannels(() => this.#channel());
  readonly #pulls = new PullChannels(() => this.#channel());
  #begun = false;
  #blocked = false;
  #closing: Promise<void> | undefined;

  /**
   * To be made within amqplib's callback: an 'error' event that comes before its listener ends the process.
   * Its promise API would make it one turn too late. One gap is left that only amqplib can close: a malformed
   * frame or a fatal `connection.close` in the same read of the socket as `connection.open-ok` is thrown
   * before this is called.
   */
  constructor(model: Connection, state: LinkState, events: LinkEvents) {
    this.#model = model;
    this.#state = state;
    this.#events = events;
    model.on('error', (error: Error) => {
      state.end(error);
      // After a protocol error amqplib says goodbye and waits for an answer, for ever.
      this.#linger();
    });
    model.on('close', (error?: Error) => this.#gone(error));
    model.on('blocked', (reason: string) => {
      this.#blocked = true;
      if (this.#begun && this.open) events.blocked(reason);
    });
    model.on('unblocked', () => {
      this.#blocked = false;
      if (this.#begun && this.open) events.unblocked();
    });
  }

  get open(): boolean {
    return this.#state.open;
  }

  get endpoint(): BrokerEndpoint {
    return this.#state.endpoint;
  }

  /**
   * Makes sure that the broker answers on this link: amqplib reports one that the broker closed with its last
   * frame of the handshake as connected. From here on its owner hears of its loss.
   */
  async begin(): Promise<void> {
    try {
      this.#asking.keep(await this.#channel());
      this.#refuseIfGone();
    } catch (error) {
      this.#state.end(new Error('the broker closed the connection as soon as it was open'));
      throw error;
    }
    this.#begun = true;
  }

  async declareExchange(name: string, spec: ExchangeSpec): Promise<void> {
    checkShortText(EXCHANGE_NAME, name);
    checkShortText('the type of the exchange', spec.type);
    const what = `declare exchange "${name}"`;
    const options = {
      durable: spec.durable,
      autoDelete: spec.autoDelete,
      arguments: wireArguments(what, spec.arguments),
    };
    await this.#ask<Replies.AssertExchange>(what, (raw, done) =>
      raw.assertExchange(name, spec.type, options, done),
    );
  }

  async declareQueue(name: string, spec: QueueSpec): Promise<void> {
    checkShortText(QUEUE_NAME, name);
    const what = `declare queue "${name}"`;
    const options = { ...spec, arguments: wireArguments(what, spec.arguments) };
    await this.#ask<Replies.AssertQueue>(what, (raw, done) => raw.assertQueue(name, options, done));
  }

  async bind(queue: string, exchange: string, routingKey: string): Promise<void> {
    checkShortText(QUEUE_NAME, queue);
    checkShortText(EXCHANGE_NAME, exchange);
    checkShortText('the routing key', routingKey);
    const what = `bind queue "${queue}" to exchange "${exchange}" with "${routingKey}"`;
    await this.#ask<Replies.Empty>(what, (raw, done) => raw.bindQueue(queue, exchange, routingKey, {}, done));
  }

  async checkQueue(name: string): Promise<QueueState | undefined> {
    checkShortText(QUEUE_NAME, name);
    const state = await unlessMissing(
      this.#ask<Replies.AssertQueue>(`ask for queue "${name}"`, (raw, done) => raw.checkQueue(name, done)),
    );
    return state && { messages: state.messageCount, consumers: state.consumerCount };
  }

  async checkExchange(name: string): Promise<boolean> {
    checkShortText(EXCHANGE_NAME, name);
    const what = `ask for exchange "${name}"`;
    const found = await unlessMissing(
      this.#ask<Replies.Empty>(what, (raw, done) => raw.checkExchange(name, done)),
    );
    return found !== undefined;
  }

  async deleteQueue(name: string): Promise<number> {
    checkShortText(QUEUE_NAME, name);
    const what = `delete queue "${name}"`;
    const deleted = await unlessMissing(
      this.#ask<Replies.DeleteQueue>(what, (raw, done) => raw.deleteQueue(name, {}, done)),
    );
    return deleted?.messageCount ?? 0;
  }

  async deleteExchange(name: string): Promise<void> {
    checkShortText(EXCHANGE_NAME, name);
    const what = `delete exchange "${name}"`;
    await unlessMissing(this.#ask<Replies.Empty>(what, (raw, done) => raw.deleteExchange(name, {}, done)));
  }

  async pull(queue: string): Promise<Delivery | undefined> {
    checkShortText(QUEUE_NAME, queue);
    return this.#pulls.pull(queue);
  }

  async openReader(queue: string): Promise<QueueReader> {
    checkShortText(QUEUE_NAME, queue);
    return new AmqplibReader(await this.#channel(), queue);
  }

  async openPublishChannel(events: PublishChannelEvents): Promise<PublishChannel> {
    this.#refuseIfGone();
    const channel = await openChannel(
      this.#state,
      (done: Done<MessageSender>) => this.#model.createConfirmChannel(done as never) as MessageSender,
    );
    if (!channel.open) throw channel.gone('open a channel');
    const room = { state: this.#state, socket: socketOf(this.#model), frameMax: frameMaxOf(this.#model) };
    return new AmqplibPublishChannel(channel, room, events);
  }

  async consume(queue: string, spec: ConsumeSpec, events: ConsumeEvents): Promise<Subscription> {
    return subscribe(() => this.#channel(), queue, spec, events);
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  destroy(): void {
    this.#state.drop(new Error('dropped by its owner'));
  }

  #channel(): Promise<LinkChannel> {
    this.#refuseIfGone();
    return openChannel(this.#state, (done) => this.#model.createChannel(done as never));
  }

  #refuseIfGone(): void {
    if (!this.open) throw this.#state.gone();
  }

  #ask<T>(what: string, call: (raw: LinkChannel['raw'], done: Done<T>) => void): Promise<T> {
    this.#refuseIfGone();
    return this.#asking.use(async (channel) => {
      try {
        return await channel.ask(what, call);
      } catch (error) {
        throw this.#refusalOfConnection(what) ?? error;
      }
    });
  }

  #refusalOfConnection(what: string): BrokerRefusedError | undefined {
    const reply = replyOf(this.#state.reason);
    if (reply === undefined || !REFUSALS_OF_A_CONNECTION.has(reply.code)) return undefined;
    return refusalOf(reply, what, this.#state.reason);
  }

  /** amqplib has told every channel by now. */
  #gone(reason: Error | undefined): void {
    const { closing } = this.#state;
    this.#state.end(reason);
    this.#asking.end(this.#state.gone());
    this.#linger();
    if (closing || !this.#begun) return;
    // After the promises that have rejected by now have reached whoever awaits them.
    setImmediate(() => this.#events.lost(lostAs(this.#state.gone())));
  }

  #linger(): void {
    const socket = socketOf(this.#model);
    if (socket.closed) return;
    const timer = setTimeout(() => this.#state.drop(undefined), LINGER);
    socket.once('close', () => clearTimeout(timer));
  }

  async #shutDown(): Promise<void> {
    const socket = socketOf(this.#model);
    const wasOpen = this.open;
    this.#state.close();
    this.#asking.end(this.#state.gone());
    if (socket.closed) return;
    const timer = setTimeout(() => this.#state.drop(undefined), CLOSE_TIMEOUT);
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    if (wasOpen) await this.#sayGoodbye();
    await closed;
    clearTimeout(timer);
  }

  /**
   * Closes the channels before the connection: amqplib puts `connection.close` in front of what the channels
   * have not written yet, and the acknowledgements among it would be lost. A broker under an alarm reads none
   * of it.
   */
  async #sayGoodbye(): Promise<void> {
    if (!this.#blocked)
      await Promise.all([...this.#state.channels].map((channel) => channel.closeWithLink()));
    try {
      this.#model.close();
    } catch (error) {
      // It was lost meanwhile.
      this.#state.drop(error);
    }
  }
}

/**
 * `undefined` when the broker says that it is not there, and for no other reason: a missing permission is not
 * a missing queue.
 */
async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof BrokerRefusedError && error.replyCode === REPLY_NOT_FOUND) return undefined;
    throw error;
  }
}
