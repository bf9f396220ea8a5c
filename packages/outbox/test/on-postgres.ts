import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, onTestFinished } from 'vitest';
import { type PgOutboxOptions, PgOutboxStore } from '../src/pg.ts';

let shared: pg.Pool | undefined;

/** The pool of a test file. */
export function pool(): pg.Pool {
  if (shared === undefined) {
    const made = new pg.Pool({ connectionString: process.env['POSTGRES_URL'], max: 12 });
    made.on('error', () => {});
    shared = made;
  }
  return shared;
}

afterAll(async () => {
  await shared?.end();
  shared = undefined;
});

/** A table name of a test's own; its tables are dropped when the test ends. */
export function tableName(): string {
  const table = `o_${randomUUID().replaceAll('-', '').slice(0, 12)}`;
  onTestFinished(async () => {
    const tables = ['', '_lanes', '_relays', '_rests', '_migrations'].map((suffix) => table + suffix);
    await pool().query(`drop table if exists ${tables.join(', ')}`);
  });
  return table;
}

/** A store on tables of its own. */
export async function onPostgres(
  options: PgOutboxOptions = {},
): Promise<{ store: PgOutboxStore<pg.Pool>; table: string }> {
  const table = options.table ?? tableName();
  const store = new PgOutboxStore(pool(), { ...options, table });
  await store.migrate();
  return { store, table };
}

/** Runs `work` on a client between BEGIN and COMMIT or ROLLBACK. */
export async function inTransaction(
  work: (tx: pg.PoolClient) => Promise<unknown>,
  end: 'commit' | 'rollback' = 'commit',
): Promise<void> {
  const client = await pool().connect();
  try {
    await client.query('begin');
    await work(client);
    await client.query(end);
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}
