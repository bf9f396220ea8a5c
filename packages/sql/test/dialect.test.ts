import { ConfigurationError } from '@acemq/core';
import { describe, expect, it } from 'vitest';
import { LONGEST_TABLE_NAME, mysql, postgres, sqlite } from '../src/index.ts';

describe.each([postgres, mysql, sqlite])('the names of $name', (dialect) => {
  it.each([
    '',
    'a b',
    'a"b',
    'a`b',
    'a;drop table t',
    '1a',
    'ä',
    'shop.orders',
    'x'.repeat(LONGEST_TABLE_NAME + 1),
    7,
    undefined,
    'a\n',
  ])('refuses the table name %j', (name) => {
    expect(() => dialect.table(name as string)).toThrow(ConfigurationError);
    expect(() =>
      dialect.table(
        'acemq_outbox',
        name === undefined ? 'a b' : (name as string)[0] === 'x' ? 'x'.repeat(64) : (name as string),
      ),
    ).toThrow(ConfigurationError);
  });

  it('quotes a name, so that a word of SQL is one too', () => {
    const quote = dialect === mysql ? '`' : '"';
    expect(dialect.identifier('order').toString()).toBe(`${quote}order${quote}`);
  });

  it('calls what belongs to a table after it, in the same schema', () => {
    const table = dialect.table('acemq_outbox', 'shop');
    const q = dialect === mysql ? '`' : '"';
    expect(table.suffixed('_lanes').toString()).toBe(`${q}shop${q}.${q}acemq_outbox_lanes${q}`);
    expect(table.bare('_due').toString()).toBe(`${q}acemq_outbox_due${q}`);
  });
});
