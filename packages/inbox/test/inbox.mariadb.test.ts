import { accept } from '@acemq/core';
import { mysql, mysqlDatabase } from '@acemq/sql/mysql';
import mysqlDriver, { type Pool, type PoolConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { idempotentTransaction, type SqlInbox } from '../src/index.ts';
import { mysqlInbox } from '../src/mysql.ts';
import { messageOf, ownName } from './messages.ts';
import { sqlSuite } from './sql-suite.ts';

const newPool = (): Pool => mysqlDriver.createPool(process.env['MARIADB_URL'] ?? '');

sqlSuite({
  dialect: mysql,
  open: async () => {
    const pool = newPool();
    return { database: mysqlDatabase(pool), close: () => pool.end() };
  },
});

describe('MariaDB', () => {
  let pool: Pool;
  let inbox: SqlInbox<PoolConnection>;
  const name = ownName('my');

  beforeAll(async () => {
    pool = newPool();
    inbox = mysqlInbox(pool, { table: name, cleanEvery: false });
    await inbox.migrate();
    await pool.query(`create table ${name}_stock (id integer primary key, n integer)`);
    await pool.query(`insert into ${name}_stock values (1, 0), (2, 0)`);
  });

  afterAll(async () => {
    await inbox.close();
    for (const table of [name, `${name}_migrations`, `${name}_stock`])
      await pool.query(`drop table ${table}`);
    await pool.end();
  });

  it('a deadlock that the handler swallows has ended the transaction, and is no acceptance', async () => {
    const id = ownName('m');
    const take = `update ${name}_stock set n = n + 1 where id = `;
    const other = await pool.getConnection();
    // Who has written less is chosen to give way, and that is to be the handler.
    await other.query('start transaction');
    await other.query(`insert into ${name}_stock select seq, 0 from seq_100_to_400`);
    await other.query(`${take}2`);
    let swallowed: unknown;
    const handler = idempotentTransaction<unknown, PoolConnection>(async (_message, { connection }) => {
      await connection.query(`${take}1`);
      const crossing = other.query(`${take}1`);
      await connection.query(`${take}2`).catch((error: unknown) => {
        swallowed = error;
      });
      await crossing;
      return accept();
    }, inbox);
    await expect(Promise.resolve(handler(messageOf({}, { id })))).rejects.toThrow(
      'a statement in it had failed, and the error was not thrown on',
    );
    expect(swallowed).toMatchObject({ code: 'ER_LOCK_DEADLOCK' });
    await other.query('rollback');
    other.release();
    const [rows] = await pool.query(`select 1 from ${name} where message_id = ?`, [id]);
    expect(rows).toEqual([]);
  });
});
