import { ConfigurationError, shown } from '@acemq/core';
import type { SqlRow } from './executor.ts';

/** A whole number: PostgreSQL gives a BIGINT as text, others as a number or a bigint, an application may have changed either. */
export function integerIn(row: SqlRow, column: string): number {
  const value = valueIn(row, column);
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  const integer = typeof number === 'bigint' ? Number(number) : number;
  if (typeof integer === 'number' && Number.isSafeInteger(integer)) return integer;
  throw unreadable(column, 'a whole number', value);
}

/** As {@link integerIn}; `null` where the column is. */
export function integerOrNullIn(row: SqlRow, column: string): number | null {
  return valueIn(row, column) === null ? null : integerIn(row, column);
}

/** Text; a binary column of MySQL gives bytes. */
export function textIn(row: SqlRow, column: string): string {
  const value = valueIn(row, column);
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  throw unreadable(column, 'text', value);
}

/** As {@link textIn}; `null` where the column is. */
export function textOrNullIn(row: SqlRow, column: string): string | null {
  return valueIn(row, column) === null ? null : textIn(row, column);
}

/** Bytes, without a copy. */
export function bytesIn(row: SqlRow, column: string): Uint8Array {
  const value = valueIn(row, column);
  if (value instanceof Uint8Array) return value;
  throw unreadable(column, 'bytes', value);
}

/** A boolean; MySQL and SQLite have only 0 and 1. */
export function flagIn(row: SqlRow, column: string): boolean {
  const value = valueIn(row, column);
  if (typeof value === 'boolean') return value;
  return integerIn(row, column) !== 0;
}

function valueIn(row: SqlRow, column: string): unknown {
  const value = row[column];
  if (value !== undefined) return value;
  throw new ConfigurationError(
    `the database returned no column ${shown(column)}, but ${Object.keys(row).map(shown).join(', ') || 'none'}: does something rename the columns of results?`,
  );
}

function unreadable(column: string, wanted: string, value: unknown): ConfigurationError {
  return new ConfigurationError(`the column ${shown(column)} must hold ${wanted}, not ${shown(value)}`);
}
