import { accept, retry } from '@acemq/core';
import { failureOf, sql } from '@acemq/sql';
import { pgDatabase, pgExecutor, postgres } from '@acemq/sql/pg';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { idempotentTransaction, type SqlInbox } from '../src/index.ts';
import { postgresInbox } from '../src/pg.ts';
import { messageOf, ownName } from './messages.ts';
import { sqlSuite } from './sql-suite.ts';

const newPool = (): pg.Pool => new pg.Pool({ connectionString: process.env['POSTGRES_URL'] });

sqlSuite({
  dialect: postgres,
  open: async () => {
    const pool = newPool();
    return { database: pgDatabase(pool), close: () => pool.end() };
  },
});

describe('PostgreSQL', () => {
  let pool: pg.Pool;
  let inbox: SqlInbox<pg.PoolClient>;
  const name = ownName('pg');

  beforeAll(async () => {
    pool = newPool();
    inbox = postgresInbox(pool, { table: name, cleanEvery: false });
    await inbox.migrate();
    await pool.query(`create table ${name}_stock (id integer primary key, n integer)`);
    await pool.query(`insert into ${name}_stock values (1, 0)`);
  });

  afterAll(async () => {
    await inbox.close();
    await pool.query(`drop table ${name}, ${name}_migrations, ${name}_stock`);
    await pool.end();
  });

  it("the handler writes with the driver's own client", async () => {
    const handler = idempotentTransaction(async (_message, tx) => {
      await tx.connection.query(`update ${name}_stock set n = n + 1 where id = $1`, [1]);
      return accept();
    }, inbox);
    await handler(messageOf({}, { id: 'once' }));
    await handler(messageOf({}, { id: 'once' }));
    expect((await pool.query(`select n from ${name}_stock`)).rows).toEqual([{ n: 1 }]);
  });

  it('the limit on waiting is for the claim, not for what the handler does', async () => {
    const handler = idempotentTransaction(
      async (_message, tx) => {
        const { rows } = await tx.run(sql`select current_setting('lock_timeout') as wait`);
        expect(rows).toEqual([{ wait: '0' }]);
        return accept();
      },
      inbox,
      { lockWait: 100 },
    );
    expect(await handler(messageOf({}))).toBe(accept());
  });

  it('a serialization failure is thrown, which is a retry, and nothing is left', async () => {
    const serializable = pgDatabase(pool);
    const handler = idempotentTransaction<unknown, pg.PoolClient>(
      async (_message, client) => {
        await client.query(`select * from ${name}_stock`);
        await pool.query(`update ${name}_stock set n = n + 1`);
        await client.query(`update ${name}_stock set n = n + 1`);
        return accept();
      },
      inbox,
      {
        open: (work) =>
          serializable.transaction((tx) => work(tx.connection, tx), { isolation: 'repeatable read' }),
      },
    );
    const error = await Promise.resolve(handler(messageOf({}, { id: 'serial' }))).catch(
      (reason: unknown) => reason,
    );
    expect(failureOf(error)).toBe('conflict');
    expect((await inbox.claim({ scope: 'shipping.orders', id: 'serial' })).answer).toBe('claimed');
  });

  it('at a higher isolation level a repeat that waited is a conflict, never a second effect', async () => {
    const id = ownName('m');
    let runs = 0;
    const handler = idempotentTransaction<unknown, pg.PoolClient>(
      async (_message, client) => {
        runs += 1;
        await client.query('select pg_sleep(0.2)');
        return accept();
      },
      inbox,
      {
        open: (work) =>
          pgDatabase(pool).transaction((tx) => work(tx.connection, tx), { isolation: 'serializable' }),
      },
    );
    const outcomes = await Promise.all(
      [1, 2, 3].map(() =>
        Promise.resolve(handler(messageOf({}, { id }))).catch((error: unknown) => retry(failureOf(error))),
      ),
    );
    expect(outcomes.filter(({ decision }) => decision === 'accept').length).toBeGreaterThanOrEqual(1);
    expect(
      outcomes.every(
        (ack) => ack.decision === 'accept' || (ack.decision === 'retry' && ack.error === 'conflict'),
      ),
    ).toBe(true);
    expect(runs).toBe(1);
  });

  it('a failed statement that the handler swallows is no acceptance, whoever opened the transaction', async () => {
    const id = ownName('m');
    const handler = idempotentTransaction<unknown, pg.PoolClient>(
      async (_message, client) => {
        await client.query(`update ${name}_stock set n = n + 1 where id = 1`);
        await client.query('select 1 from no_such_table').catch(() => undefined);
        return accept();
      },
      inbox,
      {
        open: async (work) => {
          const client = await pool.connect();
          try {
            await client.query('begin');
            const answer = await work(client, pgExecutor(client));
            await client.query('commit');
            return answer;
          } catch (error) {
            await client.query('rollback');
            throw error;
          } finally {
            client.release();
          }
        },
      },
    );
    const before = (await pool.query(`select n from ${name}_stock`)).rows;
    await expect(Promise.resolve(handler(messageOf({}, { id })))).rejects.toThrow(
      'a statement in it had failed, and the error was not thrown on',
    );
    expect((await pool.query(`select n from ${name}_stock`)).rows).toEqual(before);
    expect((await pool.query(`select 1 from ${name} where message_id = $1`, [id])).rowCount).toBe(0);
  });
});
