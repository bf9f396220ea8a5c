import { UnsupportedError } from '@acemq/core';
import type { DialectName } from './dialect.ts';
import type { SqlResult, SqlRow } from './executor.ts';
import { type MysqlParameter, parameter } from './mysql-executor.ts';
import type { SqlValue } from './statement.ts';

/** Which database a layer's own name for it means: of kysely's adapter, drizzle's class, knex's client. */
export function layerDialect(name: unknown): DialectName | undefined {
  if (typeof name !== 'string') return undefined;
  if (/pg|postgres/i.test(name)) return 'postgres';
  if (/mysql|mariadb/i.test(name)) return 'mysql';
  if (/sqlite/i.test(name)) return 'sqlite';
  return undefined;
}

/** What every driver below a layer can bind. SQLite has no booleans. */
export function layerValue(value: SqlValue, dialect: DialectName | undefined): MysqlParameter {
  return dialect === 'sqlite' && typeof value === 'boolean' ? Number(value) : parameter(value);
}

/** A result as drizzle and knex hand it on from the driver. */
export function layerResult(result: unknown): SqlResult {
  // mysql2 gives a pair: what came back, and the columns.
  const given: unknown = Array.isArray(result) && isAnswer(result[0]) ? result[0] : result;
  if (Array.isArray(given)) return { rows: given as SqlRow[], affected: 0 };
  if (isAnswer(given)) {
    const { rows, rowCount, command, affectedRows, changes } = given;
    const written = command === 'SELECT' ? 0 : (rowCount ?? affectedRows ?? changes ?? 0);
    return { rows: rows ?? [], affected: written };
  }
  throw new UnsupportedError(
    'the result of this layer cannot be read: is its driver pg, mysql2 or better-sqlite3?',
  );
}

/** The results of the drivers, together. */
interface Answer {
  readonly rows?: readonly SqlRow[];
  readonly rowCount?: number | null;
  readonly command?: string;
  readonly affectedRows?: number;
  readonly changes?: number;
}

function isAnswer(value: unknown): value is Answer {
  if (Array.isArray(value)) return true;
  return (
    typeof value === 'object' &&
    value !== null &&
    ('rowCount' in value || 'affectedRows' in value || 'changes' in value)
  );
}
