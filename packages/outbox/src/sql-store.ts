import { ConfigurationError } from '@acemq/core';
import {
  migrate,
  readMigrations,
  runWithin,
  type SqlDatabase,
  type SqlExecutor,
  type Statement,
  sql,
} from '@acemq/sql';
import { checkRecord } from './body-limit.ts';
import { Changes } from './changes.ts';
import { destinationHash, laneOf } from './destination-hash.ts';
import type { OutboxRecord } from './record.ts';
import type { SqlFlavour } from './sql-flavour.ts';
import { SqlLedger } from './sql-ledger.ts';
import { DEFAULT_TABLE, type OutboxTables } from './sql-tables.ts';
import type { AddOptions, OutboxChange, OutboxStore } from './store.ts';

/** An outbox in a database: what the stores have in common. */
export abstract class SqlOutboxStore<Tx, Connection>
  extends SqlLedger
  implements OutboxStore<Tx, Connection>
{
  readonly maxBody: number;
  readonly #database: SqlDatabase<Connection>;
  readonly #tables: OutboxTables;
  readonly #flavour: SqlFlavour;
  protected readonly changes: Changes = new Changes();

  protected constructor(
    database: SqlDatabase<Connection>,
    tables: OutboxTables,
    flavour: SqlFlavour,
    maxBody: number,
  ) {
    super(database, tables, flavour);
    this.#database = database;
    this.#tables = tables;
    this.#flavour = flavour;
    this.maxBody = maxBody;
  }

  /** Throws `ConfigurationError` for what is no transaction of this database. */
  protected abstract executor(tx: Tx): SqlExecutor;

  /** Refuses what the server would not take. Nothing of the record has been sent. */
  protected async checkSize(record: OutboxRecord, _executor: SqlExecutor): Promise<void> {
    checkRecord(record, this.maxBody, 'maxBody');
  }

  async add(record: OutboxRecord, options: AddOptions<Tx>): Promise<void> {
    if (typeof options !== 'object' || options === null || options.tx === undefined) {
      throw new ConfigurationError(
        'add needs the transaction that the record belongs to: add(record, { tx })',
      );
    }
    const executor = this.executor(options.tx);
    await this.checkSize(record, executor);
    try {
      await runWithin(executor, this.addStatement(record));
    } catch (error) {
      throw this.explained(error);
    }
    this.changes.tell('added');
  }

  addStatement(record: OutboxRecord): Statement {
    const { exchange, routingKey, id, contentType, headerText, body } = record;
    const destination = destinationHash(exchange, routingKey);
    return sql`insert into ${this.#tables.records}
      (id, lane, destination, exchange, routing_key, content_type, headers, size, created_at, body)
      values (${id}, ${laneOf(destination)}, ${destination}, ${exchange}, ${routingKey}, ${contentType}, ${headerText},
        ${body.byteLength}, ${this.#flavour.dialect.now}, ${body}) ${this.#flavour.keepFirst}`;
  }

  async transaction<T>(work: (tx: Connection) => Promise<T>): Promise<T> {
    const result = await this.#database.transaction((tx) => work(tx.connection));
    this.changes.tell('committed');
    return result;
  }

  async migrate(): Promise<readonly string[]> {
    const migrations = await readMigrations(this.#flavour.folder);
    return migrate(this.#database, migrations, { standard: DEFAULT_TABLE, table: this.#tables.records });
  }

  watch(listener: (change: OutboxChange) => void): () => void {
    return this.changes.watch(listener);
  }

  override async release(id: string): Promise<boolean> {
    const released = await super.release(id);
    if (released) this.changes.tell('committed');
    return released;
  }

  /** Closes what the store has opened itself; a pool or a handle that it was given stays open. */
  async close(): Promise<void> {
    await this.#database.close();
  }
}
