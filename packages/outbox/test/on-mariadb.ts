import { randomUUID } from 'node:crypto';
import mysql from 'mysql2/promise';
import { afterAll, onTestFinished } from 'vitest';
import { type MysqlOutboxOptions, MysqlOutboxStore } from '../src/mysql.ts';

let shared: mysql.Pool | undefined;

/** The pool of a test file. */
export function pool(): mysql.Pool {
  shared ??= mysql.createPool({ uri: process.env['MARIADB_URL'] ?? '', connectionLimit: 12 });
  return shared;
}

afterAll(async () => {
  await shared?.end();
  shared = undefined;
});

/** A store on tables of its own, which are dropped when the test ends. */
export async function onMariadb(
  options: MysqlOutboxOptions = {},
): Promise<{ store: MysqlOutboxStore<mysql.PoolConnection>; table: string }> {
  const table = `o_${randomUUID().replaceAll('-', '').slice(0, 12)}`;
  onTestFinished(async () => {
    const tables = ['', '_lanes', '_relays', '_rests', '_migrations'].map((suffix) => table + suffix);
    await pool().query(`drop table if exists ${tables.join(', ')}`);
  });
  const store = new MysqlOutboxStore(pool(), { ...options, table });
  await store.migrate();
  return { store, table };
}

/** Runs `work` on a connection in a transaction. */
export async function inTransaction(
  work: (tx: mysql.PoolConnection) => Promise<unknown>,
  end: 'commit' | 'rollback' = 'commit',
): Promise<void> {
  const connection = await pool().getConnection();
  try {
    await connection.beginTransaction();
    await work(connection);
    await connection[end]();
  } catch (error) {
    await connection.rollback();
    throw error;
  } finally {
    connection.release();
  }
}
