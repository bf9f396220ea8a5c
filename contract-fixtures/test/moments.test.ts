import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

type Numbers = Readonly<Record<string, number>>;
interface Row {
  readonly kind: 'counter' | 'gauge' | 'distribution';
  readonly labels: readonly string[];
  readonly values: Readonly<Record<string, readonly string[]>>;
}
interface Moment {
  readonly when: string;
  readonly counted: Numbers;
  readonly totals: Numbers;
  readonly gauges: Numbers;
}

const { metrics, moments } = JSON.parse(
  readFileSync(new URL('../telemetry.json', import.meta.url), 'utf8'),
) as { readonly metrics: Readonly<Record<string, Row>>; readonly moments: readonly Moment[] };

/** The labels of each series of a metric that a moment names. */
function seriesOf(metric: string, from: (moment: Moment) => Numbers): ReadonlyMap<string, string>[] {
  const keys = moments.flatMap((moment) => Object.keys(from(moment)));
  return keys
    .filter((key) => key.startsWith(`${metric}{`))
    .map(
      (key) =>
        new Map([...key.matchAll(/([\w.]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value])),
    );
}

test.for(Object.entries(metrics))('%s is moved by a moment, with each of its values', ([metric, row]) => {
  const series = seriesOf(metric, row.kind === 'gauge' ? ({ gauges }) => gauges : ({ counted }) => counted);
  expect(series.length).toBeGreaterThan(0);
  for (const labels of series) expect([...labels.keys()]).toEqual(row.labels);
  for (const [label, allowed] of Object.entries(row.values)) {
    const seen = new Set(series.map((labels) => labels.get(label)));
    expect([...seen].sort(), label).toEqual([...allowed].sort());
  }
});

test('every distribution but those of a wait for the broker has a total that a moment fixes', () => {
  const without = Object.entries(metrics).flatMap(([metric, { kind }]) =>
    kind === 'distribution' && seriesOf(metric, ({ totals }) => totals).length === 0 ? [metric] : [],
  );
  expect(without).toEqual(['acemq.publish.duration', 'acemq.consume.duration']);
});

test('every moment has a name of its own', () => {
  const names = moments.map(({ when }) => when);
  expect(new Set(names).size).toBe(names.length);
});
