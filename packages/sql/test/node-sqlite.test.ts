import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runWithinSync, sql } from '../src/index.ts';
import { type SqliteHandle, sqlite, sqliteDatabase, sqliteExecutor } from '../src/sqlite.ts';
import { databaseSuite } from './database-suite.ts';

/** Node has it from 22 on. */
const builtin = process.getBuiltinModule('node:sqlite') as
  | { readonly DatabaseSync: new (path: string) => SqliteHandle }
  | undefined;

describe.skipIf(builtin === undefined)('node:sqlite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'acemq-sql-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function opened(): SqliteHandle {
    if (builtin === undefined) throw new Error('this Node has no node:sqlite');
    const handle = new builtin.DatabaseSync(join(folder, 'one.db'));
    handle.exec('pragma busy_timeout = 5000; pragma journal_mode = wal');
    return handle;
  }

  databaseSuite({
    dialect: sqlite,
    bytes: 'blob',
    flag: 'integer',
    bare: sqliteExecutor,
    open: async () => {
      const handle = opened();
      return { database: sqliteDatabase(handle), close: async () => void handle.close() };
    },
  });

  it('a database in which no transaction is open is refused, where Node says so', () => {
    const handle = opened();
    handle.exec('create table t (id integer primary key)');
    const write = sql`insert into t values (${1})`;
    if (handle.isTransaction !== undefined) {
      expect(() => runWithinSync(sqliteExecutor(handle), write)).toThrow('no transaction is open');
    }
    handle.exec('begin');
    expect(runWithinSync(sqliteExecutor(handle), write).affected).toBe(1);
    handle.exec('commit');
    handle.close();
  });
});
