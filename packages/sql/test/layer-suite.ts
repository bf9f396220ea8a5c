import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  bytesIn,
  type Dialect,
  failureOf,
  flagIn,
  integerIn,
  type SqlDatabase,
  type SqlExecutor,
  type SqlRow,
  sql,
  textIn,
  textOrNullIn,
  withLockWait,
} from '../src/index.ts';
import { heldOpen } from './database-suite.ts';

export interface LayerSetup {
  readonly dialect: Dialect;
  /** Beside the layer, to see what was committed. */
  readonly database: SqlDatabase;
  readonly bytes: string;
  readonly flag: string;
  /** What a store makes of what it is given. */
  checked(executor: SqlExecutor): SqlExecutor;
  /** Opens a transaction of the layer and hands over its executor. */
  transaction<T>(work: (executor: SqlExecutor) => Promise<T>): Promise<T>;
}

let made = 0;

/** What the executor over a layer promises, whichever it is. */
export function layerSuite({ dialect, database, bytes, flag, checked, transaction }: LayerSetup): void {
  const table = dialect.table(`t_${process.pid}_layer_${made++}`);

  beforeAll(() =>
    database.run({
      strings: [
        `create table ${table} (seq bigint not null primary key, word varchar(100), data ${bytes}, yes ${flag}, gone varchar(9))`,
      ],
      values: [],
    }),
  );
  afterAll(() => database.run(sql`drop table ${table}`));

  it('says which database it is, so that a store can refuse another', async () => {
    await transaction(async (executor) => {
      expect(executor.dialect).toBe(dialect.name);
      expect(checked(executor)).toBe(executor);
    });
  });

  it('writes in the transaction of the application, values as they are, and counts', async () => {
    const word = `O'Brien \\ "x" \u{1F600} ? $1 ?? :a`;
    const data = Uint8Array.of(0, 255, 39, 92, 0);
    await transaction(async (executor) => {
      const written = await executor.run(
        sql`insert into ${table} values (${2 ** 40}, ${word}, ${data}, ${true}, ${null}), (${7n}, ${''}, ${data}, ${false}, ${'x'})`,
      );
      expect(written).toEqual({ rows: [], affected: 2 });
      const read = await executor.run(sql`select seq, word, data, yes, gone from ${table} where seq > ${7}`);
      expect(read.affected).toBe(0);
      const row = read.rows[0] as SqlRow;
      expect(integerIn(row, 'seq')).toBe(2 ** 40);
      expect(textIn(row, 'word')).toBe(word);
      expect([...bytesIn(row, 'data')]).toEqual([...data]);
      expect(flagIn(row, 'yes')).toBe(true);
      expect(textOrNullIn(row, 'gone')).toBeNull();
    });
    expect((await database.run(sql`select * from ${table}`)).rows).toHaveLength(2);
    const removed = await transaction((executor) => executor.run(sql`delete from ${table} where seq > ${0}`));
    expect(removed.affected).toBe(2);
  });

  it('writes nothing where the application rolls back', async () => {
    const refused = new Error('no stock');
    await expect(
      transaction(async (executor) => {
        await executor.run(sql`insert into ${table} (seq) values (${1})`);
        throw refused;
      }),
    ).rejects.toBe(refused);
    expect((await database.run(sql`select * from ${table}`)).rows).toEqual([]);
  });

  it('counts a write that met a row which is there as none', async () => {
    const insert = dialect.name === 'mysql' ? sql`insert ignore` : sql`insert`;
    const end = dialect.name === 'mysql' ? sql`` : sql`on conflict (seq) do nothing`;
    await transaction(async (executor) => {
      const once = sql`${insert} into ${table} (seq) values (${1}) ${end}`;
      expect((await executor.run(once)).affected).toBe(1);
      expect((await executor.run(once)).affected).toBe(0);
      await executor.run(sql`delete from ${table} where seq = ${1}`);
    });
  });

  const waits = dialect.name === 'sqlite' ? undefined : it; // SQLite has no such wait.
  waits?.('waits for a lock as long as was said', async () => {
    const insert = dialect.name === 'mysql' ? sql`insert ignore` : sql`insert`;
    const end = dialect.name === 'mysql' ? sql`` : sql`on conflict (seq) do nothing`;
    const claim = sql`${insert} into ${table} (seq) values (${9}) ${end}`;
    const held = await heldOpen(database, (tx) => tx.run(claim));
    const late = transaction((executor) =>
      withLockWait(executor, dialect.name, 100, () => executor.run(claim)),
    );
    expect(failureOf(await late.catch((error: unknown) => error))).toBe('lock-timeout');
    await held.end();
    const free = transaction((executor) =>
      withLockWait(executor, dialect.name, 100, () => executor.run(claim)),
    );
    expect((await free).affected).toBe(0);
    await database.run(sql`delete from ${table}`);
  });
}
