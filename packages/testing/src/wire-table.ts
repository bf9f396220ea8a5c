import { EncodeError } from '@acemq/core';

/** A table as it arrives: what a client decodes from the wire, by own keys. */
export type WireTable = Record<string, unknown>;

/** AMQP writes the length of a name in one byte. */
const LONGEST_NAME = 255;
const LARGEST_INTEGER = 2n ** 63n - 1n;
const SMALLEST_INTEGER = -(2n ** 63n);
/** The largest table that a client encodes, in bytes: amqplib's limit. */
const LARGEST_TABLE = 65_536;
/** As deep as a table may nest; deeper is a circle, or nearly one. */
const DEEPEST = 100;

/**
 * What a table becomes on its way over the wire: a deep copy with the types that arrive.
 *
 * A name without a value is left out; a BigInt arrives as a number, a Date without its milliseconds, bytes as
 * a Buffer. What the wire cannot carry throws `EncodeError` (a number that is not finite: RabbitMQ ends the
 * whole connection for one).
 */
export function wireTable(table: Readonly<Record<string, unknown>>): WireTable {
  return tableAt(table, '', 0);
}

function tableAt(table: Readonly<Record<string, unknown>>, path: string, depth: number): WireTable {
  if (depth > DEEPEST) throw new EncodeError(`header ${path} nests deeper than ${DEEPEST} tables`);
  const copy: WireTable = {};
  for (const name of Object.keys(table)) {
    const value = table[name];
    if (value === undefined) continue;
    if (name.length > LONGEST_NAME / 4 && Buffer.byteLength(name) > LONGEST_NAME) {
      throw new EncodeError(`a header name is longer than ${LONGEST_NAME} bytes: ${name.slice(0, 40)}…`);
    }
    const carried = typeof value === 'string' ? value : valueAt(value, path, name, depth);
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

function valueAt(value: unknown, path: string, name: string, depth: number): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (Number.isFinite(value)) return value === 0 ? 0 : value;
      throw cannot(path, name, `the number ${value}`);
    case 'bigint':
      if (value >= SMALLEST_INTEGER && value <= LARGEST_INTEGER) return Number(value);
      throw cannot(path, name, `an integer of more than 64 bits (${value})`);
    case 'object':
      return objectAt(value, path, name, depth);
    default:
      throw cannot(path, name, `a value of type ${typeof value}`);
  }
}

function objectAt(value: object | null, path: string, name: string, depth: number): unknown {
  if (value === null) return null;
  const here = path === '' ? name : `${path}.${name}`;
  if (Array.isArray(value)) {
    if (depth > DEEPEST) throw new EncodeError(`header ${here} nests deeper than ${DEEPEST} tables`);
    return value.map((item, index) => valueAt(item, here, String(index), depth + 1));
  }
  if (value instanceof Date) {
    const seconds = Math.floor(value.getTime() / 1000);
    if (!(seconds >= 0)) throw cannot(path, name, 'a date before 1970, or none at all');
    return new Date(seconds * 1000);
  }
  if (value instanceof Uint8Array) return Buffer.from(value);
  return tableAt(value as Record<string, unknown>, here, depth + 1);
}

function cannot(path: string, name: string, what: string): EncodeError {
  return new EncodeError(`header ${path === '' ? name : `${path}.${name}`} cannot be encoded: ${what}`);
}

/** Refuses a table that is too large for the wire. Throws `EncodeError`. */
export function checkTableSize(table: WireTable): void {
  const size = sizeOfTable(table);
  if (size > LARGEST_TABLE) {
    throw new EncodeError(`the headers take ${size} bytes; the wire has room for ${LARGEST_TABLE}`);
  }
}

function sizeOfTable(table: WireTable): number {
  let size = 4;
  for (const name of Object.keys(table)) size += 1 + Buffer.byteLength(name) + sizeOfValue(table[name]);
  return size;
}

/** As AMQP writes it: one byte for the type, then the value, with four for the length of what has one. */
function sizeOfValue(value: unknown): number {
  if (typeof value === 'string') return 5 + Buffer.byteLength(value);
  if (typeof value !== 'object') return 9;
  if (value === null) return 1;
  if (value instanceof Uint8Array) return 5 + value.byteLength;
  if (value instanceof Date) return 9;
  if (Array.isArray(value)) return value.reduce((size: number, item) => size + sizeOfValue(item), 5);
  return 1 + sizeOfTable(value as WireTable);
}
