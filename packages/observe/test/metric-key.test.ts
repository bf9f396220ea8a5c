import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { metricKey } from '../src/index.ts';

/** Names that collide easily: the characters that mean something in a key, and keys that objects treat specially. */
const text = fc.oneof(
  fc.constantFrom('a', 'b', 'routing.key', '__proto__', 'constructor', '1', '10', ''),
  fc.string({ unit: fc.constantFrom('a', '{', '}', '"', '\\', '\n', ',', '=', '.'), maxLength: 6 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
const labelPairs = fc.uniqueArray(fc.tuple(text, text), { selector: ([name]) => name, maxLength: 4 });

function table(pairs: readonly (readonly [string, string])[]): Record<string, string> {
  const labels: Record<string, string> = Object.create(null);
  for (const [name, value] of pairs) labels[name] = value;
  return labels;
}

function sorted(pairs: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] {
  return [...pairs].sort(([a], [b]) => (a < b ? -1 : 1));
}

describe('metricKey', () => {
  it.each([
    [
      'a label set',
      'acemq.publish.total',
      { exchange: 'b', key: 'a' },
      'acemq.publish.total{exchange="b",key="a"}',
    ],
    [
      'labels given in another order',
      'acemq.consume.total',
      { queue: 'shipping.orders', outcome: 'acked' },
      'acemq.consume.total{outcome="acked",queue="shipping.orders"}',
    ],
    ['no labels', 'acemq.publish.total', {}, 'acemq.publish.total'],
    ['an empty value', 'm', { exchange: '' }, 'm{exchange=""}'],
    ['numbers as names, by code unit', 'm', { 10: 'x', 9: 'y' }, 'm{10="x",9="y"}'],
    ['capitals before small letters', 'm', { a: '1', B: '2' }, 'm{B="2",a="1"}'],
  ])('writes %s', (_what, metric, labels, key) => {
    expect(metricKey(metric, labels)).toBe(key);
  });

  it('escapes backslash, quote and line feed in values, and nothing else', () => {
    expect(metricKey('m', { v: 'a\\b"c\nd{e},f=g\th' })).toBe('m{v="a\\\\b\\"c\\nd{e},f=g\th"}');
  });

  it('takes a label named __proto__ as any other', () => {
    expect(metricKey('m', table([['__proto__', 'x']]))).toBe('m{__proto__="x"}');
  });

  it('does not depend on the order in which labels were given', () => {
    fc.assert(
      fc.property(text, labelPairs, fc.infiniteStream(fc.nat()), (metric, pairs, order) => {
        const shuffled = pairs
          .map((pair) => ({ pair, at: order.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .map(({ pair }) => pair);
        expect(metricKey(metric, table(shuffled))).toBe(metricKey(metric, table(pairs)));
      }),
    );
  });

  it('is injective: two different series never share a key', () => {
    fc.assert(
      fc.property(text, labelPairs, text, labelPairs, (metric, pairs, otherMetric, otherPairs) => {
        const same =
          metric === otherMetric && JSON.stringify(sorted(pairs)) === JSON.stringify(sorted(otherPairs));
        expect(metricKey(metric, table(pairs)) === metricKey(otherMetric, table(otherPairs))).toBe(same);
      }),
      { numRuns: 2_000 },
    );
  });

  it('can be read back into the metric and its labels, which is what makes it injective', () => {
    fc.assert(
      fc.property(text, labelPairs, (metric, pairs) => {
        const read = readKey(metricKey(metric, table(pairs)));
        expect(read).toEqual({ metric, labels: sorted(pairs) });
      }),
      { numRuns: 2_000 },
    );
  });
});

/** The grammar of a key, read from left to right. */
function readKey(key: string): { metric: string; labels: (readonly [string, string])[] } {
  let at = 0;
  const until = (stop: string): string => {
    let out = '';
    while (at < key.length && !key.startsWith(stop, at)) {
      if (key[at] === '\\') {
        const next = key[at + 1] as string;
        out += next === 'n' ? '\n' : next;
        at += 2;
      } else {
        out += key[at];
        at += 1;
      }
    }
    return out;
  };
  const metric = until('{');
  const labels: (readonly [string, string])[] = [];
  while (at < key.length && key[at] !== '}') {
    at += 1;
    // A quote in a name is escaped, so the first bare one opens the value, right after the equals sign.
    const name = until('"').slice(0, -1);
    at += 1;
    labels.push([name, until('"')]);
    at += 1;
  }
  return { metric, labels };
}
