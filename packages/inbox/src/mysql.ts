// A store on MySQL or MariaDB, through `mysql2`.
import {
  type MysqlCallbackPool,
  type MysqlPool,
  type MysqlPoolConnection,
  mysqlDatabase,
} from '@acemq/sql/mysql';
import { type SqlInbox, type SqlInboxOptions, sqlInbox } from './sql-inbox.ts';

/**
 * A store on MySQL or MariaDB. The pool stays the caller's.
 *
 * @param pool - Of `mysql2`, with promises or callbacks. The transactional form holds one of its connections for each
 * message that is being handled.
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for options that cannot be used.
 */
export function mysqlInbox<Connection extends MysqlPoolConnection>(
  pool: MysqlPool<Connection> | MysqlCallbackPool<Connection>,
  options?: SqlInboxOptions,
): SqlInbox<Connection> {
  return sqlInbox(mysqlDatabase(pool), options);
}
