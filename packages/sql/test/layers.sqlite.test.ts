import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import knexDriver, { type Knex } from 'knex';
import { Kysely, SqliteDialect } from 'kysely';
import { afterAll, describe } from 'vitest';
import type { SqlDatabase, SqlExecutor } from '../src/index.ts';
import { forKnex } from '../src/knex.ts';
import { forKysely } from '../src/kysely.ts';
import { openSqlite, sqlite, sqliteExecutor } from '../src/sqlite.ts';
import { layerSuite } from './layer-suite.ts';

const folder = mkdtempSync(join(tmpdir(), 'acemq-sql-'));
const file = join(folder, 'one.db');

// Opened by the first test, since the driver may not be there.
let opened: Promise<SqlDatabase> | undefined;
const database: Pick<SqlDatabase, 'run'> = {
  run: async (statement) => {
    opened ??= openSqlite(file);
    return (await opened).run(statement);
  },
};
const setup = {
  database: database as SqlDatabase,
  dialect: sqlite,
  bytes: 'blob',
  flag: 'integer',
  checked: sqliteExecutor as (executor: SqlExecutor) => SqlExecutor,
};

describe('kysely on SQLite', () => {
  let db: Kysely<unknown> | undefined;
  layerSuite({
    ...setup,
    transaction: async (work) => {
      const { default: Database } = await import('better-sqlite3');
      db ??= new Kysely<unknown>({ dialect: new SqliteDialect({ database: new Database(file) }) });
      return db.transaction().execute((trx) => work(forKysely(trx)));
    },
  });
  afterAll(() => db?.destroy());
});

describe('knex on SQLite', () => {
  let knex: Knex | undefined;
  layerSuite({
    ...setup,
    transaction: (work) => {
      knex ??= knexDriver({
        client: 'better-sqlite3',
        connection: { filename: file },
        useNullAsDefault: true,
      });
      return knex.transaction((trx) => work(forKnex(trx)));
    },
  });
  afterAll(() => knex?.destroy());
});

afterAll(async () => {
  await (await opened)?.close();
  rmSync(folder, { recursive: true, force: true });
});
