// SQLite, through `better-sqlite3` or `node:sqlite`.
export { sqlite } from './dialect.ts';
export { openSqlite, sqliteDatabase } from './sqlite-database.ts';
export type { SqliteHandle, SqliteStatement, SqliteTransaction } from './sqlite-executor.ts';
export { sqliteExecutor } from './sqlite-executor.ts';
