import { inspect } from 'node:util';
import { ConfigurationError, shown } from '@acemq/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  METRIC_CONSUME_DURATION,
  METRIC_CONSUME_IN_FLIGHT,
  METRIC_CONSUME_TOTAL,
  METRIC_PUBLISH_TOTAL,
  Metrics,
  metricKey,
} from '../src/index.ts';
import { prometheusText } from '../src/prometheus-text.ts';

const acked = { outcome: 'acked', queue: 'shipping.orders' };

describe('the maps of Metrics', () => {
  it('add up counters, and keep the last value of a gauge', () => {
    const metrics = new Metrics();
    metrics.count(METRIC_CONSUME_TOTAL, 1, acked);
    metrics.count(METRIC_CONSUME_TOTAL, 2, { queue: 'shipping.orders', outcome: 'acked' });
    metrics.gauge(METRIC_CONSUME_IN_FLIGHT, 5, { queue: 'q' });
    metrics.gauge(METRIC_CONSUME_IN_FLIGHT, 2, { queue: 'q' });
    expect([...metrics.counts]).toEqual([
      ['acemq.consume.total{outcome="acked",queue="shipping.orders"}', 3],
    ]);
    expect([...metrics.gauges]).toEqual([['acemq.consume.in.flight{queue="q"}', 2]]);
    expect(metrics.durations.size).toBe(0);
  });

  it('keep count, total, fastest, slowest and mean of a distribution', () => {
    const metrics = new Metrics();
    for (const seconds of [0.25, 0.125, 0.75]) metrics.observe(METRIC_CONSUME_DURATION, seconds, acked);
    expect([...metrics.durations.values()]).toEqual([
      { count: 3, total: 1.125, fastest: 0.125, slowest: 0.75, mean: 0.375 },
    ]);
  });

  it('take a negative sample as the fastest', () => {
    const metrics = new Metrics();
    metrics.observe('m', -2, {});
    metrics.observe('m', -1, {});
    expect(metrics.durations.get('m')).toEqual({ count: 2, total: -3, fastest: -2, slowest: -1, mean: -1.5 });
  });

  it('are copies, which later samples do not change', () => {
    const metrics = new Metrics();
    metrics.count('c', 1, {});
    metrics.observe('d', 1, {});
    const { counts, durations } = metrics;
    metrics.count('c', 1, {});
    metrics.observe('d', 1, {});
    (counts as Map<string, number>).set('c', 99);
    expect(durations.get('d')?.count).toBe(1);
    expect(metrics.counts.get('c')).toBe(2);
    expect(Object.isFrozen(durations.get('d'))).toBe(true);
  });

  it('keep apart two series whose labels hold quotes and commas', () => {
    const metrics = new Metrics();
    metrics.count('m', 1, { a: '1",b="2' });
    metrics.count('m', 1, { a: '1', b: '2' });
    expect([...metrics.counts.values()]).toEqual([1, 1]);
  });

  it('tell a counter from a gauge and a distribution of the same name', () => {
    const metrics = new Metrics();
    metrics.count('m', 1, {});
    metrics.gauge('m', 2, {});
    metrics.observe('m', 3, {});
    expect([metrics.counts.get('m'), metrics.gauges.get('m'), metrics.durations.get('m')?.total]).toEqual([
      1, 2, 3,
    ]);
  });

  it('give each series with its labels as sorted pairs beside the key', () => {
    const metrics = new Metrics();
    metrics.count(METRIC_PUBLISH_TOTAL, 1, { 'routing.key': 'order.placed', exchange: 'e' });
    expect(metrics.series().counters).toEqual([
      {
        metric: 'acemq.publish.total',
        key: 'acemq.publish.total{exchange="e",routing.key="order.placed"}',
        labels: [
          ['exchange', 'e'],
          ['routing.key', 'order.placed'],
        ],
        value: 1,
      },
    ]);
  });

  it('hold what was counted, whatever labels it came with and in whatever objects and orders', () => {
    const pair = fc.tuple(
      fc.constantFrom('queue', 'outcome', '1', '__proto__'),
      fc.constantFrom('', 'a', 'b'),
    );
    const pairs = fc.uniqueArray(pair, { selector: ([name]) => name, maxLength: 3 });
    const sample = fc.tuple(
      pairs,
      fc.constantFrom('fresh', 'reused', 'frozen'),
      fc.integer({ min: 0, max: 9 }),
    );
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 60 }), (samples) => {
        const metrics = new Metrics();
        const expected: Record<string, number> = {};
        const reused: Record<string, string> = Object.create(null);
        const frozen = new Map<string, Record<string, string>>();
        for (const [given, how, delta] of samples) {
          const fresh: Record<string, string> = Object.create(null);
          for (const [name, value] of given) fresh[name] = value;
          const key = metricKey('m', fresh);
          const before = frozen.get(key) ?? Object.freeze({ ...fresh });
          frozen.set(key, before);
          for (const name of Object.keys(reused)) delete reused[name];
          for (const [name, value] of given) reused[name] = value;
          metrics.count('m', delta, { fresh, reused, frozen: before }[how]);
          expected[key] = (expected[key] ?? 0) + delta;
        }
        expect(Object.fromEntries(metrics.counts)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});

describe('Metrics past maxSeries', () => {
  function filled(): { metrics: Metrics; warnings: string[] } {
    const warnings: string[] = [];
    const metrics = new Metrics({ maxSeries: 2, logger: { warn: (message) => warnings.push(message) } });
    for (const key of ['a', 'b', 'c', 'd', 'a']) {
      metrics.count(METRIC_PUBLISH_TOTAL, 1, { exchange: 'e', 'routing.key': key, outcome: 'confirmed' });
    }
    return { metrics, warnings };
  }

  it('writes other for the label with the most values, and goes on counting the label sets it knows', () => {
    expect([...filled().metrics.counts]).toEqual([
      ['acemq.publish.total{exchange="e",outcome="confirmed",routing.key="a"}', 2],
      ['acemq.publish.total{exchange="e",outcome="confirmed",routing.key="b"}', 1],
      ['acemq.publish.total{exchange="e",outcome="confirmed",routing.key="other"}', 2],
    ]);
  });

  it('never replaces an outcome, so that a failure still reads as one', () => {
    const { metrics } = filled();
    const labels = Object.freeze({ exchange: 'e', 'routing.key': 'z', outcome: 'failed' });
    metrics.count(METRIC_PUBLISH_TOTAL, 1, labels);
    metrics.count(METRIC_PUBLISH_TOTAL, 1, labels);
    expect(metrics.counts.get('acemq.publish.total{exchange="e",outcome="failed",routing.key="other"}')).toBe(
      2,
    );
  });

  it('does the same for a distribution', () => {
    const metrics = new Metrics({ maxSeries: 1, logger: { warn: () => {} } });
    for (const kind of ['a', 'b', 'c']) metrics.observe('mine', 1, { kind, queue: 'q' });
    expect([...metrics.durations].map(([key, { count }]) => [key, count])).toEqual([
      ['mine{kind="a",queue="q"}', 1],
      ['mine{kind="other",queue="q"}', 2],
    ]);
  });

  it('leaves out a new gauge, since two of them make no third', () => {
    const warnings: string[] = [];
    const metrics = new Metrics({ maxSeries: 2, logger: { warn: (message) => warnings.push(message) } });
    for (const queue of ['a', 'b', 'c', 'd', 'a']) metrics.gauge(METRIC_CONSUME_IN_FLIGHT, 5, { queue });
    expect([...metrics.gauges.keys()]).toEqual([
      'acemq.consume.in.flight{queue="a"}',
      'acemq.consume.in.flight{queue="b"}',
    ]);
    expect(warnings).toEqual([
      'acemq.consume.in.flight has 2 label sets, as many as maxSeries allows: new ones are left out; most values are those of queue',
    ]);
  });

  it('counts the sample that reached the limit, also where the log fails', () => {
    const warn = (): never => {
      throw new Error('no disk');
    };
    const metrics = new Metrics({ maxSeries: 1, logger: { warn } });
    metrics.count('m', 1, { 'routing.key': 'a' });
    metrics.count('m', 1, { 'routing.key': 'b' });
    expect(metrics.counts.get('m{routing.key="other"}')).toBe(1);
  });

  it('warns once for each metric, and names the label', () => {
    const { metrics, warnings } = filled();
    expect(warnings).toEqual([
      'acemq.publish.total has 2 label sets, as many as maxSeries allows: in new ones routing.key reads "other"',
    ]);
    for (const queue of ['a', 'b', 'c', 'd']) metrics.observe('mine', 1, { queue });
    expect(warnings).toHaveLength(2);
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5'])('refuses %s as maxSeries', (maxSeries) => {
    const create = (): Metrics => new Metrics({ maxSeries: maxSeries as number });
    expect(create).toThrow(ConfigurationError);
    expect(create).toThrow(`maxSeries is ${shown(maxSeries)}; a whole number of at least 1 is allowed`);
  });
});

describe('Metrics are refused', () => {
  it.each([
    [{ maxseries: 5 }, 'Metrics has no option "maxseries"; there are logger, maxSeries'],
    [null, 'the options of Metrics must be an object, not null'],
    [{ logger: {} }, 'logger must have the methods warn; missing: warn'],
    [{ logger: 'stderr' }, 'logger must have the methods warn, and is "stderr"'],
  ])('the options %j', (options, words) => {
    const create = (): Metrics => new Metrics(options as object);
    expect(create).toThrow(ConfigurationError);
    expect(create).toThrow(words);
  });
});

describe('a sample that is no number', () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1])('is refused by count: %s', (delta) => {
    const metrics = new Metrics();
    expect(() => metrics.count('m', delta, {})).toThrow(`m was counted by ${delta}; 0 and more is allowed`);
    expect(metrics.counts.size).toBe(0);
  });

  it.each(['5', '', null, true])('is refused by count where it only compares as one: %j', (delta) => {
    const metrics = new Metrics();
    metrics.count('m', 1, {});
    expect(() => metrics.count('m', delta as unknown as number, {})).toThrow(ConfigurationError);
    expect(metrics.counts.get('m')).toBe(1);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('is refused by observe: %s', (value) => {
    const metrics = new Metrics();
    expect(() => metrics.observe('m', value, {})).toThrow(`m was given ${value}; a finite number is allowed`);
    expect(metrics.toString()).toBe('nothing recorded yet');
  });

  it.each([Number.POSITIVE_INFINITY, '5'])('is refused by gauge: %s', (value) => {
    const metrics = new Metrics();
    const set = (): void => metrics.gauge('m', value as number, {});
    expect(set).toThrow(ConfigurationError);
    expect(set).toThrow(`m was set to ${value}; a finite number or NaN is allowed`);
    expect(metrics.toString()).toBe('nothing recorded yet');
  });

  it('is kept by a gauge where it is NaN, which says that nobody knows, and is scraped as such', () => {
    const metrics = new Metrics();
    metrics.gauge('jobs.depth', 7, {});
    metrics.gauge('jobs.depth', Number.NaN, {});
    expect(prometheusText(metrics)).toContain('\njobs_depth NaN\n');
  });
});

describe('the printed form of Metrics', () => {
  it('is the one of the observability page', () => {
    const metrics = new Metrics();
    metrics.observe(METRIC_CONSUME_DURATION, 0.02, acked);
    metrics.observe(METRIC_CONSUME_DURATION, 0.04, acked);
    metrics.count(METRIC_CONSUME_TOTAL, 3, acked);
    expect(String(metrics)).toBe(
      [
        'acemq.consume.total{outcome="acked",queue="shipping.orders"} 3',
        'acemq.consume.duration{outcome="acked",queue="shipping.orders"} count=2 mean=0.0300s',
      ].join('\n'),
    );
  });

  it('has counters, gauges and distributions in this order, each sorted by key', () => {
    const metrics = new Metrics();
    metrics.observe('d', 1, { q: 'b' });
    metrics.observe('d', 1, { q: 'a' });
    metrics.gauge('g', 2, {});
    metrics.count('z', 1, {});
    metrics.count('c', 1, {});
    expect(String(metrics).split('\n')).toEqual([
      'c 1',
      'z 1',
      'g 2',
      'd{q="a"} count=1 mean=1.0000s',
      'd{q="b"} count=1 mean=1.0000s',
    ]);
  });

  it('says so when nothing was recorded, and is what Node prints', () => {
    const metrics = new Metrics();
    expect(String(metrics)).toBe('nothing recorded yet');
    metrics.count('c', 1, {});
    expect(inspect(metrics)).toBe('c 1');
  });
});
