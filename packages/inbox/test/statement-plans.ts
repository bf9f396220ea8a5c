import { type Dialect, integer, type SqlDatabase, type Statement, sql, type TableName } from '@acemq/sql';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sqlInbox } from '../src/index.ts';
import { inboxStatements } from '../src/statements.ts';
import { ownName } from './messages.ts';

/** How the plan of a statement is read. */
export interface PlanSetup {
  readonly dialect: Dialect;
  open(): Promise<{ readonly database: SqlDatabase; close(): Promise<void> }>;
  /** A statement that gives the numbers from 1 to `count` as `n`. */
  numbers(count: number): Statement;
  /** Gathers the statistics that the planner goes by. */
  analyse(table: TableName): Statement;
  /** Runs the statement, leaves nothing changed, and says how many rows of the table were read. */
  rowsRead(database: SqlDatabase, statement: Statement): Promise<number>;
}

const KEPT = 200_000;
const PAST = 200;

/** A row or two of the index, and the row itself. */
const FEW = 5;

/** Holds that no statement of a store reads more than the rows it is about, on a large table. */
export function planSuite({ dialect, open, numbers, analyse, rowsRead }: PlanSetup): void {
  let opened: Awaited<ReturnType<typeof open>>;
  const table = dialect.table(ownName('plans'));
  const statements = inboxStatements(dialect, table);
  const there = { scope: 'shipping.orders', id: 'm-100000' };
  const absent = { scope: 'shipping.orders', id: 'absent' };
  const past = { scope: 'billing.orders', id: 'm-7' };

  beforeAll(async () => {
    opened = await open();
    const { database } = opened;
    await sqlInbox(database, { table: table.name, cleanEvery: false }).migrate();
    const id = dialect.name === 'mysql' ? sql`concat('m-', n)` : sql`'m-' || n`;
    const fill = (scope: string, count: number, expiresIn: number): Statement => sql`
      insert into ${table} (scope, message_id, owner, claimed_at, expires_at)
      select ${scope}, ${id}, null, 0, ${dialect.now} + ${integer(expiresIn)} + n from (${numbers(count)}) as numbers`;
    await database.run(fill(there.scope, KEPT, 3_600_000));
    await database.run(fill(past.scope, PAST, -3_600_000));
    await database.run(analyse(table));
  }, 120_000);

  afterAll(async () => {
    for (const one of [table, table.suffixed('_migrations')])
      await opened.database.run(sql`drop table ${one}`);
    await opened.close();
  });

  it.each([
    ['a look at a message that is there', statements.look(there), FEW],
    ['a look at one that is not', statements.look(absent), FEW],
    ['a take-over', statements.takeOver(past, 'me', 60_000), FEW],
    ['a confirmation', statements.confirm(there, 'me', 60_000), FEW],
    ['a release', statements.release(there, 'me'), FEW],
    // Each row that goes is found in the index, and then removed.
    ['the cleaning', statements.clean, 2 * PAST + FEW],
  ])('%s reads few rows of 200,000', async (_what, statement, most) => {
    expect(await rowsRead(opened.database, statement)).toBeLessThanOrEqual(most);
  });
}
