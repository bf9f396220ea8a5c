// A statement, as pieces and values.
export { commaList, integer, sql, SqlText, textOf } from './statement.ts';
export type { SqlPart, SqlValue, Statement } from './statement.ts';

// What differs between databases.
export { LONGEST_TABLE_NAME, mysql, postgres, sqlite, TableName } from './dialect.ts';
export type { Dialect, DialectName } from './dialect.ts';

// Who runs statements.
export { runWithin, runWithinSync } from './executor.ts';
export { withLockWait } from './lock-wait.ts';
export type {
  SqlDatabase,
  SqlExecutor,
  SqlResult,
  SqlRow,
  SqlSyncExecutor,
  SqlTransaction,
  TransactionOptions,
} from './executor.ts';

// What comes back.
export {
  bytesIn,
  flagIn,
  integerIn,
  integerOrNullIn,
  textIn,
  textOrNullIn,
} from './row.ts';

// What goes wrong.
export { failureOf } from './failure.ts';
export type { SqlFailure } from './failure.ts';
export { explainMissing } from './explain-missing.ts';

// Migrations.
export { migrationStatements, readMigrations } from './migration.ts';
export type { Migration } from './migration.ts';
export { migrate } from './migrate.ts';
export type { MigrateOptions } from './migrate.ts';
