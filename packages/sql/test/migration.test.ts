import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigurationError } from '@acemq/core';
import { afterAll, describe, expect, it } from 'vitest';
import { migrationStatements, mysql, postgres, readMigrations } from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'acemq-sql-'));
const here = pathToFileURL(`${folder}/`);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fixtures = (name: string): URL => new URL(`./migrations/${name}/`, import.meta.url);

describe('readMigrations', () => {
  it('gives the files in the order of their numbers', async () => {
    const files = await readMigrations(fixtures('good'));
    expect(files.map(({ number, name }) => [number, name])).toEqual([
      [1, '001_thing.sql'],
      [2, '002_parts.sql'],
    ]);
  });

  it('refuses a gap, and a folder without migrations', async () => {
    await expect(readMigrations(fixtures('gap'))).rejects.toThrow(ConfigurationError);
    await expect(readMigrations(fixtures('gap'))).rejects.toThrow('002_parts.sql must have the number 1');
    await expect(readMigrations(here)).rejects.toThrow('there are no migrations in');
  });

  it('takes a file for the same whose ends of lines a checkout has changed', async () => {
    const [first] = await readMigrations(fixtures('good'));
    writeFileSync(join(folder, '001_thing.sql'), (first?.text ?? '').replaceAll('\n', '\r\n'));
    const [other] = await readMigrations(here);
    expect(other?.checksum).toBe(first?.checksum);
  });
});

describe('the statements of a migration', () => {
  it('are for the table that is wanted, and whatever is called after it', async () => {
    const [first] = await readMigrations(fixtures('good'));
    if (first === undefined) throw new Error('there is no migration');
    const [create, index, ...rest] = migrationStatements(
      first,
      'acemq_thing',
      postgres.table('Order', 'shop'),
    );
    expect(create).toContain('create table "shop"."Order" (');
    expect(index).toBe('create index "Order_note" on "shop"."Order" (note)');
    expect(rest).toEqual([]);
    expect(migrationStatements(first, 'acemq_thing', mysql.table('t'))[1]).toBe(
      'create index `t_note` on `t` (note)',
    );
  });

  it('run as they are under the default name', async () => {
    const [first] = await readMigrations(fixtures('good'));
    expect(first?.text).toContain('create index acemq_thing_note on /*schema.*/acemq_thing (note);');
  });
});
