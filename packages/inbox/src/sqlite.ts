// A store on SQLite, through `better-sqlite3` or `node:sqlite`.
import { type SqliteHandle, sqliteDatabase } from '@acemq/sql/sqlite';
import { type SqlInbox, type SqlInboxOptions, sqlInbox } from './sql-inbox.ts';

/**
 * A store on SQLite.
 *
 * @param handle - A database of `better-sqlite3` or `node:sqlite` that belongs to the store: what another part of the program
 * ran on it would run in whatever transaction is open. It stays open at `close()`.
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for options that cannot be used, or a file that is not in WAL mode.
 */
export function sqliteInbox<Handle extends SqliteHandle>(
  handle: Handle,
  options?: SqlInboxOptions,
): SqlInbox<Handle> {
  return sqlInbox(sqliteDatabase(handle), options);
}
