import { ConfigurationError } from '@acemq/core';
import type { SqlDatabase, SqlExecutor, SqlResult, SqlTransaction, TransactionOptions } from './executor.ts';
import { failureOf } from './failure.ts';
import { isolationOf } from './isolation.ts';
import { type Lent, rollBack } from './lent.ts';
import { type PgClient, pgExecutor } from './pg-executor.ts';
import { integer, type Statement, sql } from './statement.ts';

/** What is asked of a client that a pool of `pg` hands out. */
export interface PgPoolClient extends PgClient {
  /** With an error or `true`, the pool ends the connection instead of handing it out again. */
  release(destroy?: Error | boolean): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

/** What is asked of a pool of `pg`. */
export interface PgPool {
  connect(): Promise<PgPoolClient>;
}

/** What a pool hands out. The types of `pg` have a second form of `connect`, with a callback, which hides the first. */
export type PgClientOf<Pool extends PgPool> = Pool extends {
  connect: { (): Promise<infer Client extends PgPoolClient>; (callback: never): void };
}
  ? Client
  : PgPoolClient;

/**
 * A database over a pool of `pg`. The pool stays the caller's: `close()` leaves it open. Give the pool an `error`
 * listener, as `pg` asks for: without one, a connection that breaks while idle ends the process.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for what is no pool.
 */
export function pgDatabase<Pool extends PgPool>(pool: Pool): SqlDatabase<PgClientOf<Pool>> {
  const given: unknown = pool;
  if (typeof given !== 'object' || given === null || !('totalCount' in given) || !('connect' in given)) {
    // The value itself may be a URL with a password in it.
    throw new ConfigurationError(`the database must be a pool of pg, not of type ${typeof given}`);
  }
  return new PgDatabase(pool as unknown as { connect(): Promise<PgClientOf<Pool>> });
}

const SWALLOWED =
  'the transaction was rolled back: a statement in it had failed, and the error was not thrown on';

/** The query that runs fails with the same error; one that comes later is told that the connection is gone. */
function ignore(): void {}

class PgDatabase<Client extends PgPoolClient> implements SqlDatabase<Client> {
  readonly dialect = 'postgres';
  readonly #pool: { connect(): Promise<Client> };

  constructor(pool: { connect(): Promise<Client> }) {
    this.#pool = pool;
  }

  run(statement: Statement): Promise<SqlResult> {
    return this.#lent((_client, executor) => executor.run(statement));
  }

  transaction<T>(
    work: (tx: SqlTransaction<Client>) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    return this.#lent(async (client, executor, lent) => {
      await executor.run(sql`begin${isolationOf(options)}`);
      try {
        if (options.lockWait !== undefined) {
          await executor.run(sql`set local lock_timeout = ${integer(Math.max(1, options.lockWait))}`);
        }
        const result = await work({
          dialect: 'postgres',
          connection: client,
          run: (one) => executor.run(one),
        });
        // COMMIT after a statement that failed is a rollback, which PostgreSQL reports as a success.
        const ended = await client.query({ text: 'commit', values: [] });
        if (ended.command === 'ROLLBACK') throw new ConfigurationError(SWALLOWED);
        return result;
      } catch (error) {
        await rollBack(executor, lent);
        throw error;
      }
    });
  }

  async close(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}

  async #lent<T>(work: (client: Client, executor: SqlExecutor, lent: Lent) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    // A pool listens only while a client is idle; without a listener a lost connection ends the process.
    client.on('error', ignore);
    const lent: Lent = { spoilt: false };
    try {
      return await work(client, pgExecutor(client), lent);
    } catch (error) {
      lent.spoilt ||= failureOf(error) === 'unavailable';
      throw error;
    } finally {
      client.removeListener('error', ignore);
      client.release(lent.spoilt);
    }
  }
}
