import { ConfigurationError } from './errors.ts';
import { shown } from './shown.ts';

/** A value that a header, or an argument of a declaration, may have. */
export type HeaderValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | Uint8Array
  | Date
  | readonly HeaderValue[]
  | { readonly [name: string]: HeaderValue };

/** Headers or arguments by name. */
export interface HeaderTable {
  [name: string]: HeaderValue;
}

/**
 * Every header of the library itself starts with this; no application may write one, and no handler sees one.
 */
export const RESERVED_PREFIX = 'x-acemq-';

/** Who the message is, through every retry: text. */
export const HEADER_ID = 'x-acemq-id';
/** What kind of message it is: text. */
export const HEADER_TYPE = 'x-acemq-type';
/** The version of its payload's shape, from 1: an integer. */
export const HEADER_VERSION = 'x-acemq-version';
/** The flow that it belongs to: text. */
export const HEADER_CORRELATION = 'x-acemq-correlation';
/** The id of the message that brought it about: text. */
export const HEADER_CAUSATION = 'x-acemq-causation';
/** Which delivery this is, from 1: an integer. */
export const HEADER_ATTEMPT = 'x-acemq-attempt';
/** When it was first published, in milliseconds since the epoch: an integer. */
export const HEADER_FIRST_SEEN = 'x-acemq-first-seen';
/** Who published it, `service@host`: text. */
export const HEADER_ORIGIN = 'x-acemq-origin';
/** Why it was set aside: text. */
export const HEADER_ERROR = 'x-acemq-error';
/** Where its payload is kept, when it is not in the message: text. */
export const HEADER_CLAIM = 'x-acemq-claim';
/** The steps of its pipeline, joined by commas: text. */
export const HEADER_ROUTE = 'x-acemq-route';
/** Which step of the pipeline it is for, from 0: an integer. */
export const HEADER_ROUTE_POSITION = 'x-acemq-route-position';
/** The run of the pipeline that it belongs to: text. */
export const HEADER_ROUTE_ID = 'x-acemq-route-id';

/** The queue that a message was replayed out of: text. An application's header to the envelope. */
export const HEADER_REPLAYED_FROM = 'acemq-replayed-from';
/** When it was last replayed: RFC 3339 text, or milliseconds since the epoch from older writers. */
export const HEADER_REPLAYED_AT = 'acemq-replayed-at';
/** How often it was replayed: an integer. */
export const HEADER_REPLAY_COUNT = 'acemq-replay-count';
/** Where a reply to it belongs: text, beside the AMQP property. */
export const HEADER_REPLY_TO = 'acemq-reply-to';
/** Why a request could not be answered, on the reply: `TypeName: message`, text. */
export const HEADER_REPLY_ERROR = 'acemq-error';
/** The itinerary of a message that carries its own: JSON text. */
export const HEADER_ROUTING_SLIP = 'acemq-routing-slip';

/**
 * Whether a header belongs to the library. Told by the prefix, so that names of later versions are known too.
 */
export function isReservedHeader(name: string): boolean {
  return name.startsWith(RESERVED_PREFIX);
}

const decoder = new TextDecoder();

/**
 * Not `instanceof`: a nested table whose header `__proto__` holds bytes inherits from them once it is
 * decoded, and to read it as bytes throws.
 */
function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value);
}

/**
 * The text of a value as it came over the wire, or `undefined` for anything that is no text, and for empty
 * text. Bytes are read as UTF-8 (other clients write long strings so), and an integer as its digits.
 */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  if (isBytes(value)) return textOf(decoder.decode(value));
  return undefined;
}

const INTEGER = /^[+-]?\d{1,16}$/;

/**
 * The whole number of a value as it came over the wire: a number, a bigint, digits as text or as bytes.
 * `undefined` for anything else, and for what a number cannot hold exactly.
 */
export function countOf(value: unknown): number | undefined {
  let count: unknown = value;
  if (typeof value === 'bigint') count = Number(value);
  else if (typeof value === 'string') count = parseCount(value);
  else if (isBytes(value)) count = value.byteLength <= 64 ? parseCount(decoder.decode(value)) : undefined;
  return Number.isSafeInteger(count) ? (count as number) + 0 : undefined;
}

/**
 * {@link textOf} for one header of a table. Reads own keys only: a decoded table may bring a prototype of its
 * own.
 */
export function readText(headers: Readonly<Record<string, unknown>>, name: string): string | undefined {
  return Object.hasOwn(headers, name) ? textOf(headers[name]) : undefined;
}

/** {@link countOf} for one header of a table. Reads own keys only. */
export function readCount(headers: Readonly<Record<string, unknown>>, name: string): number | undefined {
  return Object.hasOwn(headers, name) ? countOf(headers[name]) : undefined;
}

/**
 * A new table without a prototype, so that a header named `__proto__` or `constructor` is a header. Not
 * `Object.create(null)`, which makes a hash table of it: engines read and copy this one several times faster.
 */
export function bareTable(): HeaderTable {
  return Object.setPrototypeOf({}, null) as HeaderTable;
}

/** A table without headers, and without a prototype. Shared, hence frozen. */
export const NO_HEADERS: Readonly<HeaderTable> = Object.freeze(bareTable());

/**
 * A frozen copy of an application's headers, without a prototype, so that no name means anything but itself.
 * Headers that are `undefined` are left out.
 *
 * @throws `ConfigurationError` when names start with {@link RESERVED_PREFIX}; it lists them, sorted.
 */
export function checkApplicationHeaders(headers: Readonly<HeaderTable>): Readonly<HeaderTable> {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) {
    throw new ConfigurationError(`headers must be an object, not ${shown(headers)}`);
  }
  let copy: HeaderTable | undefined;
  let reserved: string[] | undefined;
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value === undefined) continue;
    if (isReservedHeader(name)) {
      reserved ??= [];
      reserved.push(name);
      continue;
    }
    copy ??= bareTable();
    copy[name] = value;
  }
  if (reserved !== undefined) {
    throw new ConfigurationError(
      `headers must not start with ${RESERVED_PREFIX}, which the library keeps for itself; given: ${reserved.sort().join(', ')}`,
    );
  }
  return copy === undefined ? NO_HEADERS : Object.freeze(copy);
}

function parseCount(text: string): number | undefined {
  if (text.length > 64) return undefined;
  const trimmed = text.trim();
  return INTEGER.test(trimmed) ? Number(trimmed) : undefined;
}
