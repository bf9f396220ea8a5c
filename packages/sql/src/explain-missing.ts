import { ConfigurationError } from '@acemq/core';
import type { TableName } from './dialect.ts';
import { failureOf } from './failure.ts';

/**
 * What to throw in place of a driver's error: where a table or column is not there, a `ConfigurationError` that says which
 * migration makes it, with the driver's as `cause`; else the error itself.
 *
 * @param migration - The package and file, such as `@acemq/outbox/sql/postgres/001_outbox.sql`.
 */
export function explainMissing(error: unknown, table: TableName, migration: string): unknown {
  if (failureOf(error) !== 'missing') return error;
  return new ConfigurationError(
    `the table ${table.schema === undefined ? '' : `${table.schema}.`}${table.name} is not there, or not as it must be: apply the migrations up to ${migration}, or call migrate()`,
    { cause: error },
  );
}
