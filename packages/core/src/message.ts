import type { Ack } from './ack.ts';
import type { Envelope } from './envelope.ts';

/** What a handler is given. */
export interface Message<T = unknown> {
  /** What the codec made of the body. */
  readonly payload: T;
  readonly envelope: Envelope;
  /** The queue that it was consumed from. */
  readonly queue: string;
  /** The exchange that it was published to; empty for the default exchange. */
  readonly exchange: string;
  readonly routingKey: string;
  /** `undefined` when the sender said nothing. */
  readonly contentType: string | undefined;
  /**
   * The broker delivered it before and got no acknowledgement. Not the same as a retry: see
   * `envelope.attempt`.
   */
  readonly redelivered: boolean;
  /** The bytes, as they came. */
  readonly body: Uint8Array;
  /** Where the sender waits for a reply. */
  readonly replyTo: string | undefined;
  /**
   * Aborted when the consumer is closing and its deadline has passed: what the handler still does is lost.
   */
  readonly signal: AbortSignal;
}

/**
 * Works one message and says what is to become of it. An error that it throws means `retry(error)`; a
 * `FatalError` means that trying again cannot help.
 */
export type Handler<T = unknown> = (message: Message<T>) => Ack | Promise<Ack>;
