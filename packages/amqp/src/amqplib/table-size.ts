import { EncodeError, type HeaderTable } from '@acemq/core';
import { wireTable } from './properties.ts';
import type { WireProperties } from './untyped.ts';

/** The most bytes that the properties other than the headers, and the frame around them, can take. */
const BESIDE_HEADERS = 22 + 4 * 256 + 2 + 8;

/** The largest table that amqplib encodes, in bytes. It refuses a larger one by itself. */
const LARGEST_TABLE = 65_536;

/**
 * The arguments of `what`, for example `declare queue "q"`, for amqplib's encoder. Throws `EncodeError`,
 * naming the argument, for what AMQP has no form for.
 */
export function wireArguments(what: string, table: Readonly<HeaderTable>): object {
  try {
    const wire = wireTable(table, 'argument');
    checkTableSize(wire, 'arguments');
    return wire;
  } catch (error) {
    if (!(error instanceof EncodeError)) throw error;
    throw new EncodeError(`${what}: ${error.message}`, { cause: error });
  }
}

/** Refuses a table that amqplib would not encode. Throws `EncodeError`. */
export function checkTableSize(table: object, noun: 'headers' | 'arguments'): void {
  const size = sizeOfTable(table);
  if (size <= LARGEST_TABLE) return;
  throw new EncodeError(`the ${noun} take ${size} bytes; allowed: up to ${LARGEST_TABLE}`);
}

/**
 * Refuses headers that do not fit in one frame, where the broker has agreed on smaller ones than usual. AMQP
 * cannot split the frame of the properties, and the broker closes the connection over one that is too large.
 * With the usual 131072 bytes this is one comparison.
 */
export function refuseAbove(frameMax: number, properties: WireProperties): void {
  const limit = frameMax - BESIDE_HEADERS;
  if (limit >= LARGEST_TABLE) return;
  const size = sizeOfTable(properties.headers);
  if (size <= limit) return;
  throw new EncodeError(
    `the headers take ${size} bytes; allowed: up to ${limit}, which is what a frame of ${frameMax} bytes leaves`,
  );
}

function sizeOfTable(table: object): number {
  let size = 4;
  for (const name in table) {
    const value = (table as Record<string, unknown>)[name];
    if (value !== undefined) size += 1 + Buffer.byteLength(name) + sizeOfValue(value);
  }
  return size;
}

/** One byte for the type, then the value, with four for the length of what has one. */
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
  if (Array.isArray(value)) return value.reduce((size: number, item) => size + sizeOfValue(item), 5);
  return Object.hasOwn(value, '!') ? 9 : 1 + sizeOfTable(value);
}
