import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { METRICS, Metrics, prometheusText } from '../src/index.ts';

describe('prometheusText', () => {
  it('is the scrape body of the observability page, character for character', () => {
    const metrics = new Metrics();
    metrics.observe('acemq.consume.duration', 0.02, { queue: 'shipping.orders', outcome: 'acked' });
    metrics.observe('acemq.consume.duration', 0.04, { queue: 'shipping.orders', outcome: 'acked' });
    metrics.gauge('acemq.consume.in.flight', 2, { queue: 'shipping.orders' });
    metrics.count('acemq.publish.total', 1, {
      'routing.key': 'order.placed',
      exchange: 'orders-events',
      outcome: 'confirmed',
    });
    metrics.count('acemq.consume.total', 3, { queue: 'shipping.orders', outcome: 'acked' });
    expect(prometheusText(metrics)).toBe(`# TYPE acemq_consume_total counter
acemq_consume_total{outcome="acked",queue="shipping.orders"} 3
# TYPE acemq_publish_total counter
acemq_publish_total{exchange="orders-events",outcome="confirmed",routing_key="order.placed"} 1
# TYPE acemq_consume_in_flight gauge
acemq_consume_in_flight{queue="shipping.orders"} 2
# TYPE acemq_consume_duration summary
acemq_consume_duration_count{outcome="acked",queue="shipping.orders"} 2
acemq_consume_duration_sum{outcome="acked",queue="shipping.orders"} 0.06
`);
  });

  it('is empty where nothing was recorded', () => {
    expect(prometheusText(new Metrics())).toBe('');
  });

  it('writes one TYPE line for a metric with several label sets', () => {
    const metrics = new Metrics();
    metrics.count('acemq.consume.total', 1, { queue: 'a', outcome: 'acked' });
    metrics.count('acemq.consume.total', 2, { queue: 'a', outcome: 'parked' });
    expect(prometheusText(metrics)).toBe(`# TYPE acemq_consume_total counter
acemq_consume_total{outcome="acked",queue="a"} 1
acemq_consume_total{outcome="parked",queue="a"} 2
`);
  });

  it('adds no suffix to any name of the catalogue', () => {
    const metrics = new Metrics();
    for (const { name, kind } of METRICS) {
      if (kind === 'counter') metrics.count(name, 1, {});
      else if (kind === 'gauge') metrics.gauge(name, 1, {});
      else metrics.observe(name, 1, {});
    }
    const names = new Set(read(prometheusText(metrics)).map(({ name }) => name));
    expect(names).toEqual(new Set(METRICS.map(({ name }) => name.replaceAll('.', '_'))));
  });

  it('keeps the text of values, escaped as the format asks', () => {
    const metrics = new Metrics();
    metrics.count('m', 1, { v: 'a.b-c\\"\n{é}' });
    expect(prometheusText(metrics)).toContain('m{v="a.b-c\\\\\\"\\n{é}"} 1\n');
  });

  it('keeps two metrics apart whose names become the same', () => {
    const metrics = new Metrics();
    metrics.count('a.b', 1, {});
    metrics.count('a-b', 2, {});
    metrics.gauge('a_b', 3, {});
    metrics.count('d.count', 4, {});
    metrics.observe('d', 5, {});
    expect(prometheusText(metrics)).toBe(`# TYPE a_b counter
a_b 2
# TYPE a_b_ counter
a_b_ 1
# TYPE d_count counter
d_count 4
# TYPE a_b__ gauge
a_b__ 3
# TYPE d_ summary
d__count 1
d__sum 5
`);
  });

  it('keeps two labels of a metric apart whose names become the same', () => {
    const metrics = new Metrics();
    metrics.count('m', 1, { 'a.b': 'x' });
    metrics.count('m', 2, { a_b: 'x' });
    metrics.count('m', 3, { 'a.b': 'y', a_b: 'z' });
    expect(prometheusText(metrics)).toBe(`# TYPE m counter
m{a_b="x"} 1
m{a_b="y",a_b_="z"} 3
m{a_b_="x"} 2
`);
  });

  it('parses, whatever the names and values, with one TYPE line a metric and every number in it', () => {
    const name = fc.oneof(
      fc.constantFrom('acemq.publish.total', 'a.b', 'a_b', 'a', 'a.count', '9', '', '__proto__'),
      fc.string({ unit: 'binary', maxLength: 6 }),
    );
    const value = fc.string({
      unit: fc.oneof(fc.constantFrom('"', '\\', '\n', '}', ' '), fc.string()),
      maxLength: 6,
    });
    const labels = fc.dictionary(name, value, { maxKeys: 3, noNullPrototype: false });
    const sample = fc.record({
      kind: fc.constantFrom('count', 'gauge', 'observe'),
      metric: name,
      labels,
      value: fc.integer({ min: 0, max: 1_000 }),
    });
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 20 }), (samples) => {
        const metrics = new Metrics();
        for (const { kind, metric, value: number, labels: given } of samples) {
          if (kind === 'count') metrics.count(metric, number, given);
          else if (kind === 'gauge') metrics.gauge(metric, number, given);
          else metrics.observe(metric, number, given);
        }
        const families = read(prometheusText(metrics));
        const { counters, gauges, distributions } = metrics.series();
        expect(families.flatMap(({ samples: read }) => read.map(({ value: number }) => number))).toHaveLength(
          counters.length + gauges.length + 2 * distributions.length,
        );
        const metricsOf = (series: readonly { metric: string }[]): number =>
          new Set(series.map(({ metric }) => metric)).size;
        expect(families).toHaveLength(metricsOf(counters) + metricsOf(gauges) + metricsOf(distributions));
        const counted = families.filter(({ type }) => type === 'counter').flatMap(({ samples: all }) => all);
        const sum = (values: readonly number[]): number => values.reduce((total, next) => total + next, 0);
        expect(sum(counted.map(({ value: number }) => number))).toBe(sum([...metrics.counts.values()]));
        const valuesIn = (all: readonly { labels: readonly (readonly string[])[] }[]): readonly string[] =>
          all.map(({ labels: pairs }) => JSON.stringify(pairs.map(([, text]) => text))).sort();
        expect(valuesIn(counted)).toEqual(valuesIn(counters));
      }),
      { numRuns: 1_000 },
    );
  });
});

interface ReadSample {
  readonly labels: readonly (readonly [string, string])[];
  readonly value: number;
}

interface ReadFamily {
  readonly name: string;
  readonly type: string;
  readonly samples: ReadSample[];
}

const NAME = '[a-zA-Z_][a-zA-Z0-9_]*';
const TYPE_LINE = new RegExp(`^# TYPE (${NAME}) (counter|gauge|summary)$`);
const SAMPLE_LINE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`, 's');
const LABEL = new RegExp(`(${NAME})="((?:[^"\\\\\\n]|\\\\[\\\\"n])*)"(,|$)`, 'y');

/** A strict reader of text format 0.0.4: what a scraper refuses, it throws on. */
function read(body: string): ReadFamily[] {
  if (body === '') return [];
  if (!body.endsWith('\n')) throw new Error('the last line has no line feed');
  const families: ReadFamily[] = [];
  const seen = new Set<string>();
  const types = new Set<string>();
  for (const line of body.slice(0, -1).split('\n')) {
    const type = TYPE_LINE.exec(line);
    if (type !== null) {
      const [, name, kind] = type as unknown as [string, string, string];
      if (types.has(name)) throw new Error(`a second TYPE line for ${name}`);
      types.add(name);
      families.push({ name, type: kind, samples: [] });
      continue;
    }
    const [, name, block, number] = (SAMPLE_LINE.exec(line) ?? fail(line)) as unknown as string[];
    const family = families.at(-1) ?? fail(line);
    const expected =
      family.type === 'summary' ? [`${family.name}_count`, `${family.name}_sum`] : [family.name];
    if (!expected.includes(name as string)) throw new Error(`${name} stands under ${family.name}`);
    const labels: (readonly [string, string])[] = [];
    LABEL.lastIndex = 0;
    while (block !== undefined && LABEL.lastIndex < block.length) {
      const [, label, escaped] = (LABEL.exec(block) ?? fail(line)) as unknown as [string, string, string];
      if (labels.some(([known]) => known === label)) throw new Error(`${label} stands twice in ${line}`);
      labels.push([label, escaped.replaceAll(/\\(.)/g, (_all, c: string) => (c === 'n' ? '\n' : c))]);
    }
    const id = JSON.stringify([name, labels]);
    if (seen.has(id)) throw new Error(`a second sample ${id}`);
    seen.add(id);
    family.samples.push({ labels, value: Number(number) });
  }
  return families;
}

function fail(line: string): never {
  throw new Error(`not a line of the format: ${line}`);
}
