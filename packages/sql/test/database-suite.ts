import { ConfigurationError } from '@acemq/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bytesIn,
  type Dialect,
  failureOf,
  flagIn,
  integerIn,
  integerOrNullIn,
  migrate,
  readMigrations,
  type SqlDatabase,
  type SqlExecutor,
  type SqlRow,
  type SqlTransaction,
  sql,
  type TableName,
  textIn,
  textOrNullIn,
} from '../src/index.ts';
import { deferred } from './deferred.ts';

/** What the suite is run with. */
export interface SuiteSetup<Connection> {
  readonly dialect: Dialect;
  /** Opens a database of its own connections. */
  open(): Promise<{ readonly database: SqlDatabase<Connection>; close(): Promise<void> }>;
  /** The executor over the connection of a transaction, as a store makes it of what an application gives. */
  bare(connection: Connection): SqlExecutor;
  /** Column types that the databases call differently. */
  readonly bytes: string;
  readonly flag: string;
}

const migrations = (name: string): URL => new URL(`./migrations/${name}/`, import.meta.url);

let made = 0;
const ownName = (what: string): string => `t_${process.pid}_${Date.now() % 1_000_000}_${made++}_${what}`;

/** What every database promises, whatever its driver. */
export function databaseSuite<Connection>({
  dialect,
  open,
  bare,
  bytes,
  flag,
}: SuiteSetup<Connection>): void {
  let opened: Awaited<ReturnType<typeof open>>;
  let database: SqlDatabase<Connection>;
  const tables: TableName[] = [];

  beforeAll(async () => {
    opened = await open();
    database = opened.database;
  });

  afterAll(async () => {
    for (const table of tables) await database.run(sql`drop table if exists ${table}`);
    await opened.close();
  });

  function ownTable(what: string): TableName {
    const table = dialect.table(ownName(what));
    tables.push(table);
    return table;
  }

  async function numbers(): Promise<TableName> {
    const table = ownTable('n');
    await database.run(sql`create table ${table} (id integer not null primary key, n integer)`);
    return table;
  }

  const only = async (
    executor: Pick<SqlExecutor, 'run'>,
    statement: Parameters<SqlExecutor['run']>[0],
  ): Promise<SqlRow> => {
    const { rows } = await executor.run(statement);
    expect(rows).toHaveLength(1);
    return rows[0] as SqlRow;
  };

  describe('values', () => {
    it('come back as they went in', async () => {
      const table = ownTable('v');
      await database.run({
        strings: [
          `create table ${table} (seq bigint not null primary key, word varchar(200), data ${bytes}, yes ${flag}, gone varchar(10))`,
        ],
        values: [],
      });
      const word = `O'Brien \\ "x" \u{1F600} ? $1 %s :a`;
      const data = Uint8Array.from({ length: 256 }, (_, index) => index);
      const view = new Uint8Array(data.buffer, 250, 3);
      await database.transaction(async (tx) => {
        await tx.run(sql`insert into ${table} values (${2 ** 40 + 1}, ${word}, ${data}, ${true}, ${null})`);
        await tx.run(
          sql`insert into ${table} values (${9007199254740991n}, ${''}, ${view}, ${false}, ${'x'})`,
        );
        await tx.run(sql`insert into ${table} values (${-5}, ${'a'}, ${new Uint8Array()}, ${false}, ${'x'})`);
      });
      const { rows } = await database.run(sql`select seq, word, data, yes, gone from ${table} order by seq`);
      expect(rows.map((row) => integerIn(row, 'seq'))).toEqual([-5, 2 ** 40 + 1, Number.MAX_SAFE_INTEGER]);
      const [empty, row, last] = rows as [SqlRow, SqlRow, SqlRow];
      expect(textIn(row, 'word')).toBe(word);
      expect([...bytesIn(row, 'data')]).toEqual([...data]);
      expect(flagIn(row, 'yes')).toBe(true);
      expect(textOrNullIn(row, 'gone')).toBeNull();
      expect(integerOrNullIn(row, 'gone')).toBeNull();
      expect([...bytesIn(last, 'data')]).toEqual([250, 251, 252]);
      expect(flagIn(last, 'yes')).toBe(false);
      expect(textIn(last, 'word')).toBe('');
      expect(bytesIn(empty, 'data')).toHaveLength(0);
    });

    it('a column that is not there is named, not read as undefined', async () => {
      const row = await only(database, sql`select 1 as one`);
      expect(() => integerIn(row, 'two')).toThrow('no column "two", but "one"');
    });

    it("the database's clock is in milliseconds, and close to this machine's", async () => {
      const row = await only(database, sql`select ${dialect.now} as now`);
      expect(Math.abs(integerIn(row, 'now') - Date.now())).toBeLessThan(60_000);
      const fine = await only(database, sql`select ${dialect.now} - ${integerIn(row, 'now')} as later`);
      expect(integerIn(fine, 'later')).toBeLessThan(60_000);
    });
  });

  describe('counting', () => {
    it('says how many rows a statement wrote, and 0 for one that reads', async () => {
      const table = await numbers();
      const affected = async (statement: Parameters<SqlExecutor['run']>[0]): Promise<number> =>
        (await database.run(statement)).affected;
      expect(await affected(sql`insert into ${table} values (${1}, ${1}), (${2}, ${1}), (${3}, ${1})`)).toBe(
        3,
      );
      expect(await affected(sql`update ${table} set n = ${2} where id <= ${2}`)).toBe(2);
      expect(await affected(sql`update ${table} set n = ${2} where id = ${9}`)).toBe(0);
      expect(await affected(sql`select * from ${table} where n > ${0}`)).toBe(0);
      expect(await affected(sql`delete from ${table} where n = ${2}`)).toBe(2);
    });
  });

  describe('transactions', () => {
    it('commit what was written, and give what the work returned', async () => {
      const table = await numbers();
      const answer = await database.transaction(async (tx) => {
        await tx.run(sql`insert into ${table} values (${1}, ${1})`);
        return 'done';
      });
      expect(answer).toBe('done');
      expect((await database.run(sql`select * from ${table}`)).rows).toHaveLength(1);
    });

    it('roll back when the work throws, and throw its error on', async () => {
      const table = await numbers();
      const failed = new Error('no stock');
      await expect(
        database.transaction(async (tx) => {
          await tx.run(sql`insert into ${table} values (${1}, ${1})`);
          throw failed;
        }),
      ).rejects.toBe(failed);
      expect((await database.run(sql`select * from ${table}`)).rows).toHaveLength(0);
    });

    it("show the driver's connection, which a store takes as it is", async () => {
      const table = await numbers();
      await database.transaction(async (tx) => {
        await bare(tx.connection).run(sql`insert into ${table} values (${1}, ${1})`);
        expect((await tx.run(sql`select * from ${table}`)).rows).toHaveLength(1);
      });
      expect((await database.run(sql`select * from ${table}`)).rows).toHaveLength(1);
    });

    it('give the executor of a layer back as it is, unless it is of another database', () => {
      const own = { run: () => Promise.resolve({ rows: [], affected: 0 }) };
      expect(bare(own as never)).toBe(own);
      const other = { ...own, dialect: dialect.name === 'sqlite' ? 'postgres' : 'sqlite' };
      expect(() => bare(other as never)).toThrow(`this store is for ${dialect.name}`);
    });

    it.each([undefined, null, 'url', 7, {}, { query: 1 }])('refuse %j', (given) => {
      expect(() => bare(given as never)).toThrow(ConfigurationError);
    });
  });

  describe('failures', () => {
    const failed = async (work: Promise<unknown>): Promise<string> =>
      work.then(
        () => 'nothing failed',
        (error: unknown) => failureOf(error),
      );

    it('are known by their cause', async () => {
      const table = await numbers();
      await database.run(sql`insert into ${table} values (${1}, ${1})`);
      expect(await failed(database.run(sql`select * from ${dialect.table(ownName('none'))}`))).toBe(
        'missing',
      );
      expect(await failed(database.run(sql`select absent from ${table}`))).toBe('missing');
      expect(await failed(database.run(sql`insert into ${table} (id, m) values (${1}, ${1})`))).toBe(
        'missing',
      );
      expect(await failed(database.run(sql`insert into ${table} values (${1}, ${1})`))).toBe('duplicate');
      expect(await failed(database.run(sql`select 1 from from`))).toBe('other');
    });

    it('are found below a layer that wraps them', async () => {
      const error = await database.run(sql`select * from ${dialect.table(ownName('none'))}`).catch((e) => e);
      expect(failureOf(new Error('query failed', { cause: error }))).toBe('missing');
    });
  });

  describe('migrations', () => {
    const standard = 'acemq_thing';

    function thing(): TableName {
      const table = ownTable('T');
      tables.push(table.suffixed('_parts'), table.suffixed('_migrations'));
      return table;
    }

    it('are applied once, to a table of any name', async () => {
      const table = thing();
      const files = await readMigrations(migrations('good'));
      expect(await migrate(database, files.slice(0, 1), { standard, table })).toEqual(['001_thing.sql']);
      expect(await migrate(database, files, { standard, table })).toEqual(['002_parts.sql']);
      expect(await migrate(database, files, { standard, table })).toEqual([]);
      await database.run(sql`insert into ${table} values (${'a'}, ${'b'})`);
      await database.run(sql`insert into ${table.suffixed('_parts')} values (${'a'})`);
    });

    it('may be applied by several processes at once', async () => {
      const table = thing();
      const files = await readMigrations(migrations('good'));
      const others = await Promise.all([open(), open(), open()]);
      try {
        const applied = await Promise.all(
          others.map((other) => migrate(other.database, files, { standard, table })),
        );
        expect(applied.flat().sort()).toEqual(['001_thing.sql', '002_parts.sql']);
      } finally {
        for (const other of others) await other.close();
      }
    });

    it('say that a file was changed after it was applied', async () => {
      const table = thing();
      await migrate(database, await readMigrations(migrations('good')), { standard, table });
      const changed = await readMigrations(migrations('changed'));
      await expect(migrate(database, changed, { standard, table })).rejects.toThrow(
        'the migration 001_thing.sql is not the one that was applied',
      );
    });

    it('leave alone what a newer version has applied', async () => {
      const table = thing();
      const files = await readMigrations(migrations('good'));
      await migrate(database, files, { standard, table });
      expect(await migrate(database, files.slice(0, 1), { standard, table })).toEqual([]);
    });
  });
}

/** Holds a transaction open until it is told to end. */
export async function heldOpen<Connection>(
  database: SqlDatabase<Connection>,
  first: (tx: SqlTransaction<Connection>) => Promise<unknown>,
): Promise<{ end(): Promise<void> }> {
  const { promise: ending, resolve: end } = deferred();
  const { promise: begun, resolve: begin } = deferred();
  const done = database.transaction(async (tx) => {
    await first(tx);
    begin();
    await ending;
  });
  await Promise.race([begun, done]);
  return {
    end: async () => {
      end();
      await done;
    },
  };
}
