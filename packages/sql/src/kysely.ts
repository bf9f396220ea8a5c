// A transaction of kysely, for a store.
import { ConfigurationError } from '@acemq/core';
import { sql as raw, type Transaction } from 'kysely';
import type { SqlExecutor } from './executor.ts';
import { layerDialect, layerValue } from './layer.ts';

/**
 * Runs statements in a transaction of kysely, the one that `db.transaction().execute()` hands to its callback or that
 * `db.startTransaction()` gives. The plugins of the instance see neither the statement nor its rows.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for kysely outside a transaction.
 */
export function forKysely<DB>(trx: Transaction<DB>): SqlExecutor {
  // A caller without types may pass anything.
  const given = trx as { readonly isTransaction?: unknown } | null | undefined;
  if (given?.isTransaction !== true) {
    throw new ConfigurationError(
      'forKysely needs a transaction of kysely. Outside one each statement runs on a connection of its own choice, so the row would be committed by itself. Give the trx of db.transaction().execute((trx) => …)',
    );
  }
  const dialect = layerDialect(trx.getExecutor().adapter.constructor.name);
  const plain = trx.withoutPlugins();
  return {
    dialect,
    async run(statement) {
      const values = statement.values.map((value) => layerValue(value, dialect));
      // A template's own `raw` is not read.
      const result = await raw<Record<string, unknown>>(
        statement.strings as unknown as TemplateStringsArray,
        ...values,
      ).execute(plain);
      return { rows: result.rows, affected: Number(result.numAffectedRows ?? 0) };
    },
  };
}
