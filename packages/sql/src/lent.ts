import type { SqlExecutor } from './executor.ts';
import { sql } from './statement.ts';

/** What becomes of a connection that a pool has lent. */
export interface Lent {
  /** It must not be used again: nobody knows what state it is in. */
  spoilt: boolean;
}

/**
 * Ends a transaction whose work has failed. Where that fails too, the connection may still be inside it (a client's time-out
 * ends the wait, not the statement), so whoever borrowed it next would work in a stranger's transaction.
 */
export async function rollBack(executor: SqlExecutor, lent: Lent): Promise<void> {
  try {
    await executor.run(sql`rollback`);
  } catch {
    lent.spoilt = true; // The error of the work says more.
  }
}
