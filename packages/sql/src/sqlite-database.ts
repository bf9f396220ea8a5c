import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigurationError, shown, TimeoutError } from '@acemq/core';
import type { SqlDatabase, SqlResult, SqlTransaction, TransactionOptions } from './executor.ts';
import { failureOf } from './failure.ts';
import { textIn } from './row.ts';
import { type SqliteHandle, sqliteExecutor } from './sqlite-executor.ts';
import { type Statement, sql } from './statement.ts';

/** How long another connection's write is waited for, where the caller does not say. */
const LOCK_WAIT = 5_000;

/** Between two looks whether the lock is free. */
const LONGEST_PAUSE = 50;

/**
 * A database over a handle of `better-sqlite3` or `node:sqlite` that belongs to nobody else: what another part of the
 * program runs on the same handle would run inside whatever transaction is open. `close()` leaves the handle open.
 *
 * One transaction is open at a time, and what is asked meanwhile waits; a lock of another connection is waited for
 * without holding up the process. For that the handle's own busy time-out is set to 0.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for a file that is not in WAL mode: readers would hold up writers.
 */
export function sqliteDatabase<Handle extends SqliteHandle>(handle: Handle): SqlDatabase<Handle> {
  const given: unknown = handle;
  if (typeof given !== 'object' || given === null || !('prepare' in given)) {
    throw new ConfigurationError(
      `the database must be one of better-sqlite3 or node:sqlite, not of type ${typeof given}`,
    );
  }
  const [row = {}] = sqliteExecutor(handle).runSync(sql`pragma journal_mode`).rows;
  const mode = textIn(row, 'journal_mode');
  if (mode !== 'wal' && mode !== 'memory') {
    throw new ConfigurationError(
      `the SQLite database must be in WAL mode, not ${shown(mode)}: run "pragma journal_mode = wal" once`,
    );
  }
  return new SqliteDatabase(handle, false);
}

/**
 * Opens a file on a connection of its own, with `better-sqlite3` or else `node:sqlite`, in WAL mode. `close()` closes it.
 *
 * @param path - The file; it is made where it is not there. `:memory:` is a database that nobody else can see.
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) where neither driver is there.
 */
export async function openSqlite(path: string): Promise<SqlDatabase<SqliteHandle>> {
  const handle = await openHandle(path);
  const database = new SqliteDatabase(handle, true);
  await database.run(sql`pragma journal_mode = wal`);
  await database.run(sql`pragma synchronous = full`);
  return database;
}

class SqliteDatabase<Handle extends SqliteHandle> implements SqlDatabase<Handle> {
  readonly dialect = 'sqlite';
  readonly #handle: Handle;
  readonly #owned: boolean;
  /** Settles when nobody uses the handle any more. */
  #idle: Promise<unknown> = Promise.resolve();

  constructor(handle: Handle, owned: boolean) {
    this.#handle = handle;
    this.#owned = owned;
    handle.exec('pragma busy_timeout = 0');
  }

  run(statement: Statement): Promise<SqlResult> {
    return this.#alone(() => this.#unlocked(statement, LOCK_WAIT));
  }

  transaction<T>(
    work: (tx: SqlTransaction<Handle>) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    const executor = sqliteExecutor(this.#handle);
    const { lockWait } = options;
    return this.#alone(async () => {
      // A transaction that begins by reading may find at its first write that it must begin anew.
      await this.#unlocked(sql`begin immediate`, lockWait ?? LOCK_WAIT);
      try {
        const result = await work({
          dialect: 'sqlite',
          connection: this.#handle,
          run: (one) => executor.run(one),
          inTransaction: () => executor.inTransaction?.(),
        });
        executor.runSync(sql`commit`);
        return result;
      } catch (error) {
        rollBack(this.#handle);
        throw error;
      }
    }, lockWait);
  }

  async close(): Promise<void> {
    await this.#alone(async () => {
      if (this.#owned) this.#handle.close();
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Runs `work` when everybody who asked before is done; gives up, with a TimeoutError, where that takes longer than `wait`. */
  #alone<T>(work: () => Promise<T>, wait?: number): Promise<T> {
    let late = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const done = this.#idle.then(() => {
      clearTimeout(timer);
      return late ? undefined : work();
    }) as Promise<T>;
    this.#idle = done.catch(() => undefined); // Whoever asked is told; the next one goes on.
    if (wait === undefined) return done;
    const lateness = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        late = true;
        reject(new TimeoutError(`other transactions on this SQLite database took longer than ${wait} ms`));
      }, wait);
    });
    return Promise.race([done, lateness]);
  }

  async #unlocked(statement: Statement, lockWait: number): Promise<SqlResult> {
    const executor = sqliteExecutor(this.#handle);
    const deadline = performance.now() + lockWait;
    for (let pause = 1; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      try {
        return executor.runSync(statement);
      } catch (error) {
        if (failureOf(error) !== 'lock-timeout' || performance.now() + pause > deadline) throw error;
      }
      await sleep(pause);
    }
  }
}

function rollBack(handle: SqliteHandle): void {
  try {
    handle.exec('rollback');
  } catch {
    // SQLite rolls back by itself after some errors, and then there is nothing to roll back.
  }
}

async function openHandle(path: string): Promise<SqliteHandle> {
  let cause: unknown;
  try {
    const { default: Database } = await import('better-sqlite3');
    return new Database(path);
  } catch (error) {
    cause = error; // Not installed, or its native part could not be built.
  }
  const builtin = process.getBuiltinModule('node:sqlite') as
    | { readonly DatabaseSync: new (path: string) => SqliteHandle }
    | undefined;
  if (builtin !== undefined) return new builtin.DatabaseSync(path);
  throw new ConfigurationError(
    'SQLite needs better-sqlite3 (npm install better-sqlite3), or Node 22.5 or later',
    { cause },
  );
}
