// A transaction of drizzle, for a store.
import { ConfigurationError } from '@acemq/core';
import type { SqlExecutor } from './executor.ts';
import { layerDialect, layerResult, layerValue } from './layer.ts';
import { textOf } from './statement.ts';

/** What is asked of drizzle's transaction on PostgreSQL (`drizzle-orm/node-postgres`) or MySQL (`drizzle-orm/mysql2`). */
export interface DrizzleTransaction {
  execute(query: never): PromiseLike<unknown>;
  /** Which only a transaction has. */
  rollback(): never;
}

/** What drizzle asks of an object of its `sql` when it is to be run. */
interface DrizzleSql {
  toQuery(config: { readonly escapeParam: (index: number, value: unknown) => string }): {
    readonly sql: string;
    readonly params: readonly unknown[];
  };
}

/** Drizzle marks its classes with this, which minifiers leave alone. */
const KIND = Symbol.for('drizzle:entityKind');

/**
 * Runs statements in a transaction of drizzle, the `tx` that `db.transaction()` hands to its callback.
 *
 * For SQLite there is no such form, since drizzle's transaction there is synchronous: give the store the database of
 * better-sqlite3 itself, in which drizzle's transaction is open.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for drizzle's `db`.
 */
export function forDrizzle(tx: DrizzleTransaction): SqlExecutor {
  // A caller without types may pass anything.
  const given = tx as Partial<DrizzleTransaction> | null | undefined;
  if (typeof given?.rollback !== 'function' || typeof given.execute !== 'function') {
    throw new ConfigurationError(
      "forDrizzle needs a transaction of drizzle on PostgreSQL or MySQL. drizzle's db runs each statement on a connection of its own choice, so the row would be committed by itself. Give the tx of db.transaction(async (tx) => …)",
    );
  }
  const dialect = layerDialect((tx.constructor as { readonly [KIND]?: unknown })[KIND]);
  return {
    dialect,
    async run(statement) {
      const params = statement.values.map((value) => layerValue(value, dialect));
      const query: DrizzleSql = {
        toQuery: ({ escapeParam }) => ({
          sql: textOf(statement, (index) => escapeParam(index - 1, params[index - 1])),
          params,
        }),
      };
      return layerResult(await tx.execute({ getSQL: () => query } as never));
    },
  };
}
