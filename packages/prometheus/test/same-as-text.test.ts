import { Metrics, prometheusText } from '@acemq/observe';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clients, linesOf } from './clients.ts';

const silent = { warn: () => {} };
const value = fc.constantFrom('', 'a', 'b', 'other', 'a "b" \\ c\n', '{é}');
const labels = fc.record(
  { 'routing.key': value, outcome: value, exchange: value },
  { noNullPrototype: true },
);
const sample = fc.record({
  labels,
  kind: fc.constantFrom('count', 'gauge', 'observe'),
  frozen: fc.boolean(),
  turned: fc.boolean(),
  number: fc.integer({ min: 0, max: 9 }),
});

describe.each(clients)('the samples of $name', ({ observer, registry }) => {
  it('are those of prometheusText, whatever was written, in whatever objects, and past maxSeries', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(sample), fc.integer({ min: 1, max: 30 }), async (samples, maxSeries) => {
        const own = registry();
        const metrics = new Metrics({ maxSeries, logger: silent });
        const written = observer({ registry: own, maxSeries, logger: silent });
        for (const { labels, kind, frozen, turned, number } of samples) {
          const pairs = Object.entries(labels);
          const given = Object.fromEntries(turned ? pairs.reverse() : pairs);
          if (frozen) Object.freeze(given);
          for (const one of [metrics, written]) one[kind](`m.${kind}`, number, given);
        }
        const text = prometheusText(metrics).split('\n');
        expect((await linesOf(own, 'm_')).filter((line) => !line.includes('_bucket{')).sort()).toEqual(
          text.filter((line) => line.startsWith('m_')).sort(),
        );
      }),
      { numRuns: 100 },
    );
  });
});
