import { createRequire } from 'node:module';

/** What the tests use of drizzle. Its own declarations do not pass this workspace's checks, so none is imported. */
export interface Drizzle {
  execute(query: never): PromiseLike<unknown>;
  transaction<T>(work: (tx: DrizzleTx) => Promise<T>): Promise<T>;
}

interface DrizzleTx {
  execute(query: never): PromiseLike<unknown>;
  rollback(): never;
}

/** A module of drizzle over one driver. */
interface Driver {
  drizzle(client: unknown): Drizzle;
}

const require = createRequire(import.meta.url);

export function drizzleOver(driver: 'node-postgres' | 'mysql2', pool: unknown): Drizzle {
  const { drizzle }: Driver =
    driver === 'mysql2' ? require('drizzle-orm/mysql2') : require('drizzle-orm/node-postgres');
  return drizzle(pool);
}
