import { EncodeError, type HeaderTable, isShortText, LONGEST_NAME, type Outbound, shown } from '@acemq/core';
import type { WireProperties } from './untyped.ts';

/**
 * Properties and headers on their way to the wire and back.
 *
 * amqplib reads a nested object with an own key `!` as a typed value (`{ '!': 'timestamp', value: 0 }`), and
 * gives one for what JavaScript has no type for. Here that notation never leaves the adapter: a timestamp is
 * a `Date` on both sides, and a table in which a sender wrote a key `!` stays a table. A decimal, which no
 * type of the port can hold, goes through as amqplib gives it, so that a copy of a message keeps it. A 64-bit
 * integer beyond 2^53 does not: amqplib has rounded it to a number by the time that it is seen here.
 */

const NO_HEADERS: Readonly<Record<string, unknown>> = Object.freeze(Object.create(null));

/**
 * Deeper than any real header. What is nested deeper is not sent, since it is a circle or nearly one, and is
 * handed over as amqplib decoded it where it comes.
 */
const DEEPEST = 100;

/** How much of the way to a value an error shows. */
const LONGEST_PLACE = 100;

const SMALLEST_INTEGER = -(2n ** 63n);
const LARGEST_INTEGER = 2n ** 63n - 1n;

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

/**
 * A table for amqplib's encoder; the same object where nothing in it needs another form. Throws `EncodeError`,
 * naming the value after `noun`, for what AMQP has no form for.
 */
export function wireTable(table: Readonly<HeaderTable>, noun: 'header' | 'argument' = 'header'): object {
  if (typeof table !== 'object' || table === null || Array.isArray(table)) {
    throw new EncodeError(`the ${noun}s are ${shown(table)}; allowed: an object of names and values`);
  }
  return isPlain(table) ? table : encodeTable(table, `${noun} "`, 0);
}

/**
 * Whether amqplib encodes every value of a table as it should without help. The case of nearly every message.
 */
function isPlain(table: Readonly<HeaderTable>): boolean {
  const prototype = Object.getPrototypeOf(table);
  if (prototype !== null && prototype !== Object.prototype) return false;
  for (const name in table) {
    if (!isShortText(name)) return false;
    const value = table[name];
    switch (typeof value) {
      case 'string':
      case 'boolean':
      case 'undefined':
        break;
      case 'number':
        if (!isEncodedRight(value)) return false;
        break;
      default:
        if (value !== null) return false;
    }
  }
  return true;
}

/**
 * Whether amqplib writes this number as what it is. A fraction of 2^50 or more, and what is below the range
 * of a 64-bit integer, it takes for one, and then cannot write it.
 */
function isEncodedRight(value: number): boolean {
  return Math.abs(value) < 2 ** 50 || (Number.isInteger(value) && value >= -(2 ** 63));
}

function encodeTable(table: Readonly<Record<string, unknown>>, prefix: string, depth: number): object {
  const encoded: Record<string, unknown> = Object.create(null);
  for (const name of Object.keys(table)) {
    const value = table[name];
    if (value === undefined) continue;
    if (!isShortText(name)) {
      const bytes = Buffer.byteLength(name);
      throw refused(prefix + name, `has a name of ${bytes} bytes; allowed: up to ${LONGEST_NAME}`);
    }
    encoded[name] = encodeValue(value, prefix + name, depth + 1);
  }
  return encoded;
}

function encodeValue(value: unknown, path: string, depth: number): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      // The broker cannot read such a double and closes the connection, with everything outstanding on it.
      if (!Number.isFinite(value)) throw refused(path, `is ${value}: AMQP has no form for it`);
      return isEncodedRight(value) ? value : { '!': 'double', value };
    case 'bigint':
      if (value >= SMALLEST_INTEGER && value <= LARGEST_INTEGER) return { '!': 'int64', value };
      throw refused(path, 'is an integer of more than 64 bits: AMQP has no form for it');
    case 'object':
      return value === null ? null : encodeObject(value, path, depth);
    default:
      throw refused(path, `is of type ${typeof value}: AMQP has no form for it`);
  }
}

function encodeObject(value: object, path: string, depth: number): unknown {
  if (value instanceof Uint8Array) return bufferOf(value);
  if (value instanceof Date) {
    const seconds = Math.floor(value.getTime() / 1000);
    if (!(seconds >= 0)) throw refused(path, 'is a date before 1970 or none at all');
    return { '!': 'timestamp', value: seconds };
  }
  if (depth > DEEPEST) throw refused(path, `is nested more than ${DEEPEST} deep, or contains itself`);
  if (Array.isArray(value)) {
    // Not `map`, which leaves the holes of a list out.
    return Array.from(value, (item, index) => encodeValue(item, `${path}[${index}]`, depth + 1));
  }
  if (isDecimal(value)) return value;
  const table = encodeTable(value as Record<string, unknown>, `${path}.`, depth);
  // amqplib asks for an own key `!` and writes inherited ones, so that through a prototype a table stays a
  // table.
  return Object.hasOwn(table, '!') ? Object.create(table) : table;
}

function refused(path: string, why: string): EncodeError {
  const place = path.length > LONGEST_PLACE ? `${path.slice(0, LONGEST_PLACE)}…` : path;
  return new EncodeError(`${place}" ${why}`);
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
