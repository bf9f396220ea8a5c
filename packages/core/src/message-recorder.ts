import type { Codec } from './codec.ts';

/** How to encode a payload that is recorded. */
export interface RecordOptions {
  /** Instead of the connection's own. */
  readonly codec?: Codec | undefined;
}

/** A payload as bytes, and what they are. */
export interface EncodedPayload {
  readonly body: Uint8Array;
  readonly contentType: string;
}

/**
 * What an outbox needs of a connection to record a message now and publish it later: the bytes and headers
 * that a publisher would have written. Needs no open link.
 */
export interface MessageRecorder {
  /** The origin that a publisher of this connection stamps on its messages. */
  readonly origin: string;
  /** Throws `EncodeError` for a payload that cannot be written. */
  encode(payload: unknown, options?: RecordOptions): EncodedPayload;
  /** The trace headers of the active context, made anew at each call; empty without a tracing adapter. */
  propagationHeaders(): Record<string, string>;
}
