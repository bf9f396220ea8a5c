import { ConfigurationError } from '@acemq/core';
import type { Dialect } from './dialect.ts';
import type { SqlExecutor } from './executor.ts';

/** Gives an executor back, unless it says that it speaks to another kind of database. */
export function ofDialect(executor: SqlExecutor, wanted: Dialect): SqlExecutor {
  if (executor.dialect === undefined || executor.dialect === wanted.name) return executor;
  throw new ConfigurationError(
    `tx is a transaction of ${executor.dialect}, and this store is for ${wanted.name}`,
  );
}
