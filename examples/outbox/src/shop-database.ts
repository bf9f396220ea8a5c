import type { SqlInbox } from '@acemq/inbox';
import { postgresInbox } from '@acemq/inbox/pg';
import { sqliteInbox } from '@acemq/inbox/sqlite';
import type { OutboxStore } from '@acemq/outbox';
import { PgOutboxStore } from '@acemq/outbox/pg';
import { SqliteOutboxStore } from '@acemq/outbox/sqlite';
import pg from 'pg';

/** What every program of the shop keeps in the database. */
export interface ShopDatabase {
  readonly store: OutboxStore<never, unknown>;
  readonly inbox: SqlInbox;
  /** Makes the tables, where they are not there. */
  migrate(): Promise<void>;
  /** Stores an order and, in the same transaction, whatever `send` sends. An order that is there already stays as it is. */
  placeOrder(id: string, send: (tx: never) => Promise<unknown>): Promise<void>;
  /** Writes down that a message was delivered, whatever becomes of it. */
  delivered(id: string): Promise<void>;
  count(what: 'orders' | 'effects' | 'deliveries' | 'distinct (id) deliveries'): Promise<number>;
  drop(): Promise<void>;
  close(): Promise<void>;
}

const TABLES = {
  orders: 'id varchar(64) primary key',
  effects: 'id varchar(64) not null',
  deliveries: 'id varchar(64) not null',
} as const;

/**
 * Opens the database of a run.
 *
 * @param target - The URL of a PostgreSQL, or the path of a SQLite file.
 * @param run - What the tables of the run are called after.
 */
export function openShop(target: string, run: string): Promise<ShopDatabase> {
  return target.startsWith('postgres') ? openPostgres(target, run) : openSqliteFile(target);
}

/** Whether a PostgreSQL answers there. */
export async function postgresAnswers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  client.on('error', () => {}); // It is told by the query as well.
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}

async function openPostgres(url: string, run: string): Promise<ShopDatabase> {
  const pool = new pg.Pool({ connectionString: url });
  pool.on('error', (error: Error) => console.error('a connection to PostgreSQL broke:', error.message));
  const store = new PgOutboxStore(pool, { table: `${run}_outbox` });
  const inbox = postgresInbox(pool, { table: `${run}_inbox` });
  const table = (name: string): string => name.replace(/(\w+)$/, `${run}_$1`);
  return {
    store,
    inbox,
    migrate: async () => {
      await store.migrate();
      await inbox.migrate();
      for (const [name, columns] of Object.entries(TABLES))
        await pool.query(`create table ${table(name)} (${columns})`);
    },
    placeOrder: async (id, send) => {
      const client = await pool.connect();
      let failed: Error | undefined;
      try {
        await client.query('begin');
        await client.query(`insert into ${table('orders')} (id) values ($1) on conflict do nothing`, [id]);
        await send(client as never);
        await client.query('commit');
      } catch (error) {
        failed = error as Error; // The pool ends the connection, and with it the transaction.
        throw error;
      } finally {
        client.release(failed);
      }
    },
    delivered: async (id) => void (await pool.query(`insert into ${table('deliveries')} values ($1)`, [id])),
    count: async (what) => {
      const [, distinct = '*', name = ''] = /^(?:(distinct \(id\)) )?(\w+)$/.exec(what) ?? [];
      const { rows } = await pool.query(`select count(${distinct})::integer as n from ${table(name)}`);
      return rows[0].n as number;
    },
    drop: async () => {
      const outbox = ['', '_lanes', '_relays', '_rests', '_migrations'].map((end) => `${run}_outbox${end}`);
      const all = [...outbox, `${run}_inbox`, `${run}_inbox_migrations`, ...Object.keys(TABLES).map(table)];
      await pool.query(`drop table if exists ${all.join(', ')}`);
    },
    close: async () => {
      await inbox.close();
      await pool.end();
    },
  };
}

async function openSqliteFile(path: string): Promise<ShopDatabase> {
  const store = await SqliteOutboxStore.open(path);
  const orders = await SqliteOutboxStore.open(path);
  // A connection for the inbox alone: SQLite has one transaction a connection.
  const lent = await SqliteOutboxStore.open(path);
  const inbox = sqliteInbox(await lent.transaction(async (handle) => handle));
  const run = (strings: readonly string[], ...values: readonly string[]): ReturnType<typeof store.run> =>
    orders.run({ strings, values });
  return {
    store: store as OutboxStore<never, unknown>,
    inbox,
    migrate: async () => {
      await store.migrate();
      await inbox.migrate();
      for (const [name, columns] of Object.entries(TABLES)) await run([`create table ${name} (${columns})`]);
    },
    placeOrder: async (id, send) => {
      await orders.transaction(async (handle) => {
        (handle.prepare('insert or ignore into orders (id) values (?)') as { run(id: string): unknown }).run(
          id,
        );
        await send(handle as never);
      });
    },
    delivered: async (id) => void (await run`insert into deliveries values (${id})`),
    count: async (what) => {
      const [, distinct = '*', name = ''] = /^(?:(distinct \(id\)) )?(\w+)$/.exec(what) ?? [];
      const { rows } = await run([`select count(${distinct}) as n from ${name}`]);
      return Number(rows[0]?.['n']);
    },
    drop: async () => {},
    close: async () => {
      await inbox.close();
      await lent.close();
      await orders.close();
      await store.close();
    },
  };
}
