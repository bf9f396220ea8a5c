import { integer, integerIn, sql, textIn } from '@acemq/sql';
import { mysql, mysqlDatabase } from '@acemq/sql/mysql';
import mysqlDriver from 'mysql2/promise';
import { planSuite } from './statement-plans.ts';

/** The server's own counts of rows that were read: one a row found or stepped over, whatever the plan is called. */
const READS = /^Handler_read_(first|key|last|next|prev|rnd|rnd_next)$/i;

planSuite({
  dialect: mysql,
  open: async () => {
    const pool = mysqlDriver.createPool(process.env['MARIADB_URL'] ?? '');
    return { database: mysqlDatabase(pool), close: () => pool.end() };
  },
  // A recursion is limited to 1,000 rows there.
  numbers: (count) => sql`
    with d as (select 0 as i union select 1 union select 2 union select 3 union select 4
      union select 5 union select 6 union select 7 union select 8 union select 9)
    select n from (select 1 + a.i + 10 * b.i + 100 * c.i + 1000 * e.i + 10000 * f.i + 100000 * g.i as n
      from d a, d b, d c, d e, d f, d g) as all_numbers where n <= ${integer(count)}`,
  analyse: (table) => sql`analyze table ${table}`,
  rowsRead: async (database, statement) => {
    const undone = new Error('undone');
    let read = 0;
    await database
      .transaction(async (tx) => {
        await tx.run(sql`flush status`);
        await tx.run(statement);
        const { rows } = await tx.run(sql`show session status like 'Handler_read_%'`);
        for (const row of rows) {
          if (READS.test(textIn(row, 'Variable_name'))) read += integerIn(row, 'Value');
        }
        throw undone;
      })
      .catch((error: unknown) => {
        if (error !== undone) throw error;
      });
    return read;
  },
});
