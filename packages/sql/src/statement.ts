import { ConfigurationError, shown } from '@acemq/core';

/**
 * What may be bound to a statement. A moment in time is a number of milliseconds since the epoch, in a BIGINT column:
 * what drivers make of a `Date` depends on the time zone of the process or of the session.
 */
export type SqlValue = string | number | bigint | boolean | Uint8Array | null;

/**
 * A statement as pieces and values, since no two layers agree on its text: `strings` has one piece more than `values`,
 * and a value stands between two pieces.
 */
export interface Statement {
  readonly strings: readonly string[];
  readonly values: readonly SqlValue[];
}

/** How {@link SqlText} is recognised across copies of this package: each entry point has one where modules are required. */
const SPLICED = Symbol.for('acemq.sql.text');

/** Text that is spliced into a statement as it is. Only checked names and numbers become one. */
export class SqlText {
  readonly #text: string;

  /** @internal Use a dialect's `identifier` and `table`, or {@link integer}. */
  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

Object.defineProperty(SqlText.prototype, SPLICED, { value: true });

/** What the template takes: a value to bind, checked text to splice, or a statement to splice with its values. */
export type SqlPart = SqlValue | SqlText | Statement;

/**
 * Makes a statement of a template. Values are bound; names come from a dialect.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for `undefined`, a `Date`, or any other object.
 */
export function sql(pieces: readonly string[], ...parts: readonly SqlPart[]): Statement {
  const strings: string[] = [pieces[0] ?? ''];
  const values: SqlValue[] = [];
  const text = (more: string): void => {
    strings[strings.length - 1] += more;
  };
  parts.forEach((part, index) => {
    if (isSqlText(part)) text(part.toString());
    else if (isStatement(part)) {
      text(part.strings[0] ?? '');
      values.push(...part.values);
      strings.push(...part.strings.slice(1));
    } else {
      values.push(checked(part));
      strings.push('');
    }
    text(pieces[index + 1] ?? '');
  });
  return { strings, values };
}

/**
 * Several parts with commas between them: the rows of `values`, a list after `in`.
 *
 * A driver that prepares statements keeps one for each length of list: fill a list up to few lengths.
 *
 * @throws `ConfigurationError` for an empty list, which SQL has no form for.
 */
export function commaList(parts: readonly SqlPart[]): Statement {
  if (parts.length === 0) throw new ConfigurationError('a list in a statement must not be empty');
  return sql(['', ...Array.from({ length: parts.length - 1 }, () => ', '), ''], ...parts);
}

/**
 * A whole number as text of the statement, for `limit`, where MySQL refuses a bound one.
 *
 * @throws `ConfigurationError` for anything but a safe integer.
 */
export function integer(value: number): SqlText {
  if (!Number.isSafeInteger(value)) {
    throw new ConfigurationError(`a number in a statement must be a whole number, not ${shown(value)}`);
  }
  return new SqlText(String(value));
}

/** The text of a statement, with what the driver wants where a value stands. */
export function textOf(statement: Statement, placeholder: (index: number) => string): string {
  const { strings } = statement;
  let text = strings[0] ?? '';
  for (let index = 1; index < strings.length; index += 1) text += placeholder(index) + strings[index];
  return text;
}

function isSqlText(part: SqlPart): part is SqlText {
  return typeof part === 'object' && part !== null && SPLICED in part;
}

function isStatement(part: SqlPart): part is Statement {
  return typeof part === 'object' && part !== null && 'strings' in part && 'values' in part;
}

function checked(value: unknown): SqlValue {
  switch (typeof value) {
    case 'number':
      if (Number.isFinite(value)) return value;
      throw new ConfigurationError(`a number in a statement must be finite, not ${value}`);
    case 'string':
    case 'bigint':
    case 'boolean':
      return value;
    default:
      if (value === null || value instanceof Uint8Array) return value;
      throw new ConfigurationError(
        `a value of a statement must be text, a number, a bigint, a boolean, bytes or null, not ${
          value instanceof Date ? 'a Date: give milliseconds since the epoch' : shown(value)
        }`,
      );
  }
}
