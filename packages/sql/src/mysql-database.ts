import { ConfigurationError } from '@acemq/core';
import type { SqlDatabase, SqlExecutor, SqlResult, SqlTransaction, TransactionOptions } from './executor.ts';
import { failureOf } from './failure.ts';
import { isolationOf } from './isolation.ts';
import { type Lent, rollBack } from './lent.ts';
import { withLockWait } from './lock-wait.ts';
import { type MysqlConnection, mysqlExecutor } from './mysql-executor.ts';
import { type Statement, sql } from './statement.ts';

/** What is asked of a connection that a pool of `mysql2/promise` hands out. */
export interface MysqlPoolConnection extends MysqlConnection {
  release(): void;
  destroy(): void;
}

/** What is asked of a pool of `mysql2/promise`. */
export interface MysqlPool<Connection extends MysqlPoolConnection = MysqlPoolConnection> {
  getConnection(): Promise<Connection>;
}

/** A pool of `mysql2` with callbacks; its `promise()` is used. */
export interface MysqlCallbackPool<Connection extends MysqlPoolConnection = MysqlPoolConnection> {
  promise(): MysqlPool<Connection>;
}

/**
 * A database over a pool of `mysql2`. The pool stays the caller's: `close()` leaves it open.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for what is no pool.
 */
export function mysqlDatabase<Connection extends MysqlPoolConnection>(
  pool: MysqlPool<Connection> | MysqlCallbackPool<Connection>,
): SqlDatabase<Connection> {
  const given: unknown = pool;
  if (typeof given !== 'object' || given === null || !('getConnection' in given)) {
    // The value itself may be a URL with a password in it.
    throw new ConfigurationError(`the database must be a pool of mysql2, not of type ${typeof given}`);
  }
  return new MysqlDatabase('promise' in pool ? pool.promise() : pool);
}

class MysqlDatabase<Connection extends MysqlPoolConnection> implements SqlDatabase<Connection> {
  readonly dialect = 'mysql';
  readonly #pool: MysqlPool<Connection>;

  constructor(pool: MysqlPool<Connection>) {
    this.#pool = pool;
  }

  run(statement: Statement): Promise<SqlResult> {
    return this.#lent((_connection, executor) => executor.run(statement));
  }

  transaction<T>(
    work: (tx: SqlTransaction<Connection>) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    return this.#lent(async (connection, executor, lent) => {
      if (options.isolation !== undefined) await executor.run(sql`set transaction${isolationOf(options)}`);
      const transaction = async (): Promise<T> => {
        await executor.run(sql`start transaction`);
        const result = await work({ dialect: 'mysql', connection, run: (one) => executor.run(one) });
        await executor.run(sql`commit`);
        return result;
      };
      const { lockWait } = options;
      try {
        return await (lockWait === undefined
          ? transaction()
          : withLockWait(executor, 'mysql', lockWait, transaction));
      } catch (error) {
        await rollBack(executor, lent);
        throw error;
      }
    });
  }

  async close(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}

  async #lent<T>(
    work: (connection: Connection, executor: SqlExecutor, lent: Lent) => Promise<T>,
  ): Promise<T> {
    const connection = await this.#pool.getConnection();
    const lent: Lent = { spoilt: false };
    try {
      return await work(connection, mysqlExecutor(connection), lent);
    } catch (error) {
      lent.spoilt ||= failureOf(error) === 'unavailable';
      throw error;
    } finally {
      if (lent.spoilt) connection.destroy();
      else connection.release();
    }
  }
}
