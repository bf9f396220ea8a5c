import { ConfigurationError } from '@acemq/core';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { commaList, integer, postgres, sql, textOf } from '../src/index.ts';

describe('sql', () => {
  it('keeps values apart from the text', () => {
    const made = sql`select * from t where a = ${"x'; drop table t; --"} and b = ${2}`;
    expect(made).toEqual({
      strings: ['select * from t where a = ', ' and b = ', ''],
      values: ["x'; drop table t; --", 2],
    });
  });

  it('splices names of a dialect, whole numbers and other statements', () => {
    const where = sql`where id = ${'o-1'}`;
    const made = sql`select ${integer(1)} from ${postgres.table('acemq_outbox', 'shop')} ${where} limit ${5}`;
    expect(textOf(made, postgres.placeholder)).toBe(
      'select 1 from "shop"."acemq_outbox" where id = $1 limit $2',
    );
    expect(made.values).toEqual(['o-1', 5]);
  });

  it('splices names that another copy of this package has made', async () => {
    vi.resetModules();
    const copy = await import('../src/index.ts');
    expect(copy.sql).not.toBe(sql);
    expect(sql`select * from ${copy.postgres.table('t')}`.strings).toEqual(['select * from "t"']);
  });

  it('makes rows of a list', () => {
    const made = sql`values ${commaList([sql`(${1}, ${'a'})`, sql`(${2}, ${'b'})`])}`;
    expect(textOf(made, postgres.placeholder)).toBe('values ($1, $2), ($3, $4)');
    expect(made.values).toEqual([1, 'a', 2, 'b']);
  });

  it('has one piece more than values, however statements are nested', () => {
    const statement = fc.letrec((tie) => ({
      part: fc.oneof({ maxDepth: 4 }, fc.string(), fc.integer(), fc.constant(null), tie('statement')),
      statement: fc.array(tie('part'), { maxLength: 4 }).map((parts) =>
        sql(
          Array.from({ length: parts.length + 1 }, (_, index) => `<${index}>`),
          ...(parts as string[]),
        ),
      ),
    })).statement;
    fc.assert(
      fc.property(statement, (made) => {
        const { strings, values } = made as ReturnType<typeof sql>;
        expect(strings).toHaveLength(values.length + 1);
      }),
    );
  });

  it.each([
    ['undefined', undefined, 'not undefined'],
    ['a Date', new Date(0), 'not a Date: give milliseconds since the epoch'],
    ['an object', { a: 1 }, 'not an object'],
    ['a list', [1], 'not a list'],
    ['not a number', Number.NaN, 'not NaN'],
  ])('refuses %s as a value', (_what, value, words) => {
    expect(() => sql`select ${value as never}`).toThrow(ConfigurationError);
    expect(() => sql`select ${value as never}`).toThrow(words);
  });

  it('refuses an empty list and a number that is not whole', () => {
    expect(() => commaList([])).toThrow('a list in a statement must not be empty');
    expect(() => integer(1.5)).toThrow('not 1.5');
    expect(() => integer('1; drop table t' as never)).toThrow('must be a whole number');
  });
});
