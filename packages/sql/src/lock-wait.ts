import type { DialectName } from './dialect.ts';
import type { SqlExecutor } from './executor.ts';
import { textIn } from './row.ts';
import { integer, type Statement, sql } from './statement.ts';

/**
 * Runs statements that wait for another transaction's lock no longer than `milliseconds`; after them the transaction's
 * own limit counts again. What waits longer fails with an error that `failureOf` calls `lock-timeout`. PostgreSQL then
 * allows nothing but a rollback.
 *
 * SQLite waits when a transaction begins, if at all, so nothing is changed there.
 */
export async function withLockWait<T>(
  tx: SqlExecutor,
  dialect: DialectName,
  milliseconds: number,
  work: () => Promise<T>,
): Promise<T> {
  if (dialect === 'sqlite') return work();
  if (dialect === 'postgres') {
    const { rows } = await tx.run(limitedInPostgres(milliseconds));
    const result = await work();
    await tx.run(sql`select set_config('lock_timeout', ${textIn(rows[0] ?? {}, 'before')}, true)`);
    return result;
  }
  await tx.run(limited(milliseconds));
  try {
    return await work();
  } finally {
    await tx.run(RESTORED).catch(() => undefined); // The work's own error says more, or the connection is dead.
  }
}

/** The inner query is read before the outer one sets anything. */
function limitedInPostgres(milliseconds: number): Statement {
  const limit = String(Math.max(1, Math.ceil(milliseconds)));
  return sql`
    select before, set_config('lock_timeout', ${limit}, true)
    from (select current_setting('lock_timeout') as before offset 0) as now`;
}

/** InnoDB counts in whole seconds, and knows no limit for one transaction, only for the session. */
function limited(milliseconds: number): Statement {
  const seconds = integer(Math.max(1, Math.ceil(milliseconds / 1000)));
  return sql`set @acemq_lock_wait = @@innodb_lock_wait_timeout, innodb_lock_wait_timeout = ${seconds}`;
}

const RESTORED = sql`set innodb_lock_wait_timeout = @acemq_lock_wait`;
