import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FullMetric, type MetricKind, SeriesOfMetric } from '../src/index.ts';

function series(
  kind: MetricKind,
  maxSeries: number,
): { of: SeriesOfMetric<number>; keys: () => string[]; told: FullMetric[] } {
  const told: FullMetric[] = [];
  const of = new SeriesOfMetric<number>({
    metric: 'm',
    kind,
    maxSeries,
    create: () => 0,
    onFull: (full) => told.push(full),
  });
  return { of, told, keys: () => [...of.all()].map(({ key }) => key) };
}

describe('the series of one metric', () => {
  it('are found by labels of any order, and by the frozen object itself', () => {
    const { of } = series('counter', 9);
    const frozen = Object.freeze({ a: '1', b: '2' });
    const found = of.of(frozen);
    expect(of.of({ b: '2', a: '1' })).toBe(found);
    expect(of.of(frozen)).toBe(found);
  });

  it('are not there after a create that throws, which takes no room', () => {
    let refuse = true;
    const of = new SeriesOfMetric({
      metric: 'm',
      kind: 'counter',
      maxSeries: 1,
      onFull: () => {},
      create: (labels) => {
        if (refuse) throw new Error('no');
        return labels;
      },
    });
    expect(() => of.of({ a: '1' })).toThrow('no');
    refuse = false;
    expect(of.of({ a: '2' })?.key).toBe('m{a="2"}');
  });
});

describe('the series of a full metric', () => {
  it('replace the label that has the most values at that moment, and tell of it once', () => {
    const { of, keys, told } = series('counter', 4);
    for (const [a, b] of ['11', '12', '13', '21', '34', '45']) of.of({ a: a ?? '', b: b ?? '' });
    expect(keys().slice(4)).toEqual(['m{a="3",b="other"}', 'm{a="4",b="other"}']);
    expect(told).toEqual([{ metric: 'm', maxSeries: 4, label: 'b', replaced: true }]);
  });

  it('replace every label that may be where two of them explode', () => {
    const { of, keys } = series('counter', 10);
    for (let n = 0; n < 1_000; n += 1)
      of.of({ exchange: `e${n}`, 'routing.key': `k${n}`, outcome: 'failed' });
    expect(keys()).toHaveLength(21);
    expect(keys().at(-1)).toBe('m{exchange="other",outcome="failed",routing.key="other"}');
  });

  it('leave out what has no label that may be replaced, and tell which label has the most values', () => {
    const { of, keys, told } = series('counter', 10);
    for (let n = 0; n < 1_000; n += 1) of.of({ queue: `q${n}`, outcome: n % 2 === 0 ? 'acked' : 'parked' });
    expect(keys()).toHaveLength(10);
    expect(told).toEqual([{ metric: 'm', maxSeries: 10, label: 'queue', replaced: false }]);
    expect(of.of({ queue: 'q0', outcome: 'acked' })?.key).toBe('m{outcome="acked",queue="q0"}');
  });

  it('leave out a frozen labels object for good, and keep finding one that has its place', () => {
    const { of } = series('gauge', 1);
    const first = Object.freeze({ queue: 'a' });
    const second = Object.freeze({ queue: 'b' });
    for (let n = 0; n < 3; n += 1) {
      expect(of.of(first)?.key).toBe('m{queue="a"}');
      expect(of.of(second)).toBeUndefined();
    }
  });

  it('are never more than three times the limit, and never have outcome or queue replaced', () => {
    const name = fc.constantFrom('queue', 'outcome', 'kind', 'routing.key', 'exchange', 'x');
    const labels = fc.dictionary(name, fc.integer({ min: 0, max: 40 }).map(String), {
      noNullPrototype: true,
    });
    const kinds = fc.constantFrom<MetricKind>('counter', 'distribution', 'gauge');
    fc.assert(
      fc.property(
        fc.array(labels, { maxLength: 300 }),
        fc.integer({ min: 1, max: 9 }),
        kinds,
        (all, limit, kind) => {
          const { of, keys, told } = series(kind, limit);
          for (const one of all) {
            const found = of.of(one);
            for (const [label, value] of found?.labels ?? []) {
              const kept = label === 'outcome' || label === 'queue' || kind === 'gauge';
              if (kept || value !== 'other') expect(value).toBe(one[label]);
            }
          }
          expect(keys().length).toBeLessThanOrEqual(kind === 'gauge' ? limit : 3 * limit);
          expect(told.length).toBe(keys().length < limit ? 0 : Math.min(told.length, 1));
        },
      ),
      { numRuns: 300 },
    );
  });
});
