// A store on PostgreSQL, through `pg`.
import { type PgClientOf, type PgPool, pgDatabase } from '@acemq/sql/pg';
import { type SqlInbox, type SqlInboxOptions, sqlInbox } from './sql-inbox.ts';

/**
 * A store on PostgreSQL. The pool stays the caller's.
 *
 * @param pool - Of `pg`. The transactional form holds one of its connections for each message that is being handled.
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for options that cannot be used.
 */
export function postgresInbox<Pool extends PgPool>(
  pool: Pool,
  options?: SqlInboxOptions,
): SqlInbox<PgClientOf<Pool>> {
  return sqlInbox(pgDatabase(pool), options);
}
