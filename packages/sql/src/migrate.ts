import { createHash } from 'node:crypto';
import { ConfigurationError } from '@acemq/core';
import type { TableName } from './dialect.ts';
import type { SqlDatabase, SqlExecutor } from './executor.ts';
import { type Migration, migrationStatements } from './migration.ts';
import { integerIn, textIn } from './row.ts';
import { sql } from './statement.ts';

/** Whose migrations are applied. */
export interface MigrateOptions {
  /** The name that the table has in the files. */
  readonly standard: string;
  /** The table that is wanted. What was applied is kept in the table whose name goes on with `_migrations`. */
  readonly table: TableName;
}

/**
 * Applies the migrations that were not applied yet, in order. Several processes may do so at once: one works, the others
 * wait and find nothing left. PostgreSQL and SQLite apply all or none; in MySQL each statement commits by itself.
 *
 * @returns The names of those that were applied now.
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) where an applied file has changed since. Migrations that a newer
 * version has applied are left alone, so that a service can be taken back to the version before.
 */
export function migrate(
  database: SqlDatabase,
  migrations: readonly Migration[],
  options: MigrateOptions,
): Promise<readonly string[]> {
  const { table, standard } = options;
  return database.transaction(async (tx) => {
    await lock(tx, table);
    try {
      const record = table.suffixed('_migrations');
      await tx.run(sql`create table if not exists ${record} (
        number integer not null primary key,
        name varchar(255) not null,
        checksum varchar(64) not null,
        applied_at bigint not null
      )`);
      const applied = await tx.run(sql`select number, name, checksum from ${record} order by number`);
      for (const row of applied.rows) {
        checkApplied(integerIn(row, 'number'), textIn(row, 'name'), textIn(row, 'checksum'), migrations);
      }
      const due = migrations.slice(applied.rows.length);
      for (const migration of due) {
        for (const text of migrationStatements(migration, standard, table)) {
          await tx.run({ strings: [text], values: [] });
        }
        await tx.run(sql`insert into ${record} (number, name, checksum, applied_at)
          values (${migration.number}, ${migration.name}, ${migration.checksum}, ${Date.now()})`);
      }
      return due.map(({ name }) => name);
    } finally {
      await unlock(tx, table);
    }
  });
}

function checkApplied(
  number: number,
  name: string,
  checksum: string,
  migrations: readonly Migration[],
): void {
  const known = migrations[number - 1];
  if (known === undefined || (known.checksum === checksum && known.name === name)) return;
  throw new ConfigurationError(
    `the migration ${known.name} is not the one that was applied as ${name}: a released migration must not be changed`,
  );
}

/** In seconds. Longer than any migration of an empty table, shorter than an operator's patience. */
const LONGEST_WAIT = 60;

/** `create table if not exists` fails where two do it at once, so one goes first. SQLite has one writer anyway. */
async function lock(tx: SqlExecutor, table: TableName): Promise<void> {
  if (tx.dialect === 'postgres') {
    await tx.run(sql`select pg_advisory_xact_lock(hashtext(${lockName(table)}))`);
  } else if (tx.dialect === 'mysql') {
    const { rows } = await tx.run(sql`select get_lock(${lockName(table)}, ${LONGEST_WAIT}) as locked`);
    if (rows[0] === undefined || integerIn(rows[0], 'locked') !== 1) {
      throw new ConfigurationError(`another process has been migrating ${table.name} for ${LONGEST_WAIT} s`);
    }
  }
}

async function unlock(tx: SqlExecutor, table: TableName): Promise<void> {
  // PostgreSQL's lock ends with the transaction. MySQL's does not: the connection goes back to its pool.
  if (tx.dialect === 'mysql') await tx.run(sql`do release_lock(${lockName(table)})`).catch(() => undefined);
}

/** MySQL allows 64 characters. The name counts for the whole server there, and for the database in PostgreSQL. */
function lockName(table: TableName): string {
  return `acemq:${createHash('sha256').update(table.toString()).digest('hex').slice(0, 48)}`;
}
