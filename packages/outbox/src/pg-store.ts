import { ConfigurationError, checkOptions } from '@acemq/core';
import { type SqlExecutor, type Statement, sql, textIn } from '@acemq/sql';
import {
  type PgClientOf,
  type PgPool,
  type PgTransaction,
  pgDatabase,
  pgExecutor,
  postgres,
} from '@acemq/sql/pg';
import { maxBodyOf } from './body-limit.ts';
import { destinationHash, laneOf } from './destination-hash.ts';
import { type PgListeningClient, PgWakeLine } from './pg-wake-line.ts';
import type { OutboxRecord } from './record.ts';
import { constant, type SqlFlavour } from './sql-flavour.ts';
import { SqlOutboxStore } from './sql-store.ts';
import { type OutboxTables, type TableOptions, tablesOf } from './sql-tables.ts';
import type { WakeLine, Writers } from './store.ts';

/** What a {@link PgOutboxStore} may be given. */
export interface PgOutboxOptions extends TableOptions {
  /** In bytes. Default 8 MiB. */
  readonly maxBody?: number | undefined;
  /**
   * Whether a commit wakes a sleeping relay of another process, by LISTEN and NOTIFY. Give false on both sides where a
   * proxy hands each transaction another connection. Default true.
   */
  readonly notify?: boolean | undefined;
}

const flavour: SqlFlavour = {
  dialect: postgres,
  migration: '@acemq/outbox/sql/postgres/001_outbox.sql',
  folder: new URL('../sql/postgres/', import.meta.url),
  isolation: 'read committed',
  records: ({ records }) => records,
  // A condition that no index is searched with: the planner would give up the order for it.
  inLanes: (mask) => sql`((${mask}::bigint >> lane) & 1) = 1`,
  among: (column, numbers) => sql`${column} = any(${`{${numbers.join(',')}}`}::bigint[])`,
  notAmong: (column, numbers) => sql`${column} <> all(${`{${numbers.join(',')}}`}::bigint[])`,
  keepFirst: sql`on conflict (id) do nothing`,
  upsert: (table, columns, values, key, changes) =>
    sql`insert into ${table} (${constant(columns)}) values (${values})
      on conflict (${constant(key)}) do update set ${changes}`,
  takeLanes: (
    { lanes },
    relay,
    until,
    count,
  ) => sql`update ${lanes} set relay = ${relay}, held_until = ${until}
    where lane in (select lane from ${lanes} where relay <> ${relay} and held_until <= ${postgres.now}
      order by lane limit ${count} for update skip locked)`,
};

/** An outbox in PostgreSQL, through `pg`. */
export class PgOutboxStore<Pool extends PgPool = PgPool> extends SqlOutboxStore<
  PgTransaction,
  PgClientOf<Pool>
> {
  readonly #pool: Pool;
  readonly #tables: OutboxTables;
  readonly #notify: boolean;

  /**
   * @param pool - For the relay and for `transaction()`: a relay takes one connection to listen, and up to three to work.
   * It stays open. Give it an `error` listener, as `pg` asks for.
   * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for what is no pool, and for an option that cannot be used.
   */
  constructor(pool: Pool, options: PgOutboxOptions = {}) {
    checkOptions(options, ['table', 'schema', 'maxBody', 'notify'], 'PgOutboxStore');
    const { notify = true } = options;
    if (typeof notify !== 'boolean') throw new ConfigurationError('notify must be true or false');
    const tables = tablesOf(postgres, options);
    super(pgDatabase(pool), tables, flavour, maxBodyOf(options.maxBody));
    this.#pool = pool;
    this.#tables = tables;
    this.#notify = notify;
  }

  protected override executor(tx: PgTransaction): SqlExecutor {
    return pgExecutor(tx);
  }

  /** Notifies only where a relay sleeps: each NOTIFY makes commits wait for one another. */
  override addStatement(record: OutboxRecord): Statement {
    const insert = super.addStatement(record);
    const lane = laneOf(destinationHash(record.exchange, record.routingKey));
    if (!this.#notify) return insert;
    return sql`with added as (${insert} returning 1)
      select pg_notify(${this.#channel}, r.relay) from added
      join ${this.#tables.lanes} l on l.lane = ${lane}
      join ${this.#tables.relays} r on r.relay = l.relay and r.asleep and r.alive_until > ${postgres.now}`;
  }

  /**
   * Whoever has written to the outbox holds a lock on the table until the end of its transaction, from before it is given
   * its sequence number.
   */
  override async writers(): Promise<Writers> {
    const { rows } = await this.run(sql`select virtualtransaction as vxid from pg_locks
      where locktype = 'relation' and mode = 'RowExclusiveLock' and granted
        and database = (select oid from pg_database where datname = current_database())
        and relation = ${this.#tables.records.toString()}::regclass and pid is distinct from pg_backend_pid()`);
    const running = rows.map((row) => textIn(row, 'vxid'));
    // A transaction that was prepared has another name from then on.
    return { running, unsure: running.some((vxid) => vxid.startsWith('-1/')) };
  }

  async listen(
    relay: string,
    wake: () => void,
    warn: (message: string, error?: unknown) => void,
  ): Promise<WakeLine | undefined> {
    if (!this.#notify) return undefined;
    const client = (await this.#pool.connect()) as unknown as PgListeningClient;
    return PgWakeLine.open({
      client,
      channel: this.#channel,
      relay,
      wake,
      warn,
      asleep: async (asleep) => {
        await this.run(sql`update ${this.#tables.relays} set asleep = ${asleep} where relay = ${relay}`);
      },
      probe: async (text) => {
        await this.run(sql`select pg_notify(${this.#channel}, ${text})`);
      },
    });
  }

  get #channel(): string {
    const { schema, name } = this.#tables.records;
    return schema === undefined ? name : `${schema}.${name}`.slice(0, 63);
  }
}
