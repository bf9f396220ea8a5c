import { ConfigurationError, checkOptions } from '@acemq/core';
import { runWithinSync, type SqlDatabase, type SqlExecutor, sql } from '@acemq/sql';
import {
  openSqlite,
  type SqliteHandle,
  type SqliteTransaction,
  sqlite,
  sqliteDatabase,
  sqliteExecutor,
} from '@acemq/sql/sqlite';
import { checkRecord, maxBodyOf } from './body-limit.ts';
import type { OutboxRecord } from './record.ts';
import { constant, type SqlFlavour } from './sql-flavour.ts';
import { SqlOutboxStore } from './sql-store.ts';
import { type TableOptions, tablesOf } from './sql-tables.ts';
import type { AddOptions, Writers } from './store.ts';

/** What a {@link SqliteOutboxStore} may be given. */
export interface SqliteOutboxOptions extends TableOptions {
  /** In bytes. Default 8 MiB. */
  readonly maxBody?: number | undefined;
}

const flavour: SqlFlavour = {
  dialect: sqlite,
  migration: '@acemq/outbox/sql/sqlite/001_outbox.sql',
  folder: new URL('../sql/sqlite/', import.meta.url),
  // Without it the planner may walk along the primary key, over everything that is published.
  records: ({ records }, index) =>
    index === 'seq' ? records : sql`${records} indexed by ${records.bare(`_${index}`)}`,
  inLanes: (mask) => sql`((${mask} >> lane) & 1) = 1`,
  among: (column, numbers) => sql`${column} in (select value from json_each(${JSON.stringify(numbers)}))`,
  notAmong: (column, numbers) =>
    sql`${column} not in (select value from json_each(${JSON.stringify(numbers)}))`,
  keepFirst: sql`on conflict (id) do nothing`,
  upsert: (table, columns, values, key, changes) =>
    sql`insert into ${table} (${constant(columns)}) values (${values})
      on conflict (${constant(key)}) do update set ${changes}`,
  takeLanes: (
    { lanes },
    relay,
    until,
    count,
  ) => sql`update ${lanes} set relay = ${relay}, held_until = ${until}
    where lane in (select lane from ${lanes} where relay <> ${relay} and held_until <= ${sqlite.now}
      order by lane limit ${count})`,
};

/**
 * An outbox in SQLite, through `better-sqlite3` or `node:sqlite`.
 *
 * The store works on a connection of its own: on the application's it would run inside whatever transaction is open there,
 * and publish what is rolled back after.
 */
export class SqliteOutboxStore extends SqlOutboxStore<SqliteTransaction, SqliteHandle> {
  /** @internal Use {@link SqliteOutboxStore.open} or {@link SqliteOutboxStore.over}. */
  private constructor(database: SqlDatabase<SqliteHandle>, options: SqliteOutboxOptions) {
    super(database, tablesOf(sqlite, options), flavour, maxBodyOf(options.maxBody));
  }

  /** Opens a file on a connection of its own, in WAL mode. `close()` closes it. */
  static async open(path: string, options: SqliteOutboxOptions = {}): Promise<SqliteOutboxStore> {
    check(options);
    return new SqliteOutboxStore(await openSqlite(path), options);
  }

  /**
   * Works on a connection that belongs to nobody else, in WAL mode. It stays open.
   *
   * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for a database in another mode.
   */
  static over(handle: SqliteHandle, options: SqliteOutboxOptions = {}): SqliteOutboxStore {
    check(options);
    return new SqliteOutboxStore(sqliteDatabase(handle), options);
  }

  /** As {@link SqliteOutboxStore.add}, inside a synchronous transaction of `better-sqlite3` or `node:sqlite`. */
  addSync(record: OutboxRecord, { tx }: AddOptions<SqliteHandle>): void {
    if (tx === undefined) {
      throw new ConfigurationError(
        'addSync needs the transaction that the record belongs to: addSync(record, { tx })',
      );
    }
    const executor = sqliteExecutor(tx);
    checkRecord(record, this.maxBody, 'maxBody');
    try {
      runWithinSync(executor, this.addStatement(record));
    } catch (error) {
      throw this.explained(error);
    }
    this.changes.tell('added');
  }

  protected override executor(tx: SqliteTransaction): SqlExecutor {
    return sqliteExecutor(tx);
  }

  /** There is one writer at a time, and it has its sequence numbers from the moment it may write. */
  override async writers(): Promise<Writers> {
    return { running: [], unsure: false };
  }
}

function check(options: SqliteOutboxOptions): void {
  checkOptions(options, ['table', 'schema', 'maxBody'], 'SqliteOutboxStore');
}
