import {
  bytesIn,
  commaList,
  explainMissing,
  integer,
  integerIn,
  integerOrNullIn,
  type SqlDatabase,
  type SqlResult,
  type SqlRow,
  type SqlText,
  type Statement,
  sql,
  textIn,
  textOrNullIn,
} from '@acemq/sql';
import { ALL_LANES, destinationHash, LANES, laneOf } from './destination-hash.ts';
import type { SqlFlavour } from './sql-flavour.ts';
import type { OutboxTables } from './sql-tables.ts';
import type {
  Destination,
  Lease,
  OutboxLedger,
  OwedDestination,
  OwedKey,
  OwedQuery,
  OwedRecord,
  Refusal,
  Rest,
  RetiredRecord,
  Writers,
} from './store.ts';
import { headersFromText } from './stored-headers.ts';

/** The relay's side of an outbox in a database. */
export class SqlLedger implements OutboxLedger {
  readonly #database: SqlDatabase;
  readonly #tables: OutboxTables;
  readonly #flavour: SqlFlavour;
  readonly #now: SqlText;
  readonly #seq: SqlText;
  readonly #destination: SqlText;

  constructor(database: SqlDatabase, tables: OutboxTables, flavour: SqlFlavour) {
    this.#database = database;
    this.#tables = tables;
    this.#flavour = flavour;
    this.#now = flavour.dialect.now;
    this.#seq = flavour.dialect.identifier('seq');
    this.#destination = flavour.dialect.identifier('destination');
  }

  async run(statement: Statement): Promise<SqlResult> {
    try {
      return await this.#database.run(statement);
    } catch (error) {
      throw this.explained(error);
    }
  }

  /** An error of the driver, or the one that says which migration is missing. */
  explained(error: unknown): unknown {
    return explainMissing(error, this.#tables.records, this.#flavour.migration);
  }

  async lease(relay: string, leaseTime: number): Promise<Lease> {
    const { lanes, relays } = this.#tables;
    const until = sql`${this.#now} + ${integer(leaseTime)}`;
    try {
      return await this.#database.transaction(
        async (tx) => {
          await tx.run(
            this.#flavour.upsert(
              relays,
              'relay, alive_until',
              sql`${relay}, ${until}`,
              'relay',
              sql`alive_until = ${until}`,
            ),
          );
          const alive = await tx.run(
            sql`select count(*) as n from ${relays} where alive_until > ${this.#now}`,
          );
          const count = numberOf(alive.rows[0], 'n');
          const kept = await tx.run(sql`update ${lanes} set held_until = ${until} where relay = ${relay}`);
          const missing = Math.ceil(LANES / Math.max(1, count)) - kept.affected;
          if (missing > 0) await tx.run(this.#flavour.takeLanes(this.#tables, relay, until, missing));
          const mine = await tx.run(sql`select lane from ${lanes} where relay = ${relay} order by lane`);
          return { lanes: mine.rows.map((row) => integerIn(row, 'lane')), relays: count };
        },
        this.#flavour.isolation === undefined ? {} : { isolation: this.#flavour.isolation },
      );
    } catch (error) {
      throw this.explained(error);
    }
  }

  async giveUp(relay: string, lanes: readonly number[]): Promise<void> {
    if (lanes.length === 0) return;
    const lane = this.#flavour.dialect.identifier('lane');
    await this.run(sql`update ${this.#tables.lanes} set relay = '', held_until = 0
      where relay = ${relay} and ${this.#flavour.among(lane, lanes)}`);
  }

  async leave(relay: string): Promise<void> {
    await this.run(sql`update ${this.#tables.lanes} set relay = '', held_until = 0 where relay = ${relay}`);
    await this.run(
      sql`delete from ${this.#tables.relays} where relay = ${relay} or alive_until < ${this.#now} - 3600000`,
    );
  }

  async owed(query: OwedQuery): Promise<readonly OwedKey[]> {
    const { rows } = await this.run(this.owedStatement(query));
    return rows.map((row) => ({
      seq: integerIn(row, 'seq'),
      destination: integerIn(row, 'destination'),
      size: integerIn(row, 'size'),
    }));
  }

  owedStatement({ after, upTo, lanes, only, without = [], limit }: OwedQuery): Statement {
    const flavour = this.#flavour;
    const conditions = [sql`state = 0`, sql`seq > ${after}`];
    if (upTo !== undefined) conditions.push(sql`seq <= ${upTo}`);
    if (only !== undefined) conditions.push(sql`destination = ${only}`);
    if (lanes !== ALL_LANES) conditions.push(flavour.inLanes(lanes));
    if (without.length > 0) conditions.push(flavour.notAmong(this.#destination, without));
    return sql`select seq, destination, size from ${flavour.records(this.#tables, 'owed')}
      where ${conditions.reduce((all, one) => sql`${all} and ${one}`)} order by seq limit ${integer(limit)}`;
  }

  async fetch(seqs: readonly number[]): Promise<readonly OwedRecord[]> {
    if (seqs.length === 0) return [];
    const { rows } = await this.run(this.fetchStatement(seqs));
    return rows.map(recordOf);
  }

  fetchStatement(seqs: readonly number[]): Statement {
    return sql`select seq, id, exchange, routing_key, content_type, headers, body, attempts,
        ${this.#now} - created_at as age
      from ${this.#flavour.records(this.#tables, 'seq')}
      where state = 0 and ${this.#flavour.among(this.#seq, seqs)} order by seq`;
  }

  async published(relay: string, seqs: readonly number[]): Promise<number> {
    if (seqs.length === 0) return 0;
    return (await this.run(this.publishedStatement(relay, seqs))).affected;
  }

  publishedStatement(relay: string, seqs: readonly number[]): Statement {
    return sql`update ${this.#flavour.records(this.#tables, 'seq')} set state = 1, published_at = ${this.#now}
      where state = 0 and ${this.#flavour.among(this.#seq, seqs)} and ${this.#isMine(relay)}`;
  }

  async refused(relay: string, refusals: readonly Refusal[], rests: readonly Rest[]): Promise<void> {
    try {
      await this.#database.transaction(async (tx) => {
        for (const one of refusals) await tx.run(this.refusedStatement(relay, one));
        for (const rest of rests) await tx.run(this.#restStatement(rest));
      });
    } catch (error) {
      throw this.explained(error);
    }
  }

  refusedStatement(relay: string, { seq, reason, retire }: Refusal): Statement {
    const retired = retire ? sql`, state = 2, retired_at = ${this.#now}` : sql``;
    return sql`update ${this.#flavour.records(this.#tables, 'seq')}
      set attempts = attempts + 1, last_error = ${reason}${retired}
      where state = 0 and seq = ${seq} and ${this.#isMine(relay)}`;
  }

  #isMine(relay: string): Statement {
    return sql`lane in (select lane from ${this.#tables.lanes} where relay = ${relay})`;
  }

  #restStatement({ exchange, routingKey, remaining, refusals }: Rest): Statement {
    const until = sql`${this.#now} + ${integer(remaining)}`;
    const lane = laneOf(destinationHash(exchange, routingKey));
    return this.#flavour.upsert(
      this.#tables.rests,
      'exchange, routing_key, lane, rest_until, refusals',
      sql`${exchange}, ${routingKey}, ${lane}, ${until}, ${refusals}`,
      'exchange, routing_key',
      sql`rest_until = ${until}, refusals = ${refusals}`,
    );
  }

  async rests(lanes: bigint): Promise<readonly Rest[]> {
    const here = lanes === ALL_LANES ? sql`` : sql` where ${this.#flavour.inLanes(lanes)}`;
    const { rows } = await this.run(
      sql`select exchange, routing_key, rest_until - ${this.#now} as remaining, refusals from ${this.#tables.rests}${here}`,
    );
    return rows.map((row) => ({
      ...destinationIn(row),
      remaining: integerIn(row, 'remaining'),
      refusals: integerIn(row, 'refusals'),
    }));
  }

  async recovered(destinations: readonly Destination[]): Promise<void> {
    for (const { exchange, routingKey } of destinations) {
      await this.run(
        sql`delete from ${this.#tables.rests} where exchange = ${exchange} and routing_key = ${routingKey}`,
      );
    }
  }

  async writers(): Promise<Writers | undefined> {
    return undefined;
  }

  async removePublished(age: number, limit: number): Promise<number> {
    const { rows } = await this.run(this.oldStatement(age, limit));
    if (rows.length === 0) return 0;
    const { affected } = await this.run(this.removeStatement(rows.map((row) => textIn(row, 'id'))));
    return affected === 0 ? 0 : rows.length;
  }

  oldStatement(age: number, limit: number): Statement {
    return sql`select id from ${this.#flavour.records(this.#tables, 'published')}
      where state = 1 and published_at < ${this.#now} - ${integer(age)} order by published_at limit ${integer(limit)}`;
  }

  removeStatement(ids: readonly string[]): Statement {
    return sql`delete from ${this.#tables.records} where state = 1 and id in (${commaList(ids)})`;
  }

  async pendingCount(): Promise<number> {
    const { rows } = await this.run(this.pendingStatement());
    return numberOf(rows[0], 'n');
  }

  pendingStatement(): Statement {
    const owed = this.#flavour.records(this.#tables, 'owed');
    const retired = this.#flavour.records(this.#tables, 'retired');
    return sql`select (select count(*) from ${owed} where state = 0) + (select count(*) from ${retired} where state = 2) as n`;
  }

  async oldestAge(): Promise<number | undefined> {
    const { rows } = await this.run(this.oldestStatement());
    return rows[0] === undefined ? undefined : Math.max(0, integerIn(rows[0], 'age'));
  }

  oldestStatement(): Statement {
    return sql`select ${this.#now} - created_at as age
      from ${this.#flavour.records(this.#tables, 'owed')} where state = 0 order by seq limit 1`;
  }

  async owedByDestination(): Promise<readonly OwedDestination[]> {
    const { rows } = await this.run(this.owedByDestinationStatement());
    return rows.map((row) => ({
      ...destinationIn(row),
      count: integerIn(row, 'n'),
      oldestAge: Math.max(0, integerIn(row, 'age')),
    }));
  }

  owedByDestinationStatement(): Statement {
    return sql`select exchange, routing_key, count(*) as n, ${this.#now} - min(created_at) as age
      from ${this.#flavour.records(this.#tables, 'owed')} where state = 0 group by exchange, routing_key`;
  }

  async retired(limit: number): Promise<readonly RetiredRecord[]> {
    const { rows } = await this.run(this.retiredStatement(limit));
    return rows.map((row) => ({
      ...destinationIn(row),
      id: textIn(row, 'id'),
      attempts: integerIn(row, 'attempts'),
      reason: textOrNullIn(row, 'last_error') ?? '',
      createdAt: integerIn(row, 'created_at'),
      retiredAt: integerOrNullIn(row, 'retired_at') ?? 0,
    }));
  }

  retiredStatement(limit: number): Statement {
    return sql`select id, exchange, routing_key, attempts, last_error, created_at, retired_at
      from ${this.#flavour.records(this.#tables, 'retired')} where state = 2 order by retired_at limit ${integer(limit)}`;
  }

  async release(id: string): Promise<boolean> {
    const { affected } = await this.run(sql`update ${this.#tables.records}
      set state = 0, attempts = 0, retired_at = null where id = ${id} and state = 2`);
    return affected > 0;
  }
}

function destinationIn(row: SqlRow): Destination {
  return { exchange: textIn(row, 'exchange'), routingKey: textIn(row, 'routing_key') };
}

function numberOf(row: SqlRow | undefined, column: string): number {
  return row === undefined ? 0 : integerIn(row, column);
}

function recordOf(row: SqlRow): OwedRecord {
  let headers: OwedRecord['headers'];
  try {
    headers = headersFromText(textIn(row, 'headers'));
  } catch {
    headers = undefined; // Somebody has changed the row: the relay treats it as a record that cannot be taken.
  }
  return {
    ...destinationIn(row),
    seq: integerIn(row, 'seq'),
    id: textIn(row, 'id'),
    contentType: textIn(row, 'content_type'),
    body: bytesIn(row, 'body'),
    headers,
    attempts: integerIn(row, 'attempts'),
    age: integerIn(row, 'age'),
  };
}
