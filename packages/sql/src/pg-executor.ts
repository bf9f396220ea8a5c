import { ConfigurationError } from '@acemq/core';
import { postgres } from './dialect.ts';
import { isExecutor, type SqlExecutor, type SqlResult, type SqlRow } from './executor.ts';
import { ofDialect } from './of-dialect.ts';
import { textOf } from './statement.ts';

/** What is asked of a client of `pg`: a `Client`, or a `PoolClient` that a pool has handed out. */
export interface PgClient {
  query(config: { readonly text: string; readonly values: unknown[] }): Promise<{
    readonly rows: unknown[];
    readonly rowCount: number | null;
    readonly command: string;
  }>;
  /** `I` outside a transaction. `pg` has it since 8.17; without it nobody can tell. */
  getTransactionStatus?(): string | null;
}

/** What a store for PostgreSQL takes as a transaction: a client on which `BEGIN` was issued, or an executor over a layer. */
export type PgTransaction = PgClient | SqlExecutor;

/**
 * Runs statements on a client of `pg`; an executor is given back as it is.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for a pool, which runs each statement on some connection of its
 * own, for an executor of another database, and for anything else.
 */
export function pgExecutor(tx: PgTransaction): SqlExecutor {
  const given: unknown = tx;
  if (typeof given === 'object' && given !== null) {
    if ('totalCount' in given && 'idleCount' in given) {
      throw new ConfigurationError(
        'tx is a pool of pg, which runs each statement on a connection of its own choice, so the row would be committed by itself. Give the client that pool.connect() returned and on which BEGIN was issued',
      );
    }
    if (isExecutor(given)) return ofDialect(given, postgres);
    if ('query' in given && typeof given.query === 'function') return new PgExecutor(given as PgClient);
  }
  throw new ConfigurationError(
    'tx must be a client of pg, forKysely(trx), forDrizzle(tx), forKnex(trx), or an object with run(statement)',
  );
}

/** Statements that write; only theirs is a count of rows written. */
const WRITES = /^(INSERT|UPDATE|DELETE|MERGE)$/;

class PgExecutor implements SqlExecutor {
  readonly dialect = 'postgres';
  readonly #client: PgClient;

  constructor(client: PgClient) {
    this.#client = client;
  }

  async run(statement: Parameters<SqlExecutor['run']>[0]): Promise<SqlResult> {
    const result = await this.#client.query({
      text: textOf(statement, postgres.placeholder),
      values: [...statement.values],
    });
    return {
      rows: result.rows as SqlRow[],
      affected: WRITES.test(result.command) ? (result.rowCount ?? 0) : 0,
    };
  }

  inTransaction(): boolean | undefined {
    const status = this.#client.getTransactionStatus?.();
    return typeof status === 'string' ? status !== 'I' : undefined;
  }
}
