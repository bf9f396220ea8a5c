import type { Duplex } from 'node:stream';
import type { ConfirmChannel, Connection } from 'amqplib/callback_api';

/**
 * The three parts of amqplib that its types leave out and this adapter uses, in one place. amqplib is pinned
 * to one exact version, and a test holds that these are there.
 */

/** The fields of `basic.publish`. */
interface PublishFields {
  readonly exchange: string;
  readonly routingKey: string;
  readonly mandatory: boolean;
  readonly immediate: false;
  readonly ticket: 0;
}

/** The properties of a message, as amqplib's encoder reads them; `undefined` is not written. */
export interface WireProperties {
  readonly contentType: string | undefined;
  readonly headers: object;
  readonly deliveryMode: 1 | 2;
  readonly priority: number | undefined;
  readonly replyTo: string | undefined;
  readonly expiration: string | undefined;
  readonly messageId: string;
  readonly timestamp: number | undefined;
}

/** A confirm channel with the call that `publish` itself makes. */
export interface MessageSender extends ConfirmChannel {
  /**
   * Encodes and writes one message. Everything is encoded before the first byte is written, so that a throw
   * leaves nothing on the wire and takes no delivery tag. `publish` wraps each header table in a new
   * prototype chain first, which costs about as much again as all the rest.
   */
  sendMessage(fields: PublishFields, properties: WireProperties, content: Buffer): boolean;
}

/** What {@link Connection.connection} holds besides the typed part. */
interface RawConnection {
  readonly stream: Duplex;
  readonly frameMax: number;
}

function raw(model: Connection): RawConnection {
  return model.connection as unknown as RawConnection;
}

/** The socket of a connection. */
export function socketOf(model: Connection): Duplex {
  return raw(model).stream;
}

/** The largest frame, in bytes, agreed with the broker. */
export function frameMaxOf(model: Connection): number {
  return raw(model).frameMax;
}
