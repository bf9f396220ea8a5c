import { expect, test } from 'vitest';
import { readOrder, sumOf } from '../src/order.ts';

const GOOD = { order: 'o-1', items: [{ article: 'mug', quantity: 3, price: 0.1 }], total: 0.3 };

test('an order is read in whole cents, so that sums are exact, and what it has besides is left alone', () => {
  const order = readOrder({ ...GOOD, customer: 'Ada', fails: 2 });
  expect(order.total).toBe(30);
  expect(sumOf(order)).toBe(30);
  expect(order.fails).toBe(2);
});

test('an order that always fails fails at every attempt', () => {
  expect(readOrder({ ...GOOD, fails: 'always' }).fails).toBe(Number.POSITIVE_INFINITY);
});

test.each<[unknown, string]>([
  [null, 'it is null and not an order'],
  [[], 'it is a list and not an order'],
  ['o-1', 'it is a string and not an order'],
  [{}, 'it has no order number'],
  [{ ...GOOD, order: ' ' }, 'it has no order number'],
  [{ ...GOOD, items: [] }, 'it has no items'],
  [{ ...GOOD, items: {} }, 'it has no items'],
  [{ ...GOOD, total: '0.30' }, 'its total is not an amount'],
  [{ ...GOOD, total: -1 }, 'its total is not an amount'],
  [{ ...GOOD, items: [7] }, 'item 1 is a number'],
  [{ ...GOOD, items: [{ quantity: 1, price: 1 }] }, 'item 1 names no article'],
  [{ ...GOOD, items: [{ article: 'mug', price: 1 }] }, 'item 1 (mug) has the quantity undefined'],
  [{ ...GOOD, items: [{ article: 'mug', quantity: 1.5, price: 1 }] }, 'item 1 (mug) has the quantity 1.5'],
  [{ ...GOOD, items: [{ article: 'mug', quantity: 1 }] }, 'the price of item 1 (mug) is not an amount'],
])('%j is refused: %s', (payload, reason) => {
  expect(() => readOrder(payload)).toThrow(reason);
});
