import { ConfigurationError, shown } from '@acemq/core';
import type { TransactionOptions } from './executor.ts';
import { SqlText } from './statement.ts';

const LEVELS: readonly unknown[] = ['read committed', 'repeatable read', 'serializable'];

/** `isolation level …` for the statement that begins a transaction; nothing where the database's default will do. */
export function isolationOf({ isolation }: TransactionOptions): SqlText {
  if (isolation === undefined) return new SqlText('');
  if (LEVELS.includes(isolation)) return new SqlText(` isolation level ${isolation}`);
  throw new ConfigurationError(`isolation must be one of ${LEVELS.join(', ')}, not ${shown(isolation)}`);
}
