import type { HeaderTable } from './headers.ts';

/** A message as bytes and headers: what was recorded earlier, or taken from a queue. */
export interface RawMessage {
  readonly body: Uint8Array;
  readonly contentType?: string | undefined;
  /** A random UUID without one: a return is matched by it. */
  readonly messageId?: string | undefined;
  readonly replyTo?: string | undefined;
  /** Written as they are. None by default. */
  readonly headers?: Readonly<HeaderTable> | undefined;
  /** True by default. */
  readonly persistent?: boolean | undefined;
  /** True by default: a message that reaches no queue is `unroutable`, and not lost without a word. */
  readonly mandatory?: boolean | undefined;
  /** Whole seconds since the epoch. */
  readonly timestamp?: number | undefined;
  /** 0 to 255. */
  readonly priority?: number | undefined;
  /** Milliseconds as text, as AMQP has it. */
  readonly expiration?: string | undefined;
}

/** How one raw publish ended. */
export type RawVerdict =
  /** The broker took it; with `mandatory`, into a queue. */
  | 'confirmed'
  /** The broker returned it: it reaches no queue. */
  | 'unroutable'
  /** The broker said that it could not take it. */
  | 'nacked'
  /**
   * The message itself cannot be taken: no such exchange, not permitted, a body above the broker's limit,
   * headers that cannot be encoded.
   */
  | 'refused'
  /**
   * It was written, and no answer came (lost link, closed channel, time-out): it may or may not have arrived.
   */
  | 'cut'
  /**
   * Nothing was written: the broker blocks publishing, the link is down, no permit came free, or the
   * connection closes.
   */
  | 'unsent';

/** What became of one raw publish. */
export interface RawAnswer {
  readonly verdict: RawVerdict;
  /**
   * Whether this message was judged (`confirmed`, `unroutable`, `nacked`, `refused`). The other two speak of
   * the connection and say nothing about the message, which is to be tried again.
   */
  readonly judged: boolean;
  /** `undefined` when it was confirmed. */
  readonly error: Error | undefined;
}

/**
 * Publishes bytes as they are: for an outbox, a replay, an operator's tool. A connection of `@acemq/amqp` is
 * one.
 */
export interface RawPublisher {
  /**
   * Publishes one message past codecs and interceptors, and resolves when it is known what became of it. An
   * outcome of any kind is the answer, not a rejection.
   *
   * Rejects with `ConfigurationError` for arguments that cannot be used.
   */
  publishRaw(exchange: string, routingKey: string, message: RawMessage): Promise<RawAnswer>;
}
