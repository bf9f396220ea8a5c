import { EncodeError, type HeaderTable, type Outbound } from '@acemq/core';
import type { WireProperties } from './untyped.ts';

/**
 * Properties and headers on their way to the wire and back.
 *
 * amqplib reads a nested object with an own key `!` as a typed value (`{ '!': 'timestamp', value: 0 }`), and
 * gives one for what JavaScript has no type for. Here that notation never leaves the adapter: a timestamp is
 * a `Date` on both sides, and a table in which a sender wrote a key `!` stays a table. A decimal, which no
 * type of the port can hold, goes through as amqplib gives it, so that a copy of a message keeps it.
 */

const NO_HEADERS: Readonly<Record<string, unknown>> = Object.freeze(Object.create(null));

/** Deeper than any real header. What is nested deeper is handed over as amqplib decoded it. */
const DEEPEST = 64;

const LARGEST_DIGITS = 0xffff_ffff;

/** The largest magnitude of seconds that a `Date` can hold. */
const LAST_SECOND = 8.64e12;

/** A body as amqplib needs it: the same bytes, not copied. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The properties of one message. Throws `EncodeError` for a header value that AMQP has no form for. */
export function wireProperties(message: Outbound): WireProperties {
  return {
    contentType: message.contentType === '' ? undefined : message.contentType,
    headers: wireTable(message.headers),
    deliveryMode: message.persistent ? 2 : 1,
    priority: message.priority,
    replyTo: message.replyTo === '' ? undefined : message.replyTo,
    expiration: message.expiration,
    messageId: message.messageId,
    timestamp: message.timestamp,
  };
}

/** A table for amqplib's encoder; the same object where nothing in it needs another form. */
export function wireTable(table: Readonly<HeaderTable>): object {
  return isPlain(table) ? table : encodeTable(table, '');
}

/**
 * Whether amqplib encodes every value of a table as it should without help. The case of nearly every message.
 */
function isPlain(table: Readonly<HeaderTable>): boolean {
  const prototype = Object.getPrototypeOf(table);
  if (prototype !== null && prototype !== Object.prototype) return false;
  for (const name in table) {
    const value = table[name];
    switch (typeof value) {
      case 'string':
      case 'boolean':
      case 'undefined':
        break;
      case 'number':
        if (!Number.isFinite(value)) return false;
        break;
      default:
        if (value !== null) return false;
    }
  }
  return true;
}

function encodeTable(table: Readonly<Record<string, unknown>>, path: string): object {
  const encoded: Record<string, unknown> = Object.create(null);
  for (const name of Object.keys(table)) {
    const value = table[name];
    if (value !== undefined) encoded[name] = encodeValue(value, path === '' ? name : `${path}.${name}`);
  }
  return encoded;
}

function encodeValue(value: unknown, path: string): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      // The broker cannot read such a double and closes the connection, with everything outstanding on it.
      if (!Number.isFinite(value))
        throw new EncodeError(`header "${path}" is ${value}: AMQP has no form for it`);
      return value;
    case 'bigint':
      return { '!': 'int64', value };
    case 'object':
      return value === null ? null : encodeObject(value, path);
    default:
      throw new EncodeError(`header "${path}" is of type ${typeof value}: AMQP has no form for it`);
  }
}

function encodeObject(value: object, path: string): unknown {
  if (value instanceof Uint8Array) return bufferOf(value);
  if (value instanceof Date) {
    const seconds = Math.floor(value.getTime() / 1000);
    if (!(seconds >= 0)) throw new EncodeError(`header "${path}" is a date before 1970 or none at all`);
    return { '!': 'timestamp', value: seconds };
  }
  if (Array.isArray(value)) return value.map((item, index) => encodeValue(item, `${path}[${index}]`));
  if (isDecimal(value)) return value;
  const table = encodeTable(value as Record<string, unknown>, path);
  // amqplib asks for an own key `!` and writes inherited ones, so that through a prototype a table stays a
  // table.
  return Object.hasOwn(table, '!') ? Object.create(table) : table;
}

/** Headers as they came, with timestamps as dates. */
export function readTable(headers: Record<string, unknown> | undefined): Readonly<Record<string, unknown>> {
  if (headers === undefined) return NO_HEADERS;
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array))
      return decodeTable(headers, 0);
  }
  return headers;
}

function decodeTable(table: object, depth: number): Record<string, unknown> {
  const decoded: Record<string, unknown> = Object.create(null);
  for (const name of Object.keys(table)) {
    decoded[name] = decodeValue((table as Record<string, unknown>)[name], depth + 1);
  }
  return decoded;
}

function decodeValue(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || depth > DEEPEST)
    return value;
  if (Array.isArray(value)) return value.map((item) => decodeValue(item, depth + 1));
  if (isTimestamp(value)) return new Date(value.value * 1000);
  return isDecimal(value) ? value : decodeTable(value, depth);
}

function isTimestamp(value: object): value is { readonly value: number } {
  if (!isTyped(value, 'timestamp')) return false;
  const seconds = value.value;
  return typeof seconds === 'number' && seconds >= 0 && seconds <= LAST_SECOND;
}

function isDecimal(value: object): boolean {
  if (!isTyped(value, 'decimal')) return false;
  const decimal = value.value;
  if (typeof decimal !== 'object' || decimal === null) return false;
  const { places, digits } = decimal as { readonly places?: unknown; readonly digits?: unknown };
  return isWhole(places, 255) && isWhole(digits, LARGEST_DIGITS);
}

function isTyped(value: object, type: string): value is { readonly value: unknown } {
  return (
    Object.hasOwn(value, '!') && Object.hasOwn(value, 'value') && (value as { '!': unknown })['!'] === type
  );
}

function isWhole(value: unknown, largest: number): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= largest;
}
