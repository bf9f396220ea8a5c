import { ConfigurationError } from '@acemq/core';
import knexDriver, { type Knex } from 'knex';
import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forDrizzle } from '../src/drizzle.ts';
import { failureOf, sql } from '../src/index.ts';
import { forKnex } from '../src/knex.ts';
import { forKysely } from '../src/kysely.ts';
import { pgDatabase, pgExecutor, postgres } from '../src/pg.ts';
import { drizzleOver } from './drizzle-over.ts';
import { layerSuite } from './layer-suite.ts';

const pool = new pg.Pool({ connectionString: process.env['POSTGRES_URL'] });
const database = pgDatabase(pool);
const setup = { database, dialect: postgres, bytes: 'bytea', flag: 'boolean', checked: pgExecutor };

describe('kysely on PostgreSQL', () => {
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool }),
    plugins: [new CamelCasePlugin()],
  });
  layerSuite({ ...setup, transaction: (work) => db.transaction().execute((trx) => work(forKysely(trx))) });

  it('its controlled transactions are transactions', async () => {
    const trx = await db.startTransaction().execute();
    expect((await forKysely(trx).run(sql`select ${1} + 1 as two`)).rows).toEqual([{ two: 2 }]);
    await trx.rollback().execute();
  });

  it('kysely outside a transaction is refused', () => {
    expect(() => forKysely(db as never)).toThrow(ConfigurationError);
    expect(() => forKysely(db as never)).toThrow('forKysely needs a transaction');
  });
});

describe('drizzle on PostgreSQL', () => {
  const db = drizzleOver('node-postgres', pool);
  layerSuite({ ...setup, transaction: (work) => db.transaction((tx) => work(forDrizzle(tx))) });

  it("drizzle's db is refused", () => {
    expect(() => forDrizzle(db as never)).toThrow(ConfigurationError);
    expect(() => forDrizzle(db as never)).toThrow('forDrizzle needs a transaction');
  });

  it('an error keeps its cause, though drizzle wraps it', async () => {
    const absent = postgres.table('acemq_absent');
    const failed = db.transaction((tx) => forDrizzle(tx).run(sql`select * from ${absent}`));
    expect(failureOf(await failed.catch((error: unknown) => error))).toBe('missing');
  });
});

describe('knex on PostgreSQL', () => {
  let knex: Knex;
  beforeAll(() => {
    knex = knexDriver({ client: 'pg', connection: process.env['POSTGRES_URL'] ?? '' });
  });
  afterAll(() => knex.destroy());
  layerSuite({ ...setup, transaction: (work) => knex.transaction((trx) => work(forKnex(trx))) });

  it('knex outside a transaction is refused', () => {
    expect(() => forKnex(knex)).toThrow(ConfigurationError);
    expect(() => forKnex(knex)).toThrow('forKnex needs a transaction');
  });

  it('a question mark in the text is text', async () => {
    const { rows } = await knex.transaction((trx) =>
      forKnex(trx).run(sql`select '?' as mark, ${'a?b'} as word`),
    );
    expect(rows).toEqual([{ mark: '?', word: 'a?b' }]);
  });
});

afterAll(() => pool.end());
