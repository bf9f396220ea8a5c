// A transaction of knex, for a store.
import { ConfigurationError } from '@acemq/core';
import type { SqlExecutor } from './executor.ts';
import { layerDialect, layerResult, layerValue } from './layer.ts';
import { textOf } from './statement.ts';

/** What is asked of a transaction of knex. */
export interface KnexTransaction {
  raw(text: string, bindings: never): PromiseLike<unknown>;
  readonly isTransaction?: boolean;
}

/**
 * Runs statements in a transaction of knex, the `trx` of `knex.transaction()`.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for knex outside a transaction.
 */
export function forKnex(trx: KnexTransaction): SqlExecutor {
  // A caller without types may pass anything.
  const given = trx as Partial<KnexTransaction> | null | undefined;
  if (given?.isTransaction !== true || typeof given.raw !== 'function') {
    throw new ConfigurationError(
      'forKnex needs a transaction of knex. Outside one each statement runs on a connection of its own choice, so the row would be committed by itself. Give the trx of knex.transaction(async (trx) => …)',
    );
  }
  const { client } = trx as { readonly client?: { readonly dialect?: unknown } };
  const dialect = layerDialect(client?.dialect);
  return {
    dialect,
    async run(statement) {
      const strings = statement.strings.map((piece) => piece.replaceAll('?', '\\?'));
      const values = statement.values.map((value) => layerValue(value, dialect));
      const text = textOf({ strings, values: statement.values }, () => '?');
      return layerResult(await trx.raw(text, values as never));
    },
  };
}
