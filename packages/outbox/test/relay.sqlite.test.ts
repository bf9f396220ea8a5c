import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SqliteHandle, SqliteTransaction } from '@acemq/sql/sqlite';
import { onTestFinished } from 'vitest';
import { SqliteOutboxStore } from '../src/sqlite.ts';
import { relaySuite } from './relay-suite.ts';

relaySuite<SqliteTransaction, SqliteHandle>(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'acemq-relay-'));
  const path = join(folder, 'shop.db');
  const open = (): Promise<SqliteOutboxStore> => SqliteOutboxStore.open(path);
  const [one, two, application] = [await open(), await open(), await open()];
  await one.migrate();
  onTestFinished(async () => {
    for (const store of [one, two, application]) await store.close();
    await rm(folder, { recursive: true });
  });
  return { stores: [one, two], inTransaction: async (work) => void (await application.transaction(work)) };
});
