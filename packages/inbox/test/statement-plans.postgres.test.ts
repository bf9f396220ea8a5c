import { integer, type SqlRow, sql } from '@acemq/sql';
import { pgDatabase, postgres } from '@acemq/sql/pg';
import pg from 'pg';
import { planSuite } from './statement-plans.ts';

/** What is read of `explain (analyze, format json)`. */
interface Plan {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly Plan[];
}

planSuite({
  dialect: postgres,
  open: async () => {
    const pool = new pg.Pool({ connectionString: process.env['POSTGRES_URL'] });
    return { database: pgDatabase(pool), close: () => pool.end() };
  },
  numbers: (count) => sql`select generate_series(1, ${integer(count)}) as n`,
  analyse: (table) => sql`vacuum analyze ${table}`,
  rowsRead: async (database, statement) => {
    const undone = new Error('undone');
    let read = 0;
    await database
      .transaction(async (tx) => {
        const { rows } = await tx.run(sql`explain (analyze, format json) ${statement}`);
        const [{ Plan: plan }] = (rows[0] as SqlRow)['QUERY PLAN'] as [{ readonly Plan: Plan }];
        read = scanned(plan);
        throw undone;
      })
      .catch((error: unknown) => {
        if (error !== undone) throw error;
      });
    return read;
  },
});

function scanned(plan: Plan): number {
  const own =
    (plan['Actual Rows'] +
      (plan['Rows Removed by Filter'] ?? 0) +
      (plan['Rows Removed by Index Recheck'] ?? 0)) *
    plan['Actual Loops'];
  const below = (plan.Plans ?? []).reduce((sum, one) => sum + scanned(one), 0);
  return below + (plan['Node Type'].includes('Scan') ? own : 0);
}
