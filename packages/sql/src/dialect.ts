import { ConfigurationError, shown } from '@acemq/core';
import { SqlText } from './statement.ts';

/** The databases that are spoken to. `mysql` is what MySQL and MariaDB have in common. */
export type DialectName = 'postgres' | 'mysql' | 'sqlite';

/** A table under its checked, quoted name. Others that belong to it are called after it. */
export class TableName extends SqlText {
  /** Without schema and quotes. */
  readonly name: string;
  /** Without quotes; `undefined` where the connection decides. */
  readonly schema: string | undefined;
  /** The quoted schema with its dot; empty where the connection decides. */
  readonly prefix: string;
  readonly #dialect: Dialect;

  /** @internal Use a dialect's `table`. */
  constructor(dialect: Dialect, name: string, schema: string | undefined) {
    const prefix = schema === undefined ? '' : `${dialect.identifier(schema)}.`;
    super(prefix + dialect.identifier(name).toString());
    this.name = name;
    this.schema = schema;
    this.prefix = prefix;
    this.#dialect = dialect;
  }

  /** The table of the same schema whose name goes on with `suffix`: `acemq_outbox` and `_lanes`. */
  suffixed(suffix: string): TableName {
    return new TableName(this.#dialect, this.name + suffix, this.schema);
  }

  /** The name of something called after the table, quoted and without schema: an index, a channel. */
  bare(suffix: string): SqlText {
    return this.#dialect.identifier(this.name + suffix);
  }
}

/** How one kind of database writes what the statements need. */
export interface Dialect {
  readonly name: DialectName;
  /** The mark for the value at `index`, counted from 1. */
  placeholder(index: number): string;
  /**
   * A checked, quoted name.
   *
   * @throws `ConfigurationError` unless it is a letter or underscore, then letters, digits and underscores, 63 in all.
   */
  identifier(name: string): SqlText;
  /**
   * A checked, quoted table name, with its schema if one is given (in MySQL that is a database).
   *
   * @throws `ConfigurationError` as {@link Dialect.identifier}; a table may have 40 characters, so that what is called
   * after it keeps within 63.
   */
  table(name: string, schema?: string): TableName;
  /**
   * Milliseconds since the epoch by the database's clock, the same within one statement. It is an expression that an
   * index can be searched with, and no session's time zone changes it.
   */
  readonly now: SqlText;
}

/** The longest name of a table that others are called after. */
export const LONGEST_TABLE_NAME = 40;

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/**
 * Refuses what is not a plain name, since it is spliced into statements.
 *
 * @param option - What the caller calls it; it is named in the error.
 */
function checkIdentifier(name: unknown, option: string, longest = 63): string {
  if (typeof name === 'string' && NAME.test(name) && name.length <= longest) return name;
  throw new ConfigurationError(
    `${option} must be a letter or underscore, then letters, digits and underscores, ${longest} in all, not ${shown(name)}`,
  );
}

function dialect(
  name: DialectName,
  quote: string,
  now: string,
  placeholder: (index: number) => string,
): Dialect {
  const made: Dialect = Object.freeze({
    name,
    placeholder,
    now: new SqlText(now),
    identifier: (given: string) => new SqlText(quote + checkIdentifier(given, 'a name') + quote),
    table: (given: string, schema?: string) =>
      new TableName(
        made,
        checkIdentifier(given, 'table', LONGEST_TABLE_NAME),
        schema === undefined ? undefined : checkIdentifier(schema, 'schema'),
      ),
  });
  return made;
}

const question = (): string => '?';

/** PostgreSQL. */
export const postgres: Dialect = dialect(
  'postgres',
  '"',
  // Not clock_timestamp(): it is volatile, and no index is searched with what is volatile.
  '(floor(extract(epoch from statement_timestamp()) * 1000)::bigint)',
  (index) => `$${index}`,
);

/** MySQL and MariaDB. */
export const mysql: Dialect = dialect(
  'mysql',
  '`',
  // Not unix_timestamp(now(3)): in the hour that a time zone has twice a year it is wrong by an hour.
  "(timestampdiff(microsecond, '1970-01-01', utc_timestamp(3)) div 1000)",
  question,
);

/** SQLite. */
export const sqlite: Dialect = dialect(
  'sqlite',
  '"',
  "cast(unixepoch('subsec') * 1000 as integer)",
  question,
);
