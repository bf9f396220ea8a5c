import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareIds, idAfter, timeOf } from '../src/stream-id.ts';

const part = (max: bigint): fc.Arbitrary<bigint> => fc.oneof(fc.bigInt(0n, 3n), fc.bigInt(max - 3n, max));
const ids: fc.Arbitrary<[bigint, bigint]> = fc.tuple(part(2n ** 53n - 2n), part(2n ** 64n - 1n));
const text = ([time, sequence]: [bigint, bigint]): string => `${time}-${sequence}`;
const value = ([time, sequence]: [bigint, bigint]): bigint => time * 2n ** 64n + sequence;

it('ids are in the order of their times and then of their sequence numbers', () => {
  fc.assert(
    fc.property(ids, ids, (a, b) => {
      const order = value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0;
      expect(Math.sign(compareIds(text(a), text(b)))).toBe(order);
    }),
  );
});

it('the id after another is the next that there is', () => {
  fc.assert(
    fc.property(ids, (id) => {
      const [time = '', sequence = ''] = idAfter(text(id)).split('-');
      expect(value([BigInt(time), BigInt(sequence)])).toBe(value(id) + 1n);
    }),
  );
});

it('the time of an id is its first part', () => {
  expect(timeOf('1700000000000-7')).toBe(1_700_000_000_000);
});
