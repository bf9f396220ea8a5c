import { checkOptions } from '@acemq/core';
import { commaList, integer, integerIn, type SqlExecutor, sql } from '@acemq/sql';
import {
  type MysqlCallbackPool,
  type MysqlPool,
  type MysqlPoolConnection,
  type MysqlTransaction,
  mysql,
  mysqlDatabase,
  mysqlExecutor,
} from '@acemq/sql/mysql';
import { checkRecord, maxBodyOf } from './body-limit.ts';
import type { OutboxRecord } from './record.ts';
import { constant, type SqlFlavour } from './sql-flavour.ts';
import { SqlOutboxStore } from './sql-store.ts';
import { type TableOptions, tablesOf } from './sql-tables.ts';

/** What a {@link MysqlOutboxStore} may be given. */
export interface MysqlOutboxOptions extends TableOptions {
  /** In bytes. Default 8 MiB, or what the server's `max_allowed_packet` leaves of it. */
  readonly maxBody?: number | undefined;
}

const flavour: SqlFlavour = {
  dialect: mysql,
  migration: '@acemq/outbox/sql/mysql/001_outbox.sql',
  folder: new URL('../sql/mysql/', import.meta.url),
  isolation: 'read committed',
  // Without it the optimizer walks along the primary key, over everything that is published.
  records: ({ records }, index) =>
    sql`${records} force index (${index === 'seq' ? constant('primary') : records.bare(`_${index}`)})`,
  inLanes: (mask) => sql`((cast(${String(BigInt.asUintN(64, mask))} as unsigned) >> lane) & 1) = 1`,
  among: (column, numbers) => sql`${column} in (${commaList(padded(numbers))})`,
  notAmong: (column, numbers) => sql`${column} not in (${commaList(padded(numbers))})`,
  keepFirst: sql`on duplicate key update id = id`,
  upsert: (table, columns, values, _key, changes) =>
    sql`insert into ${table} (${constant(columns)}) values (${values}) on duplicate key update ${changes}`,
  takeLanes: (
    { lanes },
    relay,
    until,
    count,
  ) => sql`update ${lanes} set relay = ${relay}, held_until = ${until}
    where relay <> ${relay} and held_until <= ${mysql.now} order by lane limit ${integer(count)}`,
};

/** To few lengths, since the driver keeps a prepared statement for each. */
function padded(numbers: readonly number[]): number[] {
  let length = 1;
  while (length < numbers.length) length *= 4;
  const last = numbers.at(-1) ?? 0;
  return Array.from({ length }, (_, index) => numbers[index] ?? last);
}

/** What a statement takes beside body and headers, generously. */
const OVERHEAD = 8192;

/** An outbox in MySQL or MariaDB, through `mysql2`. */
export class MysqlOutboxStore<
  Connection extends MysqlPoolConnection = MysqlPoolConnection,
> extends SqlOutboxStore<MysqlTransaction, Connection> {
  #packet: number | undefined;

  /**
   * @param pool - Of `mysql2`, for the relay and for `transaction()`. It stays open.
   * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for what is no pool, and for an option that cannot be used.
   */
  constructor(pool: MysqlPool<Connection> | MysqlCallbackPool<Connection>, options: MysqlOutboxOptions = {}) {
    checkOptions(options, ['table', 'schema', 'maxBody'], 'MysqlOutboxStore');
    super(mysqlDatabase(pool), tablesOf(mysql, options), flavour, maxBodyOf(options.maxBody));
  }

  protected override executor(tx: MysqlTransaction): SqlExecutor {
    return mysqlExecutor(tx);
  }

  protected override async checkSize(record: OutboxRecord, executor: SqlExecutor): Promise<void> {
    checkRecord(record, this.maxBody, 'maxBody');
    this.#packet ??= await packetOf(executor);
    const left = this.#packet - OVERHEAD - Buffer.byteLength(record.headerText);
    checkRecord(record, left, `the server (max_allowed_packet is ${this.#packet})`);
  }
}

async function packetOf(executor: SqlExecutor): Promise<number> {
  const { rows } = await executor.run(sql`select @@max_allowed_packet as n`);
  return rows[0] === undefined ? Number.MAX_SAFE_INTEGER : integerIn(rows[0], 'n');
}
