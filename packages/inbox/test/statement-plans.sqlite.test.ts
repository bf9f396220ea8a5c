import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { integer, sql, textIn } from '@acemq/sql';
import { openSqlite, sqlite } from '@acemq/sql/sqlite';
import { afterAll } from 'vitest';
import { planSuite } from './statement-plans.ts';

const folder = mkdtempSync(join(tmpdir(), 'acemq-inbox-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

planSuite({
  dialect: sqlite,
  open: async () => {
    const database = await openSqlite(join(folder, 'plans.db'));
    return { database, close: () => database.close() };
  },
  numbers: (count) =>
    sql`with recursive counted as (select 1 as n union all select n + 1 from counted where n < ${integer(count)}) select n from counted`,
  analyse: (table) => sql`analyze ${table}`,
  // better-sqlite3 does not count rows. A search goes to the rows it is about; a scan is every row of the table.
  rowsRead: async (database, statement) => {
    const { rows } = await database.run(sql`explain query plan ${statement}`);
    const scans = rows.filter((row) => textIn(row, 'detail').startsWith('SCAN'));
    return scans.length * 200_000 + rows.length - scans.length;
  },
});
