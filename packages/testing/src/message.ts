import { checkMessage, type Outbound } from '@acemq/core';
import { preconditionFailed } from './refusals.ts';
import { checkTableSize, type WireTable, wireTable } from './wire-table.ts';

/** A message as the broker holds it. One object for all queues that it is in; nobody changes it. */
export interface HeldMessage {
  readonly exchange: string;
  /** The key it was published with, then those of its `CC` and `BCC` headers. */
  readonly routingKeys: readonly [string, ...string[]];
  readonly body: Uint8Array;
  readonly contentType: string | undefined;
  readonly messageId: string | undefined;
  readonly replyTo: string | undefined;
  readonly headers: WireTable;
  readonly persistent: boolean;
  readonly timestamp: number | undefined;
  readonly priority: number | undefined;
  readonly expiration: string | undefined;
}

/** RabbitMQ's ceiling for a time to live: ten years. */
export const LONGEST_TTL = 315_360_000_000;

/**
 * What a publish writes: the body copied once, so that the caller may use its bytes again, and the headers in
 * the types that the wire gives them. Throws `EncodeError` for what cannot be encoded.
 */
export function written(exchange: string, routingKey: string, message: Outbound): HeldMessage {
  checkMessage(exchange, routingKey, message);
  const headers = wireTable(message.headers);
  checkTableSize(headers, 'headers');
  return {
    exchange,
    routingKeys: [routingKey],
    body: Buffer.from(message.body),
    contentType: message.contentType === '' ? undefined : message.contentType,
    messageId: message.messageId,
    replyTo: message.replyTo === '' ? undefined : message.replyTo,
    headers,
    persistent: message.persistent,
    timestamp: message.timestamp,
    priority: message.priority,
    expiration: message.expiration,
  };
}

/**
 * What the broker makes of a publish before it routes it: `CC` and `BCC` add routing keys, and `BCC` is taken
 * off. Throws the refusal that closes the channel.
 */
export function accepted(message: HeldMessage): HeldMessage {
  if (message.expiration !== undefined) checkExpiration(message.expiration);
  const { headers } = message;
  const cc = Object.hasOwn(headers, 'CC');
  const bcc = Object.hasOwn(headers, 'BCC');
  if (!cc && !bcc) return message;
  const routingKeys: [string, ...string[]] = [
    ...message.routingKeys,
    ...routesOf(headers, 'CC'),
    ...routesOf(headers, 'BCC'),
  ];
  if (!bcc) return { ...message, routingKeys };
  const { BCC: _, ...left } = headers;
  return { ...message, routingKeys, headers: left };
}

/** The routing keys in a `CC` or `BCC` header. */
export function routesOf(headers: WireTable, name: 'CC' | 'BCC'): string[] {
  if (!Object.hasOwn(headers, name)) return [];
  const routes = headers[name];
  if (!Array.isArray(routes)) {
    throw preconditionFailed(`invalid message: {unacceptable_type_in_header,"${name}",${wireType(routes)}}`);
  }
  return routes.filter((route): route is string => typeof route === 'string');
}

/** No client writes one that is no number. */
function checkExpiration(expiration: string): void {
  if (Number(expiration) <= LONGEST_TTL) return;
  throw preconditionFailed(`invalid expiration '${expiration}': {value_too_large,${BigInt(expiration)}}`);
}

/** RabbitMQ's name for the type that a value of a table has on the wire. */
export function wireType(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return 'longstr';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'long';
    case 'number':
      return numberType(value);
    default:
      if (value === null) return 'void';
      if (Array.isArray(value)) return 'array';
      if (value instanceof Uint8Array) return 'binary';
      if (value instanceof Date) return 'timestamp';
      return 'table';
  }
}

/** amqplib writes an integer in the narrowest signed type that holds it. */
function numberType(value: number): string {
  if (!Number.isInteger(value)) return 'double';
  if (value >= -0x80 && value < 0x80) return 'byte';
  if (value >= -0x8000 && value < 0x8000) return 'short';
  if (value >= -0x80000000 && value < 0x80000000) return 'signedint';
  return 'long';
}
