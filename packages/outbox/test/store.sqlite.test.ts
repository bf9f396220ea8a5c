import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SqliteHandle, SqliteTransaction } from '@acemq/sql/sqlite';
import type Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { record } from '../src/record.ts';
import { SqliteOutboxStore } from '../src/sqlite.ts';
import { recorder } from './recorder.ts';
import { storeSuite } from './store-suite.ts';

/** Within the tests, since it may not be there. */
async function driver(): Promise<typeof Database> {
  return (await import('better-sqlite3')).default;
}

/** A file of its own, with the store's connection and the application's. */
async function onFile(maxBody = 1000): Promise<{ store: SqliteOutboxStore; application: Database.Database }> {
  const Database = await driver();
  const folder = await mkdtemp(join(tmpdir(), 'acemq-outbox-'));
  const path = join(folder, 'shop.db');
  const store = await SqliteOutboxStore.open(path, { maxBody });
  await store.migrate();
  const application = new Database(path, { timeout: 5000 });
  onTestFinished(async () => {
    application.close();
    await store.close();
    await rm(folder, { recursive: true });
  });
  return { store, application };
}

storeSuite<SqliteTransaction, SqliteHandle>(async () => {
  const { store, application } = await onFile();
  return {
    store,
    inTransaction: async (work, end = 'commit') => {
      application.exec('begin immediate');
      try {
        await work(application);
        application.exec(end);
      } catch (error) {
        application.exec('rollback');
        throw error;
      }
    },
    age: async (ms) => {
      application.prepare('update acemq_outbox set published_at = published_at - ?').run(ms);
      application.prepare('update acemq_outbox_lanes set held_until = held_until - ?').run(ms);
      application.prepare('update acemq_outbox_relays set alive_until = alive_until - ?').run(ms);
    },
  };
});

describe('a store for SQLite', () => {
  test('adds inside a synchronous transaction', async () => {
    const { store, application } = await onFile();
    const add = application.transaction((id: string, fails: boolean) => {
      store.addSync(record(recorder(), { id, routingKey: 'x', payload: 1 }), { tx: application });
      if (fails) throw new Error('mine');
    });
    add('a', false);
    expect(() => add('b', true)).toThrow('mine');
    const keys = await store.owed({ after: 0, lanes: -1n, limit: 10 });
    expect(await store.fetch(keys.map(({ seq }) => seq))).toMatchObject([{ id: 'a' }]);
  });

  test('refuses a connection on which no transaction is open', async () => {
    const { store, application } = await onFile();
    const one = record(recorder(), { routingKey: 'x', payload: 1 });
    expect(() => store.addSync(one, { tx: application })).toThrow(/no transaction is open/);
    await expect(store.add(one, { tx: application })).rejects.toThrow(/no transaction is open/);
  });

  test('refuses a database that is not in WAL mode', async () => {
    const Database = await driver();
    const folder = await mkdtemp(join(tmpdir(), 'acemq-outbox-'));
    const handle = new Database(join(folder, 'x.db'));
    onTestFinished(async () => {
      handle.close();
      await rm(folder, { recursive: true });
    });
    expect(() => SqliteOutboxStore.over(handle)).toThrow(/WAL mode/);
  });
});
