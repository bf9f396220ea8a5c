import { ConfigurationError, randomId, systemClock } from '@acemq/core';
import {
  type Dialect,
  explainMissing,
  integerIn,
  migrate,
  mysql,
  postgres,
  readMigrations,
  type SqlDatabase,
  type SqlExecutor,
  sqlite,
  type TableName,
  textOrNullIn,
} from '@acemq/sql';
import { Cleaning } from './cleaning.ts';
import { type CheckedTimes, checkTimes, type InboxTimes } from './inbox-options.ts';
import { type InboxStatements, inboxStatements } from './statements.ts';
import type { Claim, InboxKey, InboxStore } from './store.ts';

/** How a store on a database behaves. */
export interface SqlInboxOptions extends InboxTimes {
  /** A letter or underscore, then letters, digits and underscores, 40 in all. `acemq_inbox` by default. */
  readonly table?: string | undefined;
  /** The schema of the table (in MySQL its database). By default the connection decides. */
  readonly schema?: string | undefined;
}

/** A store on a database. */
export interface SqlInbox<Connection = unknown> extends InboxStore {
  /** Where `idempotentTransaction` opens its transactions. */
  readonly database: SqlDatabase<Connection>;
  /**
   * Claims and confirms in one, within somebody's transaction: if that commits, the message was handled, if not, it was
   * not even claimed. Waits for another transaction that has the same key, and sees what became of it.
   */
  claimWithin(tx: SqlExecutor, key: InboxKey): Promise<Claim['answer']>;
  /**
   * Whether that transaction, in which `claimWithin` answered `claimed`, is still the same and can be committed. It is not
   * after a statement that ended it: any that fails on PostgreSQL (where this rejects), one that met a deadlock on MySQL.
   */
  isClaimedWithin(tx: SqlExecutor, key: InboxKey): Promise<boolean>;
  /**
   * Makes the table, or brings it up to this version. For who has no tool of their own for that; the files are in the
   * folder `sql` of the package.
   *
   * @returns The names of the migrations that were applied now.
   */
  migrate(): Promise<readonly string[]>;
  /** Removes one batch of what is no longer kept, as the background does. Resolves to how many rows there were. */
  clean(): Promise<number>;
}

const DIALECTS: ReadonlyMap<unknown, Dialect> = new Map(
  [postgres, mysql, sqlite].map((one) => [one.name, one]),
);
const TABLE = 'acemq_inbox';
const LATEST = '001_inbox.sql';

/**
 * A store on any database of `@acemq/sql`.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for options that cannot be used.
 */
export function sqlInbox<Connection>(
  database: SqlDatabase<Connection>,
  options: SqlInboxOptions = {},
): SqlInbox<Connection> {
  const given = database as Partial<SqlDatabase> | null | undefined;
  const dialect = DIALECTS.get(given?.dialect);
  if (dialect === undefined) {
    // The value itself may be a URL with a password in it.
    throw new ConfigurationError(
      `the database of an inbox must be one of @acemq/sql, not of type ${typeof given}`,
    );
  }
  const times = checkTimes(options, ['table', 'schema'], 'an inbox');
  const table = dialect.table(options.table ?? TABLE, options.schema);
  return new DatabaseInbox(database, dialect, table, times);
}

class DatabaseInbox<Connection> implements SqlInbox<Connection> {
  readonly database: SqlDatabase<Connection>;
  readonly #dialect: Dialect;
  readonly #table: TableName;
  readonly #times: CheckedTimes;
  readonly #statements: InboxStatements;
  readonly #cleaning: Cleaning;
  /** This store's own, so that a claim needs no random number. */
  readonly #name = randomId();
  #claims = 0;

  constructor(database: SqlDatabase<Connection>, dialect: Dialect, table: TableName, times: CheckedTimes) {
    this.database = database;
    this.#dialect = dialect;
    this.#table = table;
    this.#times = times;
    this.#statements = inboxStatements(dialect, table);
    this.#cleaning = new Cleaning(() => this.clean(), times.cleanEvery, systemClock, times.logger);
  }

  async claim(key: InboxKey): Promise<Claim> {
    this.#claims += 1;
    const owner = `${this.#name}-${this.#claims}`;
    const answer = await this.#claimed(this.database, key, owner, this.#times.claimTimeout);
    return answer === 'claimed' ? { answer, owner } : { answer };
  }

  claimWithin(tx: SqlExecutor, key: InboxKey): Promise<Claim['answer']> {
    return this.#claimed(tx, key, null, this.#times.keep);
  }

  async isClaimedWithin(tx: SqlExecutor, key: InboxKey): Promise<boolean> {
    const [row] = (await tx.run(this.#statements.look(key))).rows;
    return row !== undefined && textOrNullIn(row, 'owner') === null;
  }

  async confirm(key: InboxKey, owner: string): Promise<boolean> {
    const { keep } = this.#times;
    const confirmed = await this.database.run(this.#statements.confirm(key, owner, keep));
    if (confirmed.affected > 0) return true;
    // The claim timed out. If its row was removed since, the work is still done, and known to be; else it is another's.
    return (await this.database.run(this.#statements.insert(key, null, keep))).affected > 0;
  }

  async release(key: InboxKey, owner: string): Promise<boolean> {
    return (await this.database.run(this.#statements.release(key, owner))).affected > 0;
  }

  async migrate(): Promise<readonly string[]> {
    const folder = new URL(`../sql/${this.#dialect.name}/`, import.meta.url);
    const migrations = await readMigrations(folder);
    return migrate(this.database, migrations, { standard: TABLE, table: this.#table });
  }

  async clean(): Promise<number> {
    const { clean } = this.#statements;
    return (await this.#explained(() => this.database.run(clean))).affected;
  }

  async close(): Promise<void> {
    await this.#cleaning.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #claimed(
    executor: Pick<SqlExecutor, 'run'>,
    key: InboxKey,
    owner: string | null,
    lasting: number,
  ): Promise<Claim['answer']> {
    const { insert, look, takeOver } = this.#statements;
    return this.#explained(async () => {
      if ((await executor.run(insert(key, owner, lasting))).affected > 0) return 'claimed';
      const [row] = (await executor.run(look(key))).rows;
      // Released or removed just now: another look in a while does no harm, an acceptance might lose the message.
      if (row === undefined) return 'in_progress';
      if (integerIn(row, 'expired') === 0) {
        return textOrNullIn(row, 'owner') === null ? 'duplicate' : 'in_progress';
      }
      const taken = await executor.run(takeOver(key, owner, lasting));
      return taken.affected > 0 ? 'claimed' : 'in_progress';
    });
  }

  async #explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw explainMissing(error, this.#table, `@acemq/inbox/sql/${this.#dialect.name}/${LATEST}`);
    }
  }
}
