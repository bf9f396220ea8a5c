import type { Clock } from './clock.ts';
import type { HeaderTable } from './headers.ts';

/**
 * The transport port: what moves bytes and settles deliveries, and knows nothing of envelopes, retries or
 * metrics.
 *
 * A {@link Transport} dials; a {@link Link} is one connection that it made. A link is not supervised: when it
 * is lost it stays lost, everything waiting on it rejects, and whoever dialled it dials another. Everything
 * that must hold over a lost connection (reconnecting, restoring topology and consumers) is built once, above
 * this port, so that the in-memory broker exercises the same code as RabbitMQ. The suite `transportSuite` of
 * `@acemq/testing` holds every implementation to what is written here.
 *
 * What a method may reject with, unless it says otherwise:
 * - `EncodeError`: AMQP has no form for something in it, which the message names: a name, key or tag of more
 *   than 255 bytes, or an argument (a function, a number that is not finite). Nothing was asked.
 * - `BrokerRefusedError` with the broker's reply code: 403 (not permitted), 404 (no such queue or exchange),
 *   405 (another connection's exclusive queue), 406 (exists with other arguments). The link stays usable, but
 *   for the codes from 500 on (an exchange type that the broker does not know is 503), with which the broker
 *   closes it.
 * - `ConnectionLostError`: the link went away before the answer.
 * - `ConnectionClosedError`: `close()` was called before.
 */
export interface Transport {
  /** What it is called in errors and health, for example `amqp` or `memory`. */
  readonly name: string;
  /** Where it dials, without credentials, in the order in which they are tried. At least one. */
  readonly endpoints: readonly string[];
  /** The time of this transport, where it has one of its own. */
  readonly clock?: Clock;
  /**
   * Makes one connection.
   *
   * Rejects with `ConnectError`: `refused` where the broker itself refused the password, the vhost or the
   * permission, otherwise retryable (nobody there, no answer within `timeout`, cut off while connecting). No
   * error names a password. Never leaves a socket behind when it rejects. An attempt that `signal` ends
   * rejects with a `ConnectError` whose `cause` is the signal's reason.
   */
  dial(request: DialRequest): Promise<Link>;
}

/** What a {@link Transport.dial} is asked for. */
export interface DialRequest {
  /** The name the broker's own tools show for this connection. */
  readonly name: string;
  /** Which of {@link Transport.endpoints}, by index. */
  readonly endpoint: number;
  /** Milliseconds for TCP, TLS and the AMQP handshake together. */
  readonly timeout: number;
  /** Milliseconds between heartbeats to be agreed with the broker; 0 for none. */
  readonly heartbeat: number;
  /** Told what happens to the link once `dial` has resolved. */
  readonly events: LinkEvents;
  /** Ends the attempt. */
  readonly signal?: AbortSignal;
}

/** What a link tells whoever dialled it. Called synchronously; must not throw. */
export interface LinkEvents {
  /**
   * It is gone, for any reason but `close()`. Called once. By then everything that waited on it has rejected.
   */
  lost(error: Error): void;
  /** The broker has an alarm and has stopped reading this link. `reason` is the broker's words. */
  blocked(reason: string): void;
  /** The alarm has ended. */
  unblocked(): void;
}

/** Where a broker was reached. Never a user or a password. */
export interface BrokerEndpoint {
  /** The name or the address that was dialled; an IPv6 address has no brackets. */
  readonly host: string;
  /** 1 to 65535. */
  readonly port: number;
}

/** One connection to the broker. */
export interface Link {
  /** False once it was lost or closed. Never true again after that. */
  readonly open: boolean;
  /** Where it leads, for a link that goes over a network. */
  readonly endpoint?: BrokerEndpoint;

  /**
   * Declares an exchange. Resolves when the broker has it; the same declaration again changes nothing. 406 if
   * it differs.
   */
  declareExchange(name: string, spec: ExchangeSpec): Promise<void>;
  /** Declares a queue, as {@link declareExchange} does. */
  declareQueue(name: string, spec: QueueSpec): Promise<void>;
  /** Binds a queue to an exchange. 404 when either is not there. */
  bind(queue: string, exchange: string, routingKey: string): Promise<void>;

  /**
   * Asks for a queue and creates nothing: its depth, or `undefined` when there is none (404 only; 403
   * rejects).
   */
  checkQueue(name: string): Promise<QueueState | undefined>;
  /** Asks for an exchange and creates nothing. */
  checkExchange(name: string): Promise<boolean>;
  /** Deletes a queue and resolves to the number of messages it held; a queue that is not there is 0. */
  deleteQueue(name: string): Promise<number>;
  /** Deletes an exchange; one that is not there is not an error. */
  deleteExchange(name: string): Promise<void>;
  /** Takes one message, unsettled, or `undefined` when there is none. For tools, not for services. */
  pull(queue: string): Promise<Delivery | undefined>;
  /** Opens a channel to take messages out of a queue on, and to give them back all at once. For tools. */
  openReader(queue: string): Promise<QueueReader>;

  /** Opens a channel on which every publish is confirmed. */
  openPublishChannel(events: PublishChannelEvents): Promise<PublishChannel>;

  /**
   * Subscribes, on a channel of its own. Resolves when the broker has accepted the subscription;
   * `events.delivered` may be called before that. `ConfigurationError` for a prefetch that is out of range.
   */
  consume(queue: string, spec: ConsumeSpec, events: ConsumeEvents): Promise<Subscription>;

  /** Closes politely. Resolves when it is closed, however that went; never rejects. Idempotent. */
  close(): Promise<void>;
  /**
   * Drops the link at once, without a word to the broker. For a link that no longer answers. What waits on it
   * is told as if it had been lost, and so may its events be.
   */
  destroy(): void;
}

/** How a queue is declared. Every field is sent; nothing is filled in by a transport. */
export interface QueueSpec {
  readonly durable: boolean;
  readonly autoDelete: boolean;
  readonly exclusive: boolean;
  readonly arguments: Readonly<HeaderTable>;
}

/** The kinds of exchange that every broker has; a plug-in's own may be named too. */
export type ExchangeType = 'direct' | 'topic' | 'fanout' | 'headers' | (string & {});

/** How an exchange is declared. */
export interface ExchangeSpec {
  readonly type: ExchangeType;
  readonly durable: boolean;
  readonly autoDelete: boolean;
  readonly arguments: Readonly<HeaderTable>;
}

/** What a passive question says about a queue. A snapshot. */
export interface QueueState {
  /** Messages ready for delivery; 0 for a stream, whatever it holds. */
  readonly messages: number;
  readonly consumers: number;
}

/**
 * Anything a ladder or a topology can be declared on: a connection, a link, a test's list. Calls are made one
 * after the other, each awaited, since the broker needs them in order.
 */
export interface DeclareTarget {
  declareExchange(name: string, spec: ExchangeSpec): Promise<unknown> | unknown;
  declareQueue(name: string, spec: QueueSpec): Promise<unknown> | unknown;
  bind(queue: string, exchange: string, routingKey: string): Promise<unknown> | unknown;
}

/** A message on its way out: bytes and properties, nothing left to decide. */
export interface Outbound {
  readonly body: Uint8Array;
  /** Left out when undefined or empty. */
  readonly contentType?: string | undefined;
  readonly messageId: string;
  /** Never written as an empty string: other languages would take that for an address. */
  readonly replyTo?: string | undefined;
  readonly headers: Readonly<HeaderTable>;
  readonly persistent: boolean;
  readonly mandatory: boolean;
  /** Whole seconds since the epoch. */
  readonly timestamp?: number | undefined;
  /** 0 to 255; only for an application's own messages. */
  readonly priority?: number | undefined;
  /** Milliseconds as text, as AMQP has it; only for an application's own messages, never on a copy. */
  readonly expiration?: string | undefined;
}

/** How the broker answered one publish. */
export type PublishVerdict =
  /** It took responsibility. With `mandatory`, the message is in a queue. */
  | 'confirmed'
  /** Mandatory and no queue: the broker returned it, then confirmed it. */
  | 'unroutable'
  /** The broker said that it could not. */
  | 'nacked';

/** Told how one publish ended. Exactly one of the two is called, once, never from within `publish` itself. */
export interface PublishListener {
  /** The broker judged this message. `reason` is its words for a return (`312 NO_ROUTE`), else empty. */
  answered(verdict: PublishVerdict, reason: string): void;
  /**
   * The channel or the link went away first. The message may or may not have arrived. `error` is a
   * `ConnectionLostError`, or a `BrokerRefusedError` (404 no such exchange, 403 not permitted, 406 …) where
   * the broker closed the channel with one; it then speaks of one publish of this channel, not necessarily of
   * this one.
   */
  cut(error: Error): void;
}

/** A channel on which every publish is confirmed. */
export interface PublishChannel {
  readonly open: boolean;
  /**
   * Writes one message. The listener is told later what became of it, always.
   *
   * Throws, with nothing written, when the channel is not open (`ConnectionLostError`) or AMQP has no form for
   * a header, a property, a name or the body (`EncodeError`, which names it; an expiration that is no number
   * is one too). Returns false when the socket's write buffer is full: that is a hint to slow down, and the
   * message is written all the same.
   */
  publish(exchange: string, routingKey: string, message: Outbound, listener: PublishListener): boolean;
  /** Closes it; what is outstanding is `cut`. Never rejects. */
  close(): Promise<void>;
}

/** What a publish channel tells its owner. */
export interface PublishChannelEvents {
  /** It is gone, for any reason but `close()`; every outstanding publish has been `cut` by then. */
  closed(error: Error): void;
}

/** How to subscribe. */
export interface ConsumeSpec {
  /** Unsettled deliveries that the broker keeps out at once; 1 to 65535. */
  readonly prefetch: number;
  /** The consumer tag; empty for one that the broker makes up. */
  readonly tag: string;
  readonly exclusive: boolean;
  readonly arguments: Readonly<HeaderTable>;
}

/** What a subscription tells its owner. Called synchronously; must not throw. */
export interface ConsumeEvents {
  /** One message. It stays with this consumer until it is settled or the subscription's channel goes. */
  delivered(delivery: Delivery): void;
  /**
   * No more will come, for any reason but `stop()`: the broker cancelled it (its queue was deleted, its node
   * went), the channel was closed (an acknowledgement came too late), or the link is gone. Called once, and
   * perhaps before {@link Link.consume} has resolved.
   *
   * By then nothing of it can be settled any more, and the transport itself closes the subscription's channel,
   * at once if the broker has not: the broker takes back what was out on it. `stop` and `release` have nothing
   * left to do.
   */
  ended(error: Error): void;
}

/** A running subscription. */
export interface Subscription {
  /** The tag the broker knows it by. */
  readonly tag: string;
  /**
   * Ends the deliveries and resolves when no further one can come. The channel stays open, so that what is
   * out can still be settled. Never rejects.
   */
  stop(): Promise<void>;
  /** Closes the channel. Deliveries that are still unsettled go back to the queue. Never rejects. */
  release(): Promise<void>;
}

/** Takes messages out of one queue, one at a time, on a channel of its own. */
export interface QueueReader {
  /**
   * Whether it can go on. Once it cannot, be it released, be it that its channel or its link has gone, what was taken and not
   * settled is in its queue again.
   */
  readonly open: boolean;
  /** As {@link Link.pull}. 404 when the queue is not there, which ends the reader. */
  pull(): Promise<Delivery | undefined>;
  /**
   * Gives back all that is not settled, in one go and in its order, and ends the reader. Resolves when that is done. Never
   * rejects. To give back thousands one by one keeps a classic queue busy for many seconds.
   */
  release(): Promise<void>;
}

/** A message on its way in. */
export interface Delivery {
  readonly body: Uint8Array;
  /**
   * `undefined` when the sender said nothing, which is not the same as an empty string: codecs tell them
   * apart.
   */
  readonly contentType: string | undefined;
  readonly messageId: string | undefined;
  readonly replyTo: string | undefined;
  readonly exchange: string;
  readonly routingKey: string;
  /** As they came: any type, any nesting. Read with the functions of `headers.ts`, by own keys only. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** The broker's own flag: it was delivered before and not acknowledged. */
  readonly redelivered: boolean;
  /** Whole seconds since the epoch, where the sender set it. */
  readonly timestamp: number | undefined;
  readonly priority: number | undefined;
  readonly expiration: string | undefined;
  /**
   * Acknowledges it. Returns whether that was sent, or will be with others at the end of this turn of the event
   * loop: false when the channel it came on has gone, in which case the broker has taken the message back
   * already. The second settlement of a delivery does nothing and returns false.
   */
  ack(): boolean;
  /**
   * Gives it back: to its queue, or, without `requeue`, to the queue's dead-letter exchange. A classic queue
   * puts it where it was, ahead of what was not delivered; a quorum queue without a delivery limit puts it at
   * the end. As {@link ack}.
   */
  nack(requeue: boolean): boolean;
}
