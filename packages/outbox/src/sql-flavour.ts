import type { Dialect, SqlPart, SqlText, Statement, TransactionOptions } from '@acemq/sql';
import type { OutboxTables } from './sql-tables.ts';

/** What the statements of the outbox say differently in one kind of database. */
export interface SqlFlavour {
  readonly dialect: Dialect;
  /** The file of the last migration, for an error that asks for it. */
  readonly migration: string;
  /** The folder of the migrations. */
  readonly folder: URL;
  /** The table with the index that it is to be searched with, where the database must be told. */
  records(tables: OutboxTables, index: 'owed' | 'published' | 'retired' | 'seq'): SqlPart;
  /** How `lease` is isolated, where the database must be told. */
  readonly isolation?: TransactionOptions['isolation'];
  /** A condition: the lane is in the mask. */
  inLanes(mask: bigint): Statement;
  /** A condition: the column is, or is not, one of these numbers, of which there is one at least. */
  among(column: SqlText, numbers: readonly number[]): Statement;
  notAmong(column: SqlText, numbers: readonly number[]): Statement;
  /** What follows an insert so that a row with this key stays as it is. */
  readonly keepFirst: Statement;
  /** Writes a row, or what differs of it where its key is there. */
  upsert(table: SqlPart, columns: string, values: Statement, key: string, changes: Statement): Statement;
  /** Takes up to `count` lanes that nobody has. */
  takeLanes(tables: OutboxTables, relay: string, until: Statement, count: number): Statement;
}

/** Names of columns, which are constants of this package. */
export function constant(text: string): Statement {
  return { strings: [text], values: [] };
}
