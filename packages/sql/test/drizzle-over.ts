/** What the tests use of drizzle. Its own declarations do not pass this workspace's checks, so none is imported. */
export interface Drizzle {
  execute(query: never): PromiseLike<unknown>;
  transaction<T>(work: (tx: DrizzleTx) => Promise<T>): Promise<T>;
}

interface DrizzleTx {
  execute(query: never): PromiseLike<unknown>;
  rollback(): never;
}

export async function drizzleOver(driver: 'node-postgres' | 'mysql2', pool: unknown): Promise<Drizzle> {
  // Not a literal, or the compiler would read its declarations.
  const from: string = `drizzle-orm/${driver}`;
  const { drizzle } = (await import(from)) as { drizzle: (client: unknown) => Drizzle };
  return drizzle(pool);
}
