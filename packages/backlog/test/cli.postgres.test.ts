import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { expect, it } from 'vitest';
import { main } from '../src/cli/main.ts';
import { surroundings } from './surroundings.ts';

it('watch reads the outbox of a database: what is owed by destination, and what was given up', async () => {
  const url = process.env['POSTGRES_URL'];
  const table = `outbox_${randomUUID().replaceAll('-', '')}`;
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  // The tables as @acemq/outbox makes them, under a name of this test.
  const migration = await readFile(
    new URL('../../outbox/sql/postgres/001_outbox.sql', import.meta.url),
    'utf8',
  );
  try {
    await pool.query(migration.replaceAll('acemq_outbox', table));
    const row = async (id: string, state: number, age: number, key: string): Promise<unknown> =>
      pool.query(
        `insert into ${table}
          (id, state, lane, destination, size, created_at, exchange, routing_key, content_type, headers, body)
        values ($1, $2, 0, 0, 0, floor(extract(epoch from clock_timestamp()) * 1000) - $3::int, 'orders', $4, '', '', '')`,
        [id, state, age, key],
      );
    await row('1', 0, 90_000, 'placed');
    await row('2', 0, 1_000, 'placed');
    await row('3', 0, 5_000, 'paid');
    await row('4', 1, 900_000, 'placed');
    await row('5', 2, 900_000, 'placed');
    const around = surroundings({ POSTGRES_URL: url });
    expect(await main(['watch', '--table', table, '--readings', '1', '--json'], around)).toBe(1);
    const { kinds, deadLength } = JSON.parse(around.out());
    expect(deadLength).toBe(1);
    expect(kinds).toMatchObject([
      { kind: 'orders/placed', depth: 2 },
      { kind: 'orders/paid', depth: 1 },
    ]);
    expect(kinds[0].oldestAge).toBeGreaterThanOrEqual(90);
    expect(kinds[0].oldestAge).toBeLessThan(100);
  } finally {
    await pool.query(`drop table if exists ${['', '_lanes', '_relays', '_rests'].map((end) => table + end)}`);
    await pool.end();
  }
});
