import { EncodeError } from '@acemq/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkTableSize, wireTable } from '../src/wire-table.ts';

test('a table arrives as a deep copy', () => {
  const bytes = Uint8Array.of(1, 2);
  const table = { list: [{ a: 1 }], bytes };
  const copy = wireTable(table);
  bytes[0] = 9;
  (table.list[0] as { a: number }).a = 9;
  expect(copy).toEqual({ list: [{ a: 1 }], bytes: Buffer.from([1, 2]) });
});

test('a table arrives with the types of the wire', () => {
  const table = { big: 2n ** 40n, when: new Date(1999), zero: -0, gone: undefined, none: null };
  expect(wireTable(table)).toStrictEqual({ big: 2 ** 40, when: new Date(1000), zero: 0, none: null });
});

test('a key named __proto__ stays a key and sets no prototype', () => {
  const table = JSON.parse(
    '{"__proto__": {"spoofed": 1}, "constructor": "x", "n": {"__proto__": 2}}',
  ) as object;
  const copy = wireTable(table as Record<string, unknown>);
  expect(Object.keys(copy)).toEqual(['__proto__', 'constructor', 'n']);
  expect((copy as { spoofed?: unknown }).spoofed).toBeUndefined();
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
});

test('a circle, and what the wire cannot carry, is refused by name', () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  expect(() => wireTable(circle)).toThrow(EncodeError);
  const list: unknown[] = [];
  list.push(list);
  expect(() => wireTable({ list })).toThrow(EncodeError);
  expect(() => wireTable({ a: { b: Number.NaN } })).toThrow('header "a.b" is NaN: AMQP has no form for it');
  expect(() => checkTableSize(wireTable({ a: 'x'.repeat(70_000) }), 'headers')).toThrow(/65536/);
});

test('a copy of a copy is the same, whatever is in the table', () => {
  const leaf = fc.oneof(
    fc.string(),
    fc.double(),
    fc.bigInt(),
    fc.boolean(),
    fc.constant(null),
    fc.uint8Array(),
    fc.date(),
  );
  const { table } = fc.letrec<{ table: Record<string, unknown>; value: unknown }>((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, leaf, fc.array(tie('value')), tie('table')),
    table: fc.dictionary(
      fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', '!')),
      tie('value'),
    ),
  }));
  fc.assert(
    fc.property(table, (value) => {
      let copy: Record<string, unknown>;
      try {
        copy = wireTable(value);
      } catch (error) {
        expect(error).toBeInstanceOf(EncodeError);
        return;
      }
      expect(wireTable(copy)).toEqual(copy);
      expect(Object.keys(copy).sort()).toEqual(Object.keys(value).sort());
    }),
  );
});
