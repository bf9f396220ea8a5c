import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { destinationHash, laneOf } from '../src/destination-hash.ts';
import { SqliteOutboxStore } from '../src/sqlite.ts';
import { OWED, PLANNED, PUBLISHED, plannedStatements, textOf } from './planned-statements.ts';

let folder: string;
let store: SqliteOutboxStore;
let handle: Database;
let read = 0;

/** SQLite counts no rows, so a condition that is always true does. */
function rowsRead(text: string, values: readonly unknown[]): number {
  const counted = text.replaceAll(/\bwhere state = /g, 'where counted(seq) and state = ');
  expect(counted).not.toBe(text);
  read = 0;
  handle.exec('begin');
  try {
    const statement = handle.prepare(counted);
    if (statement.reader) statement.all(...values);
    else statement.run(...values);
  } finally {
    handle.exec('rollback');
  }
  return read;
}

function addMany(count: number, state: number): void {
  const destination = destinationHash('', 'orders');
  handle
    .prepare(
      `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ?)
      insert into acemq_outbox (id, state, lane, destination, exchange, routing_key, content_type, headers, size, created_at,
          published_at, body)
        select 'id-' || (n + ?), ?, ?, ?, '', 'orders', 'text/plain', '{}', 100, 0, iif(? = 1, n, null), zeroblob(100) from numbers`,
    )
    .run(count, state === 1 ? 0 : PUBLISHED, state, laneOf(destination), destination, state);
}

beforeAll(async () => {
  // Here, since it may not be there.
  const { default: Driver } = await import('better-sqlite3');
  folder = await mkdtemp(join(tmpdir(), 'acemq-plans-'));
  store = await SqliteOutboxStore.open(join(folder, 'plans.db'));
  handle = new Driver(join(folder, 'plans.db'));
  await store.migrate();
  handle.function('counted', { deterministic: false }, (_seq) => {
    read += 1;
    return 1;
  });
  addMany(PUBLISHED, 1);
  addMany(OWED, 0);
  handle.exec("update acemq_outbox_lanes set relay = 'a'; analyze");
}, 120_000);

afterAll(async () => {
  handle.close();
  await store.close();
  await rm(folder, { recursive: true });
});

describe(`on ${PUBLISHED} published and ${OWED} owed records`, () => {
  test.each(PLANNED)('%s reads no more than it is about', (name) => {
    const one = plannedStatements(store).find((each) => each.name === name);
    if (one === undefined) throw new Error(`there is no statement for ${name}`);
    const values = one.statement.values.map((value) =>
      typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value,
    );
    expect(
      rowsRead(
        textOf(one.statement, () => '?'),
        values,
      ),
    ).toBeLessThanOrEqual(one.most);
  });

  test('a search without its index would be seen', () => {
    expect(rowsRead('select count(*) from acemq_outbox not indexed where state = 0', [])).toBeGreaterThan(
      PUBLISHED,
    );
  });
});
