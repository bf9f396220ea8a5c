import { EncodeError } from '@acemq/core';
import type { WireProperties } from './untyped.ts';

/** The most bytes that the properties other than the headers, and the frame around them, can take. */
const BESIDE_HEADERS = 22 + 4 * 256 + 2 + 8;

/** The largest table that amqplib encodes, in bytes. It refuses a larger one by itself. */
const LARGEST_TABLE = 65_536;

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
    `the headers take ${size} bytes; the frames of ${frameMax} bytes agreed with the broker leave ${limit}`,
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

function sizeOfValue(value: unknown): number {
  if (typeof value === 'string') return 5 + Buffer.byteLength(value);
  if (typeof value !== 'object') return 9;
  if (value === null) return 1;
  if (value instanceof Uint8Array) return 5 + value.byteLength;
  if (Array.isArray(value)) return value.reduce((size: number, item) => size + sizeOfValue(item), 5);
  return Object.hasOwn(value, '!') ? 9 : 1 + sizeOfTable(value);
}
