import mysqlCallbacks from 'mysql2';
import mysqlDriver from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf, integerIn, runWithin, sql, textIn } from '../src/index.ts';
import { mysql, mysqlDatabase, mysqlExecutor } from '../src/mysql.ts';
import { databaseSuite, heldOpen } from './database-suite.ts';
import { deferred } from './deferred.ts';

const uri = (): string => process.env['MARIADB_URL'] ?? '';

databaseSuite({
  dialect: mysql,
  bytes: 'longblob',
  flag: 'boolean',
  bare: mysqlExecutor,
  open: async () => {
    const pool = mysqlDriver.createPool(uri());
    return { database: mysqlDatabase(pool), close: () => pool.end() };
  },
});

describe('MySQL and MariaDB', () => {
  let pool: mysqlDriver.Pool;
  const table = mysql.table(`t_${process.pid}_my`);

  beforeAll(async () => {
    pool = mysqlDriver.createPool(uri());
    await mysqlDatabase(pool).run(sql`create table ${table} (id integer not null primary key, n integer)`);
    await mysqlDatabase(pool).run(sql`insert into ${table} values (${1}, ${0}), (${2}, ${0})`);
  });

  afterAll(async () => {
    await mysqlDatabase(pool).run(sql`drop table ${table}`);
    await pool.end();
  });

  it('a pool is refused, with promises or callbacks', async () => {
    const callbacks = mysqlCallbacks.createPool(uri());
    expect(() => mysqlExecutor(pool as never)).toThrow('tx is a pool of mysql2');
    expect(() => mysqlExecutor(callbacks as never)).toThrow('tx is a pool of mysql2');
    await callbacks.promise().end();
  });

  it('a pool with callbacks is a database too', async () => {
    const callbacks = mysqlCallbacks.createPool(uri());
    const { rows } = await mysqlDatabase(callbacks).run(sql`select n from ${table} where id = ${2}`);
    expect(rows).toEqual([{ n: 0 }]);
    await callbacks.promise().end();
  });

  it('a connection with callbacks is taken as it is', async () => {
    const connection = mysqlCallbacks.createConnection(uri());
    const executor = mysqlExecutor(connection);
    await connection.promise().beginTransaction();
    await runWithin(executor, sql`insert into ${table} values (${200}, ${0})`);
    await connection.promise().rollback();
    expect((await executor.run(sql`select * from ${table} where id = ${200}`)).rows).toEqual([]);
    await connection.promise().end();
  });

  it('a connection on which no transaction was begun is found out after the statement', async () => {
    const connection = await pool.getConnection();
    try {
      const write = (id: number) => sql`insert into ${table} values (${id}, ${0})`;
      await expect(runWithin(mysqlExecutor(connection), write(100))).rejects.toThrow(
        'no transaction is open',
      );
      await connection.beginTransaction();
      expect((await runWithin(mysqlExecutor(connection), write(101))).affected).toBe(1);
      await connection.rollback();
      await connection.query('set autocommit = 0');
      expect((await runWithin(mysqlExecutor(connection), write(102))).affected).toBe(1);
      await connection.rollback();
    } finally {
      connection.destroy();
    }
  });

  it.each(['+00:00', '+05:30', '-05:00'])("the clock is not the session's: %s", async (zone) => {
    await mysqlDatabase(pool).transaction(async (tx) => {
      await tx.run(sql`set time_zone = ${zone}`);
      const { rows } = await tx.run(sql`select ${mysql.now} as now`);
      expect(Math.abs(integerIn(rows[0] ?? {}, 'now') - Date.now())).toBeLessThan(60_000);
      await tx.run(sql`set time_zone = default`);
    });
  });

  it('values are safe and rows are rows, whatever the connection was set to', async () => {
    const odd = mysqlDriver.createPool({
      uri: uri(),
      rowsAsArray: true,
      namedPlaceholders: true,
      supportBigNumbers: true,
      bigNumberStrings: true,
      typeCast: (field, next) => (field.type === 'TINY' ? field.string() === '1' : next()),
    });
    const database = mysqlDatabase(odd);
    await database.transaction(async (tx) => {
      await tx.run(sql`set sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'`);
      const word = "\\' or 1=1 -- ";
      const { rows } = await tx.run(sql`select ${word} as word, cast(${7} as signed) as n`);
      expect(textIn(rows[0] ?? {}, 'word')).toBe(word);
      expect(integerIn(rows[0] ?? {}, 'n')).toBe(7);
    });
    await odd.end();
  });

  it('a lock is waited for as long as was said, and the session is left as it was', async () => {
    const one = mysqlDriver.createPool({ uri: uri(), connectionLimit: 1 });
    const database = mysqlDatabase(one);
    const waits = async (): Promise<number> => {
      const { rows } = await database.run(sql`select @@innodb_lock_wait_timeout as seconds`);
      return integerIn(rows[0] ?? {}, 'seconds');
    };
    const before = await waits();
    const held = await heldOpen(mysqlDatabase(pool), (tx) =>
      tx.run(sql`update ${table} set n = 1 where id = ${1}`),
    );
    const error = await database
      .transaction((tx) => tx.run(sql`update ${table} set n = 2 where id = ${1}`), { lockWait: 50 })
      .catch((reason: unknown) => reason);
    expect(failureOf(error)).toBe('lock-timeout');
    await held.end();
    expect(await waits()).toBe(before);
    await one.end();
  });

  it('a deadlock is a conflict', async () => {
    const database = mysqlDatabase(pool);
    const touch = (id: number) => sql`update ${table} set n = n + 1 where id = ${id}`;
    const { promise: both, resolve: ready } = deferred();
    let begun = 0;
    const crossing = (first: number, second: number) =>
      database.transaction(async (tx) => {
        await tx.run(touch(first));
        begun += 1;
        if (begun === 2) ready();
        await both;
        await tx.run(touch(second));
      });
    const outcomes = await Promise.allSettled([crossing(1, 2), crossing(2, 1)]);
    const reasons = outcomes.flatMap((one) => (one.status === 'rejected' ? [failureOf(one.reason)] : []));
    expect(reasons).toEqual(['conflict']);
  });

  it('a transaction reads what others have committed meanwhile, at that level', async () => {
    const database = mysqlDatabase(pool);
    const read = sql`select n from ${table} where id = ${2}`;
    await database.transaction(
      async (tx) => {
        await tx.run(read);
        await database.run(sql`update ${table} set n = ${77} where id = ${2}`);
        expect((await tx.run(read)).rows).toEqual([{ n: 77 }]);
      },
      { isolation: 'read committed' },
    );
  });

  it('a connection that is killed fails the transaction and is not handed out again', async () => {
    const one = mysqlDriver.createPool({ uri: uri(), connectionLimit: 1 });
    const database = mysqlDatabase(one);
    const killed = database.transaction(async (tx) => {
      const { rows } = await tx.run(sql`select connection_id() as id`);
      await pool.query(`kill ${integerIn(rows[0] ?? {}, 'id')}`);
      await tx.run(sql`select sleep(5)`);
    });
    expect(failureOf(await killed.catch((reason: unknown) => reason))).toBe('unavailable');
    expect((await database.run(sql`select 1 as one`)).rows).toEqual([{ one: 1 }]);
    await one.end();
  });
});
