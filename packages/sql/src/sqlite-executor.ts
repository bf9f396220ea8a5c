import { ConfigurationError } from '@acemq/core';
import { sqlite } from './dialect.ts';
import {
  isExecutor,
  type SqlExecutor,
  type SqlResult,
  type SqlRow,
  type SqlSyncExecutor,
} from './executor.ts';
import { ofDialect } from './of-dialect.ts';
import { type SqlValue, type Statement, textOf } from './statement.ts';

/** What is asked of a prepared statement of `better-sqlite3` or `node:sqlite`. */
export interface SqliteStatement {
  all(...values: never[]): unknown[];
  run(...values: never[]): { readonly changes: number | bigint };
}

/** What is asked of a database of `better-sqlite3`, or of a `DatabaseSync` of `node:sqlite`. */
export interface SqliteHandle {
  prepare(text: string): SqliteStatement;
  exec(text: string): unknown;
  close(): unknown;
  /** better-sqlite3's name for it. */
  readonly inTransaction?: boolean;
  /** The name of `node:sqlite`, from Node 22.16 and 24. */
  readonly isTransaction?: boolean;
}

/**
 * What a store for SQLite takes as a transaction: a database of `better-sqlite3` or `node:sqlite` in which one is open, or
 * an executor over a layer.
 */
export type SqliteTransaction = SqliteHandle | SqlExecutor;

/**
 * Runs statements on a database of `better-sqlite3` or `node:sqlite`; an executor is given back as it is.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for an executor of another database, and for anything else.
 */
export function sqliteExecutor(tx: SqliteHandle): SqlSyncExecutor;
export function sqliteExecutor(tx: SqliteTransaction): SqlExecutor;
export function sqliteExecutor(tx: SqliteTransaction): SqlExecutor {
  const given: unknown = tx;
  if (typeof given === 'object' && given !== null) {
    if (isExecutor(given)) return ofDialect(given, sqlite);
    if ('prepare' in given && 'exec' in given) return new SqliteExecutor(given as SqliteHandle);
  }
  throw new ConfigurationError(
    'tx must be a database of better-sqlite3 or node:sqlite, forKysely(trx), forKnex(trx), or an object with run(statement)',
  );
}

class SqliteExecutor implements SqlSyncExecutor {
  readonly dialect = 'sqlite';
  readonly #handle: SqliteHandle;

  constructor(handle: SqliteHandle) {
    this.#handle = handle;
  }

  async run(statement: Statement): Promise<SqlResult> {
    return this.runSync(statement);
  }

  runSync(statement: Statement): SqlResult {
    const text = textOf(statement, sqlite.placeholder);
    const prepared = preparedOn(this.#handle, text);
    const values = statement.values.map(bound) as never[];
    if (!prepared.returns) return { rows: [], affected: Number(prepared.statement.run(...values).changes) };
    const rows = prepared.statement.all(...values) as SqlRow[];
    return { rows, affected: prepared.writes ? rows.length : 0 };
  }

  inTransaction(): boolean | undefined {
    return this.#handle.inTransaction ?? this.#handle.isTransaction;
  }
}

interface Prepared {
  readonly statement: SqliteStatement;
  /** Whether it gives rows. */
  readonly returns: boolean;
  readonly writes: boolean;
}

/** Statements are few and made of constant text; where they are not, the oldest go. */
const MOST_PREPARED = 100;

const preparedOf = new WeakMap<SqliteHandle, Map<string, Prepared>>();

function preparedOn(handle: SqliteHandle, text: string): Prepared {
  const prepared = preparedOf.get(handle) ?? new Map<string, Prepared>();
  preparedOf.set(handle, prepared);
  const known = prepared.get(text);
  if (known !== undefined) return known;
  for (const oldest of prepared.keys()) {
    if (prepared.size < MOST_PREPARED) break;
    prepared.delete(oldest);
  }
  const statement = handle.prepare(text);
  const made: Prepared = { statement, ...kindOf(statement, text) };
  prepared.set(text, made);
  return made;
}

function kindOf(statement: SqliteStatement, text: string): Pick<Prepared, 'returns' | 'writes'> {
  const writes = /^\s*(with\b.*\b)?(insert|update|delete|replace)\b/is.test(text);
  // better-sqlite3 says so; node:sqlite has the columns, from Node 22.16.
  if ('reader' in statement) return { returns: statement.reader === true, writes };
  if ('columns' in statement && typeof statement.columns === 'function') {
    return { returns: (statement.columns() as unknown[]).length > 0, writes };
  }
  return { returns: !writes || /\breturning\b/i.test(text), writes };
}

/** SQLite has no booleans, and both drivers would bind a whole number as a floating one. */
function bound(value: SqlValue): Exclude<SqlValue, boolean> {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
}
