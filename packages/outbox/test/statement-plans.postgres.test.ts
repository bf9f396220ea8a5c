import type { Statement } from '@acemq/sql';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { destinationHash, laneOf } from '../src/destination-hash.ts';
import { PgOutboxStore } from '../src/pg.ts';
import { pool } from './on-postgres.ts';
import { OWED, PUBLISHED, plannedStatements, textOf } from './planned-statements.ts';

interface Node {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly Node[];
}

const table = `o_plans_${process.pid}`;
const store = new PgOutboxStore(pool(), { table });
let client: pg.PoolClient;

async function planOf(statement: Statement): Promise<Node> {
  await client.query('begin');
  try {
    const text = textOf(statement, (index) => `$${index}`);
    const { rows } = await client.query(`explain (analyze, buffers, format json) ${text}`, [
      ...statement.values,
    ]);
    return rows[0]['QUERY PLAN'][0].Plan;
  } finally {
    await client.query('rollback');
  }
}

/** Rows that were fetched from a table, those included that were thrown away then. */
function rowsRead(node: Node): number {
  const here =
    node['Node Type'].includes('Scan') && !node['Node Type'].startsWith('Subquery')
      ? node['Actual Loops'] *
        (node['Actual Rows'] +
          (node['Rows Removed by Filter'] ?? 0) +
          (node['Rows Removed by Index Recheck'] ?? 0))
      : 0;
  return (node.Plans ?? []).reduce((sum, one) => sum + rowsRead(one), here);
}

function buffersOf(node: Node): number {
  return node['Shared Hit Blocks'] + node['Shared Read Blocks'];
}

async function addMany(count: number, state: number): Promise<void> {
  const destination = destinationHash('', 'orders');
  await client.query(
    `insert into ${table} (id, state, lane, destination, exchange, routing_key, content_type, headers, size, created_at,
        published_at, body)
      select 'id-' || (n + (select count(*) from ${table})), $1::smallint, $2, $3, '', 'orders', 'text/plain', '{}', 100, 0,
        case when $1::smallint = 1 then n end, decode(repeat('00', 100), 'hex')
      from generate_series(1, $4::integer) n`,
    [state, laneOf(destination), destination, count],
  );
}

beforeAll(async () => {
  client = await pool().connect();
  await store.migrate();
  await client.query(`alter table ${table} set (autovacuum_enabled = false)`);
  await addMany(PUBLISHED, 1);
  await addMany(OWED, 0);
  await client.query(`update ${table}_lanes set relay = 'a'`);
  await client.query('analyze');
}, 120_000);

afterAll(async () => {
  await client.query(
    `drop table ${['', '_lanes', '_relays', '_rests', '_migrations'].map((end) => table + end).join(', ')}`,
  );
  client.release();
});

describe(`on ${PUBLISHED} published and ${OWED} owed records`, () => {
  test.each(plannedStatements(store).map((one) => [one.name, one] as const))(
    '%s reads no more than it is about',
    async (_name, one) => {
      const plan = await planOf(one.statement);
      // Planning reads statistics, and an index entry leads to each row: what counts is rows of tables.
      expect(rowsRead(plan)).toBeLessThanOrEqual(one.most * 2);
    },
  );

  test('a search without its index would be seen', async () => {
    const plan = await planOf({ strings: [`select count(*) from ${table} where size = 7`], values: [] });
    expect(rowsRead(plan)).toBeGreaterThan(PUBLISHED / 2);
  });
});

/** What it takes to claim 500: the keys, then the records. */
async function claimFrom(after: number): Promise<{ buffers: number; last: number }> {
  const query = { after, lanes: -1n, limit: 500 };
  const keys = await store.owed(query);
  const buffers =
    buffersOf(await planOf(store.owedStatement(query))) +
    buffersOf(await planOf(store.fetchStatement(keys.map(({ seq }) => seq))));
  return { buffers, last: keys.at(-1)?.seq ?? 0 };
}

test('a claim of 500 touches as many buffers with a million owed records as with a thousand', async () => {
  await addMany(800, 0);
  await client.query('analyze');
  const few = await claimFrom(0);
  await addMany(999_000, 0);
  await client.query('analyze');
  const many = await claimFrom(0);
  expect(many.buffers).toBeLessThanOrEqual(few.buffers * 1.5);
}, 180_000);

test('while a snapshot is held open and 200,000 records are worked off, a claim stays as cheap', async () => {
  const dump = await pool().connect();
  await dump.query('begin isolation level repeatable read');
  await dump.query(`select count(*) from ${table} where state = 2`);
  const buffers: number[] = [];
  let after = 0;
  for (let claim = 0; claim < 400; claim += 1) {
    const query = { after, lanes: -1n, limit: 500 };
    const keys = await store.owed(query);
    const seqs = keys.map(({ seq }) => seq);
    if (claim < 100 || claim >= 300) {
      buffers.push(
        buffersOf(await planOf(store.owedStatement(query))) +
          buffersOf(await planOf(store.fetchStatement(seqs))),
      );
    }
    expect(await store.published('a', seqs)).toBe(500);
    after = seqs.at(-1) ?? after;
  }
  await dump.query('rollback');
  dump.release();
  const median = (some: number[]): number => [...some].sort((x, y) => x - y)[some.length >> 1] ?? 0;
  expect(median(buffers.slice(-100))).toBeLessThanOrEqual(median(buffers.slice(0, 100)) * 2);
}, 180_000);
