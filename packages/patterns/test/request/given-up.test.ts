import { expect, test } from 'vitest';
import { GivenUp } from '../../src/request/given-up.ts';

test('an id is known once', () => {
  const ids = new GivenUp();
  ids.add('a');
  expect(ids.take('a')).toBe(true);
  expect(ids.take('a')).toBe(false);
  expect(ids.take('b')).toBe(false);
});

test('past 10,000 the oldest are forgotten', () => {
  const ids = new GivenUp();
  for (let number = 0; number <= 10_000; number += 1) ids.add(`id-${number}`);
  expect(ids.take('id-0')).toBe(false);
  expect(ids.take('id-1')).toBe(true);
  expect(ids.take('id-10000')).toBe(true);
});
