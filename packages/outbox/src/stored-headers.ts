import { ConfigurationError, type HeaderTable, type HeaderValue, shown } from '@acemq/core';

/**
 * The headers as text. JSON has no bytes, no moments, no whole numbers past 2^53 and no table that could not be mistaken
 * for one of these, so each of them is written as `{"$bytes": …}`, `{"$date": …}`, `{"$int": …}` or `{"$table": …}`.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`), which names the header, for what is no plain value.
 */
export function headersToText(headers: Readonly<HeaderTable>): string {
  const table: Record<string, unknown> = Object.setPrototypeOf({}, null) as Record<string, unknown>;
  for (const name of Object.keys(headers)) {
    const value: unknown = headers[name];
    if (value !== undefined) table[name] = packed(value, name, 0);
  }
  return JSON.stringify(table);
}

/** What {@link headersToText} was given. Throws `SyntaxError` or `TypeError` for text that it has not written. */
export function headersFromText(text: string): HeaderTable {
  return unpackedTable(JSON.parse(text) as Record<string, unknown>);
}

/** Tables within tables; deeper ones are a mistake, or go round in a circle. */
const DEEPEST = 16;

function packed(value: unknown, name: string, depth: number): unknown {
  if (depth > DEEPEST) throw refused(name, `is nested more than ${DEEPEST} deep`);
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw refused(name, `is ${value}`);
      return value;
    case 'bigint':
      if (BigInt.asIntN(64, value) !== value) throw refused(name, 'takes more than 64 bits');
      return { $int: String(value) };
    case 'object':
      return value === null ? null : packedObject(value, name, depth);
    default:
      throw refused(name, `is ${shown(value)}`);
  }
}

function packedObject(value: object, name: string, depth: number): unknown {
  if (value instanceof Uint8Array) {
    return { $bytes: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') };
  }
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw refused(name, 'is no valid moment');
    return { $date: value.getTime() };
  }
  if (Array.isArray(value)) return value.map((one: unknown) => packed(one, name, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) {
    throw refused(
      name,
      `is of the class ${shown((value as { constructor?: { name?: unknown } }).constructor?.name)}`,
    );
  }
  const table: [string, unknown][] = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .map(([key, one]) => [key, packed(one, name, depth + 1)]);
  return { $table: table };
}

function refused(name: string, what: string): ConfigurationError {
  return new ConfigurationError(
    `the header ${shown(name)} ${what}; a header that is recorded must be text, a finite number, a bigint of 64 bits, a boolean, null, bytes, a Date, or lists and plain objects of these`,
  );
}

function unpackedTable(entries: Record<string, unknown>): HeaderTable {
  const table = Object.setPrototypeOf({}, null) as HeaderTable;
  for (const name of Object.keys(entries)) table[name] = unpacked(entries[name]);
  return table;
}

function unpacked(value: unknown): HeaderValue {
  if (typeof value !== 'object' || value === null) return value as HeaderValue;
  if (Array.isArray(value)) return value.map(unpacked);
  if ('$bytes' in value) return Uint8Array.from(Buffer.from(String(value.$bytes), 'base64'));
  if ('$date' in value) return new Date(Number(value.$date));
  if ('$int' in value) return BigInt(String(value.$int));
  const { $table } = value as { readonly $table: [string, unknown][] };
  return unpackedTable(Object.fromEntries($table));
}
