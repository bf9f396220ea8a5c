import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { ConfigurationError } from '@acemq/core';
import type { TableName } from './dialect.ts';

/** One numbered file of SQL. Once released it never changes; what comes later is another file. */
export interface Migration {
  /** From 1, without gaps. */
  readonly number: number;
  /** The name of the file, such as `001_outbox.sql`. */
  readonly name: string;
  /** Its text, with the default table name, and the comment `schema.` where a schema would stand. */
  readonly text: string;
  /** Of its text, whatever the table is called. */
  readonly checksum: string;
}

const FILE = /^(\d{3})_[a-z0-9_]+\.sql$/;

/**
 * Reads the migrations of a folder, in order.
 *
 * A file is SQL that runs as it is. Its tables and indexes are all called after one table, under the default name, and
 * a table has the comment `schema.` before its name: `create table /*schema.*\/acemq_outbox (…)`. A statement ends with
 * a semicolon at the end of a line.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for a folder without migrations, or with a gap in the numbers.
 */
export async function readMigrations(folder: URL): Promise<readonly Migration[]> {
  const names = (await readdir(folder)).filter((name) => FILE.test(name)).sort();
  const migrations = await Promise.all(
    names.map(async (name, index): Promise<Migration> => {
      const number = Number(name.slice(0, 3));
      if (number !== index + 1) {
        throw new ConfigurationError(`the migration ${name} must have the number ${index + 1}`);
      }
      // A checkout may have changed the ends of lines, which are no change of the file.
      const text = (await readFile(new URL(name, folder), 'utf8')).replaceAll('\r\n', '\n');
      return { number, name, text, checksum: createHash('sha256').update(text).digest('hex') };
    }),
  );
  if (migrations.length === 0) throw new ConfigurationError(`there are no migrations in ${folder.pathname}`);
  return migrations;
}

/**
 * The statements of a migration for a table of another name or in a schema.
 *
 * @param standard - The default name of the table, as it stands in the file.
 */
export function migrationStatements(
  migration: Migration,
  standard: string,
  table: TableName,
): readonly string[] {
  return migration.text
    .replace(new RegExp(`\\b${standard}(\\w*)`, 'g'), (_name, suffix: string) =>
      table.bare(suffix).toString(),
    )
    .replaceAll('/*schema.*/', table.prefix)
    .split(/;[ \t]*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement.replace(/--.*$/gm, '').trim() !== '');
}
