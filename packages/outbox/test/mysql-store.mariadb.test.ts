import type { MysqlTransaction } from '@acemq/sql/mysql';
import type mysql from 'mysql2/promise';
import { describe, expect, test } from 'vitest';
import { MysqlOutboxStore } from '../src/mysql.ts';
import { record } from '../src/record.ts';
import { inTransaction, onMariadb, pool } from './on-mariadb.ts';
import { recorder } from './recorder.ts';
import { storeSuite } from './store-suite.ts';

storeSuite<MysqlTransaction, mysql.PoolConnection>(async () => {
  const { store, table } = await onMariadb({ maxBody: 1000 });
  return {
    store,
    inTransaction: (work, end) => inTransaction(work, end),
    age: async (ms) => {
      await pool().query(`update ${table} set published_at = published_at - ?`, [ms]);
      await pool().query(`update ${table}_lanes set held_until = held_until - ?`, [ms]);
      await pool().query(`update ${table}_relays set alive_until = alive_until - ?`, [ms]);
    },
  };
});

describe('a store for MySQL', () => {
  test('refuses a body that the server would not take, before a byte of it is sent', async () => {
    const [rows] = await pool().query('select @@max_allowed_packet as n');
    const packet = Number((rows as { n: number }[])[0]?.n);
    const { store } = await onMariadb({ maxBody: packet * 2 });
    const large = record(recorder(), { routingKey: 'x', payload: new Uint8Array(packet) });
    const fits = record(recorder(), { routingKey: 'x', payload: new Uint8Array(packet - 20_000) });
    await inTransaction(async (tx) => {
      await expect(store.add(large, { tx })).rejects.toThrow(/max_allowed_packet is \d+/);
      await store.add(fits, { tx });
    });
    expect(await store.pendingCount()).toBe(1);
  });

  test('refuses a pool', async () => {
    const { store } = await onMariadb();
    const one = record(recorder(), { routingKey: 'x', payload: 1 });
    await expect(store.add(one, { tx: pool() as never })).rejects.toThrow(/tx is a pool of mysql2/);
  });

  test('says which migration is missing', async () => {
    const store = new MysqlOutboxStore(pool(), { table: 'not_there' });
    await expect(store.pendingCount()).rejects.toThrow(/@acemq\/outbox\/sql\/mysql\/001_outbox.sql/);
  });
});
