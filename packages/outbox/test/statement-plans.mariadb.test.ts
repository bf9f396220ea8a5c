import type mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { destinationHash, laneOf } from '../src/destination-hash.ts';
import { MysqlOutboxStore } from '../src/mysql.ts';
import { pool } from './on-mariadb.ts';
import { OWED, PUBLISHED, plannedStatements, textOf } from './planned-statements.ts';

const table = `o_plans_${process.pid}`;
const store = new MysqlOutboxStore(pool(), { table });
let connection: mysql.PoolConnection;

/** Rows that the storage engine handed out, and positions in indexes that it looked up. */
async function rowsRead(text: string, values: readonly unknown[]): Promise<number> {
  await connection.beginTransaction();
  try {
    await connection.query('flush status');
    await connection.execute(text, [...values] as never);
    const [rows] = await connection.query("show session status like 'Handler_read%'");
    return (rows as { Value: string }[]).reduce((sum, { Value }) => sum + Number(Value), 0);
  } finally {
    await connection.rollback();
  }
}

async function addMany(count: number, state: number): Promise<void> {
  const destination = destinationHash('', 'orders');
  await connection.query(
    `insert into ${table} (id, state, lane, destination, exchange, routing_key, content_type, headers, size, created_at,
        published_at, body)
      select concat('id-', seq + ?), ?, ?, ?, '', 'orders', 'text/plain', '{}', 100, 0, if(? = 1, seq, null), repeat('x', 100)
      from seq_1_to_${count}`,
    [state === 1 ? 0 : PUBLISHED, state, laneOf(destination), destination, state],
  );
}

beforeAll(async () => {
  connection = await pool().getConnection();
  await store.migrate();
  await addMany(PUBLISHED, 1);
  const [rows] = await connection.query(`select max(seq) as n from ${table}`);
  // Numbers are given out in blocks to such an insert, so the owed ones are moved to where the test looks for them.
  const last = Number((rows as { n: number }[])[0]?.n);
  expect(last).toBeGreaterThanOrEqual(PUBLISHED);
  await addMany(OWED, 0);
  await connection.query(
    `update ${table} set seq = ? + cast(substr(id, 4) as integer) - ? where state = 0 order by seq`,
    [PUBLISHED, PUBLISHED],
  );
  await connection.query(`update ${table}_lanes set relay = 'a'`);
  await connection.query(`analyze table ${table}`);
}, 120_000);

afterAll(async () => {
  await connection.query(
    `drop table ${['', '_lanes', '_relays', '_rests', '_migrations'].map((end) => table + end).join(', ')}`,
  );
  connection.release();
});

describe(`on ${PUBLISHED} published and ${OWED} owed records`, () => {
  test.each(plannedStatements(store).map((one) => [one.name, one] as const))(
    '%s reads no more than it is about',
    async (_name, one) => {
      const read = await rowsRead(
        textOf(one.statement, () => '?'),
        one.statement.values,
      );
      // An update reads the row once more to write it, and a list is filled up to a power of four.
      expect(read).toBeLessThanOrEqual(one.most * 4 + 10);
    },
  );

  test('a search without its index would be seen', async () => {
    expect(await rowsRead(`select count(*) from ${table} where size = ?`, [7])).toBeGreaterThan(
      PUBLISHED / 2,
    );
  });
});
