import { ConfigurationError } from '@acemq/core';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  failureOf,
  integer,
  integerIn,
  migrate,
  readMigrations,
  runWithin,
  type SqlExecutor,
  sql,
  withLockWait,
} from '../src/index.ts';
import { mysqlDatabase } from '../src/mysql.ts';
import { pgDatabase, pgExecutor, postgres } from '../src/pg.ts';
import { sqliteDatabase } from '../src/sqlite.ts';
import { databaseSuite, heldOpen } from './database-suite.ts';
import { deferred } from './deferred.ts';

const newPool = (options: pg.PoolConfig = {}): pg.Pool =>
  new pg.Pool({ connectionString: process.env['POSTGRES_URL'], ...options });

databaseSuite({
  dialect: postgres,
  bytes: 'bytea',
  flag: 'boolean',
  bare: pgExecutor,
  open: async () => {
    const pool = newPool();
    return { database: pgDatabase(pool), close: () => pool.end() };
  },
});

describe('PostgreSQL', () => {
  let pool: pg.Pool;
  const table = postgres.table(`t_${process.pid}_pg`);

  beforeAll(async () => {
    pool = newPool({ max: 5 });
    pool.on('error', () => undefined);
    await pgDatabase(pool).run(sql`create table ${table} (id integer not null primary key, n integer)`);
    await pgDatabase(pool).run(sql`insert into ${table} values (${1}, ${0}), (${2}, ${0})`);
  });

  afterAll(async () => {
    await pgDatabase(pool).run(sql`drop table ${table}`);
    await pool.end();
  });

  it('a pool is refused, since each statement would run on a connection of its own choice', () => {
    expect(() => pgExecutor(pool as never)).toThrow('tx is a pool of pg');
  });

  it('a client on which no transaction was begun is refused, and nothing is written', async () => {
    const client = await pool.connect();
    try {
      const write = sql`insert into ${table} values (${100}, ${0})`;
      // Before its first statement a new client does not know.
      await client.query('select 1');
      await expect(runWithin(pgExecutor(client), write)).rejects.toThrow('no transaction is open');
      expect((await pgExecutor(client).run(sql`select * from ${table} where id = ${100}`)).rows).toEqual([]);
      await client.query('begin');
      expect((await runWithin(pgExecutor(client), write)).affected).toBe(1);
      await client.query('rollback');
    } finally {
      client.release();
    }
  });

  it.each(['UTC', 'Asia/Kolkata', 'America/New_York'])("the clock is not the session's: %s", async (zone) => {
    await pgDatabase(pool).transaction(async (tx) => {
      await tx.run(sql`select set_config('timezone', ${zone}, true)`);
      const { rows } = await tx.run(sql`select ${postgres.now} as now`);
      expect(Math.abs(integerIn(rows[0] ?? {}, 'now') - Date.now())).toBeLessThan(60_000);
    });
  });

  it('a lock is waited for as long as was said', async () => {
    const database = pgDatabase(pool);
    const held = await heldOpen(database, (tx) => tx.run(sql`update ${table} set n = n + 1 where id = ${1}`));
    const error = await database
      .transaction((tx) => tx.run(sql`update ${table} set n = n + 1 where id = ${1}`), { lockWait: 50 })
      .catch((reason: unknown) => reason);
    expect(failureOf(error)).toBe('lock-timeout');
    await held.end();
  });

  it("a limit of the transaction's own counts again after a shorter one", async () => {
    const limit = async (tx: SqlExecutor): Promise<unknown> =>
      (await tx.run(sql`select current_setting('lock_timeout') as now`)).rows[0]?.['now'];
    await pgDatabase(pool).transaction(async (tx) => {
      await tx.run(sql`set local lock_timeout = ${integer(7000)}`);
      expect(await withLockWait(tx, 'postgres', 1.5, () => limit(tx))).toBe('2ms');
      expect(await limit(tx)).toBe('7s');
    });
  });

  it('a connection whose rollback failed too is not lent again, since it may still be inside the transaction', async () => {
    const impatient = newPool({ max: 1, query_timeout: 200 });
    const database = pgDatabase(impatient);
    const slow = database.transaction(async (tx) => {
      await tx.run(sql`insert into ${table} values (${300}, ${0})`);
      await tx.run(sql`select pg_sleep(3)`);
    });
    await expect(slow).rejects.toThrow('timeout');
    const { rows } = await database.run(
      sql`select now() = statement_timestamp() as alone from ${table} limit ${integer(1)}`,
    );
    expect(rows).toEqual([{ alone: true }]);
    await database.run(sql`insert into ${table} values (${301}, ${0})`);
    const seen = await pgDatabase(pool).run(sql`select id from ${table} where id >= ${300} order by id`);
    expect(seen.rows).toEqual([{ id: 301 }]);
    await impatient.end();
  });

  it.each([pgDatabase, mysqlDatabase, sqliteDatabase])(
    'a URL in the place of a pool is refused without its password',
    (open) => {
      const refused = (): unknown => (open as (pool: unknown) => unknown)('postgres://user:secret@host/db');
      expect(refused).toThrow(ConfigurationError);
      expect(refused).not.toThrow('secret');
    },
  );

  it('a deadlock and a serialization failure are conflicts', async () => {
    const database = pgDatabase(pool);
    const touch = (id: number) => sql`update ${table} set n = n + 1 where id = ${id}`;
    const { promise: both, resolve: ready } = deferred();
    let begun = 0;
    const crossing = (first: number, second: number) =>
      database.transaction(async (tx) => {
        await tx.run(touch(first));
        begun += 1;
        if (begun === 2) ready();
        await both;
        await tx.run(touch(second));
      });
    const outcomes = await Promise.allSettled([crossing(1, 2), crossing(2, 1)]);
    const reasons = outcomes.flatMap((one) => (one.status === 'rejected' ? [failureOf(one.reason)] : []));
    expect(reasons).toEqual(['conflict']);

    const stale = database.transaction(
      async (tx) => {
        await tx.run(sql`select * from ${table}`);
        await database.run(touch(1));
        await tx.run(touch(1));
      },
      { isolation: 'repeatable read' },
    );
    expect(failureOf(await stale.catch((reason: unknown) => reason))).toBe('conflict');
  });

  it('an isolation level that does not exist is refused before anything is begun', async () => {
    const begun = pgDatabase(pool).transaction(async () => 1, { isolation: 'chaos; drop table t' as never });
    await expect(begun).rejects.toThrow('isolation must be one of read committed');
  });

  it('a statement whose error was swallowed does not pass for a commit', async () => {
    const swallowed = pgDatabase(pool).transaction(async (tx) => {
      await tx.run(sql`insert into ${table} values (${50}, ${0})`);
      await tx.run(sql`insert into ${table} values (${1}, ${0})`).catch(() => undefined);
    });
    await expect(swallowed).rejects.toThrow('the transaction was rolled back');
  });

  it('a connection that is cut fails the transaction, ends no process and is not handed out again', async () => {
    const small = newPool({ max: 1 });
    small.on('error', () => undefined);
    const database = pgDatabase(small);
    const cut = database.transaction(async (tx) => {
      const { rows } = await tx.run(sql`select pg_backend_pid() as pid`);
      await pgDatabase(pool).run(
        sql`select pg_terminate_backend(${integer(integerIn(rows[0] ?? {}, 'pid'))})`,
      );
      await tx.run(sql`select pg_sleep(5)`);
    });
    expect(failureOf(await cut.catch((reason: unknown) => reason))).toBe('unavailable');
    expect((await database.run(sql`select 1 as one`)).rows).toEqual([{ one: 1 }]);
    await small.end();
  });

  it('a database that does not answer is unavailable', async () => {
    const nowhere = newPool({ connectionString: 'postgres://postgres@127.0.0.1:1/test' });
    const error = await pgDatabase(nowhere)
      .run(sql`select 1`)
      .catch((reason: unknown) => reason);
    expect(failureOf(error)).toBe('unavailable');
    await nowhere.end();
  });

  it('migrations go into a schema, where one is given', async () => {
    const schema = `s_${process.pid}_sql`;
    const database = pgDatabase(pool);
    await database.run(sql`create schema ${postgres.identifier(schema)}`);
    try {
      const inSchema = postgres.table('Thing', schema);
      const files = await readMigrations(new URL('./migrations/good/', import.meta.url));
      await migrate(database, files, { standard: 'acemq_thing', table: inSchema });
      await database.run(sql`insert into ${inSchema} values (${'a'}, ${'b'})`);
      await expect(
        migrate(database, await readMigrations(new URL('./migrations/changed/', import.meta.url)), {
          standard: 'acemq_thing',
          table: inSchema,
        }),
      ).rejects.toThrow('must not be changed');
    } finally {
      await database.run(sql`drop schema ${postgres.identifier(schema)} cascade`);
    }
  });

  it('a migration that fails leaves nothing behind', async () => {
    const database = pgDatabase(pool);
    const own = postgres.table(`t_${process.pid}_half`);
    const [first] = await readMigrations(new URL('./migrations/good/', import.meta.url));
    const broken = { number: 2, name: '002_broken.sql', text: 'create tble x;\n', checksum: 'x' };
    const migrations = first === undefined ? [] : [first, broken];
    await expect(migrate(database, migrations, { standard: 'acemq_thing', table: own })).rejects.toThrow();
    expect(failureOf(await database.run(sql`select * from ${own}`).catch((error: unknown) => error))).toBe(
      'missing',
    );
  });
});
