import knexDriver, { type Knex } from 'knex';
import { Kysely, MysqlDialect } from 'kysely';
import mysqlCallbacks from 'mysql2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forDrizzle } from '../src/drizzle.ts';
import { forKnex } from '../src/knex.ts';
import { forKysely } from '../src/kysely.ts';
import { mysql, mysqlDatabase, mysqlExecutor } from '../src/mysql.ts';
import { drizzleOver } from './drizzle-over.ts';
import { layerSuite } from './layer-suite.ts';

const uri = process.env['MARIADB_URL'] ?? 'mysql://127.0.0.1';
const pool = mysqlCallbacks.createPool(uri);
const setup = {
  database: mysqlDatabase(pool),
  dialect: mysql,
  bytes: 'longblob',
  flag: 'boolean',
  checked: mysqlExecutor,
};

describe('kysely on MariaDB', () => {
  const db = new Kysely<unknown>({ dialect: new MysqlDialect({ pool }) });
  layerSuite({ ...setup, transaction: (work) => db.transaction().execute((trx) => work(forKysely(trx))) });
});

describe('drizzle on MariaDB', () => {
  const db = drizzleOver('mysql2', pool);
  layerSuite({ ...setup, transaction: (work) => db.transaction((tx) => work(forDrizzle(tx))) });

  it("drizzle's db is refused", () => {
    expect(() => forDrizzle(db as never)).toThrow('forDrizzle needs a transaction');
  });
});

describe('knex on MariaDB', () => {
  let knex: Knex;
  beforeAll(() => {
    knex = knexDriver({ client: 'mysql2', connection: uri });
  });
  afterAll(() => knex.destroy());
  layerSuite({ ...setup, transaction: (work) => knex.transaction((trx) => work(forKnex(trx))) });
});

afterAll(() => pool.promise().end());
