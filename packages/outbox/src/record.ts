import {
  type Codec,
  ConfigurationError,
  checkName,
  checkOptions,
  checkRoutingKey,
  createEnvelope,
  type EnvelopeFields,
  type HeaderTable,
  type MessageRecorder,
  writeHeaders,
} from '@acemq/core';
import { headersToText } from './stored-headers.ts';

/** A message that is to be published once the transaction that it belongs to has committed. */
export interface OutboxMessage extends EnvelopeFields {
  /** The default exchange by default, which takes a message to the queue that its routing key names. */
  readonly exchange?: string | undefined;
  /** Empty by default. */
  readonly routingKey?: string | undefined;
  readonly payload: unknown;
  /** Instead of the connection's own. */
  readonly codec?: Codec | undefined;
}

/**
 * A message as bytes and headers, as it will be published: nothing encodes it again, and no interceptor sees it. Frozen;
 * the bytes are not copied, so leave them as they are.
 */
export interface OutboxRecord {
  /** Who the message is: in the table, as message id, and in the header `x-acemq-id`. */
  readonly id: string;
  readonly exchange: string;
  readonly routingKey: string;
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly headers: Readonly<HeaderTable>;
  /** Milliseconds since the epoch by the clock of this process. The lag is counted from the database's own. */
  readonly createdAt: number;
  /** The headers as they are stored. */
  readonly headerText: string;
}

const FIELDS: readonly string[] = [
  'exchange',
  'routingKey',
  'payload',
  'codec',
  'id',
  'type',
  'version',
  'correlationId',
  'causationId',
  'attempt',
  'firstSeen',
  'origin',
  'error',
  'claim',
  'route',
  'routePosition',
  'routeId',
  'headers',
];

/**
 * Builds the record of a message: the bytes and headers that a publisher of this connection would have written, the trace
 * of the active context included. Writes nothing, and needs no open link.
 *
 * The payload is encoded now, so that one that cannot be fails the caller's transaction; `first-seen` is now as well,
 * since the wait in the outbox is part of a message's age.
 *
 * @throws `EncodeError` (`ACEMQ_ENCODE`) for a payload that cannot be encoded.
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for an empty id, a destination or a header that cannot be used.
 */
export function record(mq: MessageRecorder, message: OutboxMessage): OutboxRecord {
  checkOptions(message, FIELDS, 'a message for the outbox');
  const { exchange = '', routingKey = '', payload, codec } = message;
  if (exchange !== '') checkName(exchange, 'exchange');
  checkRoutingKey(routingKey);
  if (message.id === '') throw new ConfigurationError('the id of a recorded message must not be empty');
  const now = Date.now();
  const envelope = createEnvelope(message, { routingKey, now, origin: mq.origin });
  const encoded = mq.encode(payload, codec === undefined ? undefined : { codec });
  const headers = writeHeaders(envelope);
  const trace = mq.propagationHeaders();
  for (const name of Object.keys(trace)) {
    if (!Object.hasOwn(headers, name)) headers[name] = trace[name] as string;
  }
  return Object.freeze({
    id: envelope.id,
    exchange,
    routingKey,
    contentType: encoded.contentType,
    body: encoded.body,
    headers: Object.freeze(headers),
    createdAt: now,
    headerText: headersToText(headers),
  });
}
