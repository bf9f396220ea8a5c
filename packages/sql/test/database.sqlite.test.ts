import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf, runWithin, runWithinSync, sql } from '../src/index.ts';
import { openSqlite, sqlite, sqliteDatabase, sqliteExecutor } from '../src/sqlite.ts';
import { databaseSuite, heldOpen } from './database-suite.ts';

const folder = mkdtempSync(join(tmpdir(), 'acemq-sql-'));
const file = join(folder, 'one.db');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

databaseSuite({
  dialect: sqlite,
  bytes: 'blob',
  flag: 'integer',
  bare: sqliteExecutor,
  open: async () => {
    const database = await openSqlite(file);
    return { database, close: () => database.close() };
  },
});

describe('SQLite', () => {
  // Within the tests, since it may not be there.
  let Database: typeof Sqlite;
  const own = join(folder, 'own.db');
  const table = sqlite.table('t');

  beforeAll(async () => {
    ({ default: Database } = await import('better-sqlite3'));
    const handle = new Database(own);
    handle.exec('pragma journal_mode = wal; create table t (id integer primary key, n integer)');
    handle.close();
  });

  it('a database in which no transaction is open is refused, and nothing is written', async () => {
    const handle = new Database(own);
    const write = sql`insert into ${table} values (${1}, ${0})`;
    expect(() => runWithinSync(sqliteExecutor(handle), write)).toThrow('no transaction is open');
    await expect(runWithin(sqliteExecutor(handle), write)).rejects.toThrow('no transaction is open');
    expect(handle.prepare('select * from t').all()).toEqual([]);
    handle.transaction(() => runWithinSync(sqliteExecutor(handle), write))();
    expect(handle.prepare('select * from t').all()).toEqual([{ id: 1, n: 0 }]);
    handle.exec('delete from t');
    handle.close();
  });

  it('a file that is not in WAL mode is refused, with what to do', () => {
    const handle = new Database(join(folder, 'rollback.db'));
    expect(() => sqliteDatabase(handle)).toThrow('run "pragma journal_mode = wal" once');
    handle.close();
  });

  it('one transaction is open at a time, and other statements wait for it', async () => {
    const database = await openSqlite(own);
    const held = await heldOpen(database, (tx) => tx.run(sql`insert into ${table} values (${2}, ${0})`));
    let counted = false;
    const count = database.run(sql`select * from ${table}`).then((result) => {
      counted = true;
      return result.rows.length;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(counted).toBe(false);
    await held.end();
    expect(await count).toBe(1);
    await database.run(sql`delete from ${table}`);
    await database.close();
  });

  it("another connection's transaction in the same process is waited for without holding it up", async () => {
    const [one, two] = [await openSqlite(own), await openSqlite(own)];
    const held = await heldOpen(one, (tx) => tx.run(sql`insert into ${table} values (${3}, ${0})`));
    const waiting = two.transaction((tx) => tx.run(sql`insert into ${table} values (${4}, ${0})`));
    await held.end();
    expect((await waiting).affected).toBe(1);
    await one.run(sql`delete from ${table}`);
    await one.close();
    await two.close();
  });

  it('a lock is waited for as long as was said', async () => {
    const [one, two] = [await openSqlite(own), await openSqlite(own)];
    const held = await heldOpen(one, (tx) => tx.run(sql`insert into ${table} values (${5}, ${0})`));
    const error = await two.transaction(async () => 1, { lockWait: 20 }).catch((reason: unknown) => reason);
    expect(failureOf(error)).toBe('lock-timeout');
    await held.end();
    await one.run(sql`delete from ${table}`);
    await one.close();
    await two.close();
  });

  it('rows that are returned by a write are counted as written', async () => {
    const database = await openSqlite(own);
    const result = await database.run(sql`insert into ${table} values (${6}, ${1}) returning id`);
    expect(result).toEqual({ rows: [{ id: 6 }], affected: 1 });
    await database.run(sql`delete from ${table}`);
    await database.close();
  });
});
