import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite, sqlite } from '@acemq/sql/sqlite';
import { afterAll } from 'vitest';
import { sqlSuite } from './sql-suite.ts';

const folder = mkdtempSync(join(tmpdir(), 'acemq-inbox-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

sqlSuite({
  dialect: sqlite,
  open: async () => {
    const database = await openSqlite(join(folder, 'inbox.db'));
    return { database, close: () => database.close() };
  },
});
