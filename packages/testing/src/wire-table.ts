import { EncodeError, isShortText, LONGEST_NAME, shown } from '@acemq/core';

/** A table as it arrives: what a client decodes from the wire, by own keys. */
export type WireTable = Record<string, unknown>;

const LARGEST_INTEGER = 2n ** 63n - 1n;
const SMALLEST_INTEGER = -(2n ** 63n);
/** The largest table that a client encodes, in bytes: amqplib's limit. */
const LARGEST_TABLE = 65_536;
/** As deep as a table may nest; deeper is a circle, or nearly one. */
const DEEPEST = 100;
/** How much of the way to a value an error shows. */
const LONGEST_PLACE = 100;

/**
 * What a table becomes on its way over the wire: a deep copy with the types that arrive.
 *
 * A name without a value is left out; a BigInt arrives as a number, a Date without its milliseconds, bytes as
 * a Buffer. What the wire cannot carry throws `EncodeError`, naming the value after `noun` (a number that is
 * not finite: RabbitMQ ends the whole connection for one).
 */
export function wireTable(
  table: Readonly<Record<string, unknown>>,
  noun: 'header' | 'argument' = 'header',
): WireTable {
  if (typeof table !== 'object' || table === null || Array.isArray(table)) {
    throw new EncodeError(`the ${noun}s are ${shown(table)}; allowed: an object of names and values`);
  }
  return tableAt(table, `${noun} "`, 0);
}

/** The arguments of `what`, for example `declare queue "q"`, refused as a client refuses them. */
export function checkArguments(what: string, table: Readonly<Record<string, unknown>>): void {
  try {
    checkTableSize(wireTable(table, 'argument'), 'arguments');
  } catch (error) {
    if (!(error instanceof EncodeError)) throw error;
    throw new EncodeError(`${what}: ${error.message}`, { cause: error });
  }
}

function tableAt(table: Readonly<Record<string, unknown>>, prefix: string, depth: number): WireTable {
  const copy: WireTable = {};
  for (const name of Object.keys(table)) {
    const value = table[name];
    if (value === undefined) continue;
    if (!isShortText(name)) {
      const bytes = Buffer.byteLength(name);
      throw refused(prefix + name, `has a name of ${bytes} bytes; allowed: up to ${LONGEST_NAME}`);
    }
    const carried = typeof value === 'string' ? value : valueAt(value, prefix, name, depth + 1);
    if (name === '__proto__') {
      // Assigned, it would become the prototype of the copy.
      Object.defineProperty(copy, name, {
        value: carried,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    } else {
      copy[name] = carried;
    }
  }
  return copy;
}

/** The way to a value is put together only where it is needed. */
function valueAt(value: unknown, prefix: string, name: string, depth: number): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (Number.isFinite(value)) return value === 0 ? 0 : value;
      throw refused(prefix + name, `is ${value}: AMQP has no form for it`);
    case 'bigint':
      if (value >= SMALLEST_INTEGER && value <= LARGEST_INTEGER) return Number(value);
      throw refused(prefix + name, 'is an integer of more than 64 bits: AMQP has no form for it');
    case 'object':
      return value === null ? null : objectAt(value, prefix + name, depth);
    default:
      throw refused(prefix + name, `is of type ${typeof value}: AMQP has no form for it`);
  }
}

function objectAt(value: object, path: string, depth: number): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (value instanceof Date) {
    const seconds = Math.floor(value.getTime() / 1000);
    if (!(seconds >= 0)) throw refused(path, 'is a date before 1970 or none at all');
    return new Date(seconds * 1000);
  }
  if (depth > DEEPEST) throw refused(path, `is nested more than ${DEEPEST} deep, or contains itself`);
  if (!Array.isArray(value)) return tableAt(value as Record<string, unknown>, `${path}.`, depth);
  // Not `map`, which leaves the holes of a list out.
  return Array.from(value, (item, index) => valueAt(item, path, `[${index}]`, depth + 1));
}

function refused(path: string, why: string): EncodeError {
  const place = path.length > LONGEST_PLACE ? `${path.slice(0, LONGEST_PLACE)}…` : path;
  return new EncodeError(`${place}" ${why}`);
}

/** Refuses a table that is too large for the wire. Throws `EncodeError`. */
export function checkTableSize(table: WireTable, noun: 'headers' | 'arguments'): void {
  const size = sizeOfTable(table);
  if (size <= LARGEST_TABLE) return;
  throw new EncodeError(`the ${noun} take ${size} bytes; allowed: up to ${LARGEST_TABLE}`);
}

function sizeOfTable(table: WireTable): number {
  let size = 4;
  for (const name of Object.keys(table)) size += 1 + Buffer.byteLength(name) + sizeOfValue(table[name]);
  return size;
}

/** As AMQP writes it: one byte for the type, then the value, with four for the length of what has one. */
function sizeOfValue(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return 5 + Buffer.byteLength(value);
    case 'number':
      return sizeOfNumber(value);
    case 'object':
      return value === null ? 1 : sizeOfObject(value);
    default:
      return 2;
  }
}

/** amqplib writes an integer in the narrowest signed type that holds it. */
function sizeOfNumber(value: number): number {
  if (!Number.isInteger(value)) return 9;
  if (value >= -0x80 && value < 0x80) return 2;
  if (value >= -0x8000 && value < 0x8000) return 3;
  return value >= -0x8000_0000 && value < 0x8000_0000 ? 5 : 9;
}

function sizeOfObject(value: object): number {
  if (value instanceof Uint8Array) return 5 + value.byteLength;
  if (value instanceof Date) return 9;
  if (Array.isArray(value)) return value.reduce((size: number, item) => size + sizeOfValue(item), 5);
  return 1 + sizeOfTable(value as WireTable);
}
