import { ConfigurationError } from '@acemq/core';
import { mysql } from './dialect.ts';
import { isExecutor, type SqlExecutor, type SqlResult, type SqlRow } from './executor.ts';
import { ofDialect } from './of-dialect.ts';
import { type SqlValue, type Statement, textOf } from './statement.ts';

/** What is asked of a connection of `mysql2/promise`, alone or out of a pool. */
export interface MysqlConnection {
  query(options: MysqlQuery): Promise<[unknown, unknown]>;
  execute(options: MysqlQuery, values: MysqlParameter[]): Promise<[unknown, unknown]>;
}

/** What a statement is run with: rows by the names of their columns, whatever the connection was set to. */
export interface MysqlQuery {
  readonly sql: string;
  readonly rowsAsArray: false;
  readonly nestTables: false;
}

/** What mysql2 can bind. */
export type MysqlParameter = string | number | bigint | boolean | Buffer | null;

/** A connection of `mysql2` with callbacks; its `promise()` is used. */
export interface MysqlCallbackConnection {
  promise(): MysqlConnection;
}

/**
 * What a store for MySQL and MariaDB takes as a transaction: a connection of `mysql2` on which a transaction was begun, or
 * an executor over a layer.
 */
export type MysqlTransaction = MysqlConnection | MysqlCallbackConnection | SqlExecutor;

/**
 * Runs statements on a connection of `mysql2`; an executor is given back as it is.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for a pool, which runs each statement on some connection of its
 * own, for an executor of another database, and for anything else.
 */
export function mysqlExecutor(tx: MysqlTransaction): SqlExecutor {
  const given: unknown = tx;
  if (typeof given === 'object' && given !== null) {
    if ('getConnection' in given) {
      throw new ConfigurationError(
        'tx is a pool of mysql2, which runs each statement on a connection of its own choice, so the row would be committed by itself. Give the connection that pool.getConnection() returned and on which a transaction was begun',
      );
    }
    if (isExecutor(given)) return ofDialect(given, mysql);
    if ('execute' in given && 'query' in given && 'beginTransaction' in given) {
      const promised = 'promise' in given && typeof given.promise === 'function' ? given.promise() : given;
      return new MysqlExecutor(promised as MysqlConnection);
    }
  }
  throw new ConfigurationError(
    'tx must be a connection of mysql2, forKysely(trx), forDrizzle(tx), forKnex(trx), or an object with run(statement)',
  );
}

/** Bits of what the server says about the session after each statement (MySQL protocol, status flags). */
const IN_TRANSACTION = 1;
const AUTOCOMMIT = 2;

class MysqlExecutor implements SqlExecutor {
  readonly dialect = 'mysql';
  readonly #connection: MysqlConnection;
  #inTransaction: boolean | undefined;

  constructor(connection: MysqlConnection) {
    this.#connection = connection;
  }

  async run(statement: Statement): Promise<SqlResult> {
    const query: MysqlQuery = {
      sql: textOf(statement, mysql.placeholder),
      rowsAsArray: false,
      nestTables: false,
    };
    // Values never become text: mysql2's own escaping is wrong under the mode NO_BACKSLASH_ESCAPES.
    const [result] = await (statement.values.length === 0
      ? this.#connection.query(query)
      : this.#connection.execute(query, statement.values.map(parameter)));
    if (Array.isArray(result)) return { rows: result as SqlRow[], affected: 0 };
    const { affectedRows, serverStatus } = result as {
      readonly affectedRows: number;
      readonly serverStatus?: number;
    };
    if (serverStatus !== undefined) {
      // Without autocommit any statement begins a transaction.
      this.#inTransaction = (serverStatus & IN_TRANSACTION) !== 0 || (serverStatus & AUTOCOMMIT) === 0;
    }
    return { rows: [], affected: affectedRows };
  }

  inTransaction(): boolean | undefined {
    return this.#inTransaction;
  }
}

/** mysql2 binds bytes only as a `Buffer`; this is a view of the same bytes. */
export function parameter(value: SqlValue): MysqlParameter {
  if (!(value instanceof Uint8Array)) return value;
  return Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
