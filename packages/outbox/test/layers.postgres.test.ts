import { createRequire } from 'node:module';
import { forDrizzle } from '@acemq/sql/drizzle';
import { forKnex } from '@acemq/sql/knex';
import { forKysely } from '@acemq/sql/kysely';
import knex from 'knex';
import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { type OutboxRecord, record } from '../src/record.ts';
import { onPostgres, pool } from './on-postgres.ts';
import { recorder } from './recorder.ts';

// Drizzle's own declarations do not pass this workspace's checks, so none is imported.
const require = createRequire(import.meta.url);
const { drizzle } = require('drizzle-orm/node-postgres') as {
  drizzle(client: unknown): {
    execute(query: never): PromiseLike<unknown>;
    transaction<T>(
      work: (tx: { execute(query: never): PromiseLike<unknown>; rollback(): never }) => Promise<T>,
    ): Promise<T>;
  };
};

const made = (id: string): OutboxRecord =>
  record(recorder(), { id, routingKey: 'orders', payload: new Uint8Array([0, 255]) });

async function expectOnly(store: Awaited<ReturnType<typeof onPostgres>>['store']): Promise<void> {
  const keys = await store.owed({ after: 0, lanes: -1n, limit: 10 });
  const found = await store.fetch(keys.map(({ seq }) => seq));
  expect(found.map(({ id, body }) => [id, [...body]])).toEqual([['kept', [0, 255]]]);
}

test('a record is written in a transaction of kysely, with a plugin that renames columns', async () => {
  const { store } = await onPostgres();
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: pool() }),
    plugins: [new CamelCasePlugin()],
  });
  await db.transaction().execute((trx) => store.add(made('kept'), { tx: forKysely(trx) }));
  const rolledBack = db.transaction().execute(async (trx) => {
    await store.add(made('gone'), { tx: forKysely(trx) });
    throw new Error('mine');
  });
  await expect(rolledBack).rejects.toThrow('mine');
  await expectOnly(store);
});

test('a record is written in a transaction of drizzle', async () => {
  const { store } = await onPostgres();
  const db = drizzle(pool());
  await db.transaction((tx) => store.add(made('kept'), { tx: forDrizzle(tx) }));
  const rolledBack = db.transaction(async (tx) => {
    await store.add(made('gone'), { tx: forDrizzle(tx) });
    throw new Error('mine');
  });
  await expect(rolledBack).rejects.toThrow('mine');
  await expectOnly(store);
});

test('a record is written in a transaction of knex', async () => {
  const { store } = await onPostgres();
  const db = knex({ client: 'pg', connection: process.env['POSTGRES_URL'] ?? '' });
  onTestFinished(() => db.destroy());
  await db.transaction((trx) => store.add(made('kept'), { tx: forKnex(trx) }));
  const rolledBack = db.transaction(async (trx) => {
    await store.add(made('gone'), { tx: forKnex(trx) });
    throw new Error('mine');
  });
  await expect(rolledBack).rejects.toThrow('mine');
  await expectOnly(store);
});
