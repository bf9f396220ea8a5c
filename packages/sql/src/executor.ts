import { ConfigurationError } from '@acemq/core';
import type { DialectName } from './dialect.ts';
import type { Statement } from './statement.ts';

/** A row by the names of its columns. Read it with `integerIn` and its neighbours: drivers differ in types. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** What a statement came to. */
export interface SqlResult {
  /** Empty for a statement that returns none. */
  readonly rows: readonly SqlRow[];
  /** How many rows were written; for an update in MySQL, how many it found. 0 for a statement that only reads. */
  readonly affected: number;
}

/** All that a store asks of a transaction: to run a statement in it. It commits, opens and closes nothing. */
export interface SqlExecutor {
  /** Whose text it takes; `undefined` where the layer does not say. */
  readonly dialect?: DialectName | undefined;
  run(statement: Statement): Promise<SqlResult>;
  /**
   * Whether a transaction is open, as far as the driver says: of PostgreSQL and SQLite before a statement, of MySQL
   * after one. `undefined` where nobody knows.
   */
  inTransaction?(): boolean | undefined;
}

/** The synchronous form, which only SQLite has. */
export interface SqlSyncExecutor extends SqlExecutor {
  runSync(statement: Statement): SqlResult;
}

/** A transaction of a {@link SqlDatabase}: it runs statements, and shows the driver's own connection. */
export interface SqlTransaction<Connection = unknown> extends SqlExecutor {
  /** The driver's connection that the transaction is open on, for statements of one's own. Never commit it. */
  readonly connection: Connection;
}

/** How a transaction is opened. */
export interface TransactionOptions {
  /** The longest wait for a lock that another transaction holds. Without it the database decides. */
  readonly lockWait?: number | undefined;
  /** `read committed` where each statement must see what others have committed. Not for SQLite, which has one level. */
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable' | undefined;
}

/** Where a store that works on its own gets connections from. */
export interface SqlDatabase<Connection = unknown> {
  readonly dialect: DialectName;
  /** Runs one statement, which commits by itself. */
  run(statement: Statement): Promise<SqlResult>;
  /**
   * Opens a transaction on a connection of its own, runs `work` in it and commits. What `work` throws rolls back, and
   * is thrown on.
   */
  transaction<T>(
    work: (tx: SqlTransaction<Connection>) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>;
  /** Closes what it has opened itself, once what runs is done; a pool or a handle that it was given stays open. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const ALONE =
  'The row would be committed by itself, whatever becomes of what it belongs to. Begin a transaction on this connection first';

/**
 * Runs a statement that only makes sense within somebody's transaction.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) where the driver says that none is open. MySQL says so only
 * after the statement, so there the row is written.
 */
export async function runWithin(tx: SqlExecutor, statement: Statement): Promise<SqlResult> {
  checkWithin(tx);
  const result = await tx.run(statement);
  checkWithin(tx);
  return result;
}

/** As {@link runWithin}, for SQLite's synchronous transactions. */
export function runWithinSync(tx: SqlSyncExecutor, statement: Statement): SqlResult {
  checkWithin(tx);
  return tx.runSync(statement);
}

function checkWithin(tx: SqlExecutor): void {
  if (tx.inTransaction?.() === false) throw new ConfigurationError(`no transaction is open. ${ALONE}`);
}

/** Whether a value is an executor, from this copy of the package or another. */
export function isExecutor(value: unknown): value is SqlExecutor {
  return typeof value === 'object' && value !== null && 'run' in value && typeof value.run === 'function';
}
