// An outbox in SQLite, through `better-sqlite3` or `node:sqlite`.

export type { SqliteOutboxOptions } from './sqlite-store.ts';
export { SqliteOutboxStore } from './sqlite-store.ts';
