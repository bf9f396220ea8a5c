import type { PgTransaction } from '@acemq/sql/pg';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PgOutboxStore } from '../src/pg.ts';
import { record } from '../src/record.ts';
import { inTransaction, onPostgres, pool, tableName } from './on-postgres.ts';
import { recorder } from './recorder.ts';
import { storeSuite } from './store-suite.ts';

storeSuite<PgTransaction, pg.PoolClient>(async () => {
  const { store, table } = await onPostgres({ maxBody: 1000 });
  return {
    store,
    inTransaction: (work, end) => inTransaction(work, end),
    age: async (ms) => {
      await pool().query(`update ${table} set published_at = published_at - $1`, [ms]);
      await pool().query(`update ${table}_lanes set held_until = held_until - $1`, [ms]);
      await pool().query(`update ${table}_relays set alive_until = alive_until - $1`, [ms]);
    },
  };
});

describe('a store for PostgreSQL', () => {
  const one = record(recorder(), { routingKey: 'orders', payload: 1 });

  test('refuses a pool, and a client without a transaction: the row would commit alone', async () => {
    const { store } = await onPostgres();
    await expect(store.add(one, { tx: pool() as never })).rejects.toThrow(/tx is a pool of pg/);
    const client = await pool().connect();
    await client.query('select 1');
    await expect(store.add(one, { tx: client })).rejects.toThrow(/no transaction is open/);
    client.release();
    expect(await store.pendingCount()).toBe(0);
  });

  test('says which migration is missing', async () => {
    const store = new PgOutboxStore(pool(), { table: tableName() });
    await expect(store.pendingCount()).rejects.toMatchObject({
      code: 'ACEMQ_CONFIGURATION',
      message: expect.stringContaining('@acemq/outbox/sql/postgres/001_outbox.sql'),
    });
    await expect(inTransaction((tx) => store.add(one, { tx }))).rejects.toThrow(/apply the migrations/);
    await expect(store.lease('a', 1000)).rejects.toThrow(/apply the migrations/);
  });

  test.each(['drop table x', 'a.b', '', 'ünique', 'x"y', 'a'.repeat(41)])(
    'refuses %j as the name of its table',
    (table) => {
      expect(() => new PgOutboxStore(pool(), { table })).toThrow(/must be a letter or underscore/);
    },
  );

  test('notifies only while a relay sleeps', async () => {
    const { store, table } = await onPostgres();
    const listener = await pool().connect();
    const told: string[] = [];
    listener.on('notification', ({ payload }) => told.push(payload ?? ''));
    await listener.query(`listen "${table}"`);
    const add = (id: string): Promise<void> =>
      inTransaction((tx) => store.add(record(recorder(), { id, routingKey: 'x', payload: 1 }), { tx }));
    await store.lease('a', 60_000);
    await add('1');
    await pool().query(`update ${table}_relays set asleep = true`);
    await add('2');
    await expect.poll(() => told).toEqual(['a']);
    await add('2'); // Written once, so nobody is woken for it.
    await pool().query(`update ${table}_relays set alive_until = 0`);
    await add('3');
    await pool().query(`select pg_notify('${table}', 'end')`);
    await expect.poll(() => told).toEqual(['a', 'end']);
    listener.release(true);
  });

  test('names those who may still commit what has its number already', async () => {
    const { store } = await onPostgres();
    expect(await store.writers()).toEqual({ running: [], unsure: false });
    const client = await pool().connect();
    await client.query('begin');
    await store.add(one, { tx: client });
    const writing = await store.writers();
    expect(writing.running).toHaveLength(1);
    await client.query('commit');
    client.release();
    expect(await store.writers()).toEqual({ running: [], unsure: false });
  });

  test('lanes are leased by several at once where the database isolates transactions as strictly as it can', async () => {
    const { table } = await onPostgres();
    const strict = new pg.Pool({
      connectionString: process.env['POSTGRES_URL'],
      max: 8,
      options: '-c default_transaction_isolation=serializable',
    });
    onTestFinished(() => strict.end());
    const store = new PgOutboxStore(strict, { table });
    const relays = Array.from({ length: 8 }, (_, index) => `relay-${index}`);
    for (let round = 0; round < 5; round++) {
      const leases = await Promise.all(relays.map((relay) => store.lease(relay, 60_000)));
      const lanes = leases.flatMap((lease) => lease.lanes);
      expect(new Set(lanes).size).toBe(lanes.length);
    }
  });
});
