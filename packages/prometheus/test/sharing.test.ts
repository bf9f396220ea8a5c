import { ConfigurationError } from '@acemq/core';
import { METRIC_CONSUME_DURATION, METRIC_CONSUME_IN_FLIGHT, METRIC_CONSUME_TOTAL } from '@acemq/observe';
import { describe, expect, it } from 'vitest';
import { clients, linesOf } from './clients.ts';

const acked = { queue: 'q', outcome: 'acked' };

describe.each(clients)('observers on one registry of $name', ({ observer, registry, module }) => {
  it('share their collectors', async () => {
    const own = registry();
    const [one, two] = [observer({ registry: own }), observer({ registry: own })];
    for (const written of [one, two]) {
      written.count(METRIC_CONSUME_TOTAL, 1, acked);
      written.observe(METRIC_CONSUME_DURATION, 1, acked);
    }
    expect(await linesOf(own, 'acemq_consume_total')).toEqual([
      'acemq_consume_total{outcome="acked",queue="q"} 2',
    ]);
    expect(await linesOf(own, 'acemq_consume_duration_count')).toEqual([
      'acemq_consume_duration_count{outcome="acked",queue="q"} 2',
    ]);
  });

  it('share a collector that the application has made itself', async () => {
    const own = registry();
    const counter = new module.Counter({
      name: 'acemq_consume_total',
      help: 'Mine.',
      labelNames: ['queue', 'outcome'],
      registers: [own],
    });
    counter.inc(acked, 4);
    observer({ registry: own }).count(METRIC_CONSUME_TOTAL, 1, acked);
    expect(await linesOf(own, 'acemq_consume_total')).toEqual([expect.stringMatching(/ 5$/)]);
  });

  it('are refused other buckets than the collector has', () => {
    const own = registry();
    observer({ registry: own, buckets: [1, 2] }).observe(METRIC_CONSUME_DURATION, 1, acked);
    const create = (): unknown => observer({ registry: own, buckets: [1, 3] });
    expect(create).toThrow(ConfigurationError);
    expect(create).toThrow(
      'the registry has acemq_consume_duration as a histogram with the buckets 1, 2, while this observer has 1, 3 for acemq.consume.duration; a namespace or another registry keeps them apart',
    );
    expect(() => observer({ registry: own, buckets: [1, 3], namespace: 'checkout' })).not.toThrow();
  });

  it('are refused something of another type under a name of theirs', () => {
    const own = registry();
    new module.Gauge({ name: 'acemq_consume_total', help: 'Mine.', registers: [own] });
    expect(() => observer({ registry: own })).toThrow(
      'the registry has acemq_consume_total as a gauge, while acemq.consume.total is a counter',
    );
  });

  it('are refused a collector with other labels', () => {
    const own = registry();
    new module.Counter({ name: 'acemq_consume_total', help: 'Mine.', labelNames: ['q'], registers: [own] });
    expect(() => observer({ registry: own })).toThrow(
      'the registry has acemq_consume_total as a counter with the labels q, while acemq.consume.total has outcome, queue',
    );
  });

  it('are refused a collector that wants exemplars, which is written in another way', () => {
    const own = registry();
    own.setContentType('application/openmetrics-text; version=1.0.0; charset=utf-8' as never);
    new module.Counter({
      name: 'acemq_consume_total',
      help: 'Mine.',
      labelNames: ['queue', 'outcome'],
      registers: [own],
      enableExemplars: true,
    });
    expect(() => observer({ registry: own })).toThrow('acemq_consume_total as a counter with exemplars');
  });

  it('say at the first sample what is in the way of a metric of the application', () => {
    const own = registry();
    const written = observer({ registry: own });
    new module.Gauge({ name: 'shop_orders', help: 'Mine.', registers: [own] });
    expect(() => written.count('shop.orders', 1, {})).toThrow('the registry has shop_orders as a gauge');
  });

  it('write on after the registry was cleared or reset', async () => {
    const own = registry();
    const [one, two] = [observer({ registry: own }), observer({ registry: own })];
    const frozen = Object.freeze({ ...acked });
    for (const written of [one, two]) written.count(METRIC_CONSUME_TOTAL, 1, frozen);
    own.clear();
    for (const written of [one, two]) written.count(METRIC_CONSUME_TOTAL, 5, frozen);
    expect(await linesOf(own, 'acemq')).toEqual(['acemq_consume_total{outcome="acked",queue="q"} 10']);
    own.resetMetrics();
    one.count(METRIC_CONSUME_TOTAL, 2, frozen);
    one.gauge(METRIC_CONSUME_IN_FLIGHT, 2, { queue: 'q' });
    one.observe(METRIC_CONSUME_DURATION, 2, frozen);
    own.resetMetrics();
    one.observe(METRIC_CONSUME_DURATION, 2, frozen);
    one.count(METRIC_CONSUME_TOTAL, 2, frozen);
    expect(await linesOf(own, 'acemq_consume_total')).toEqual([
      'acemq_consume_total{outcome="acked",queue="q"} 2',
    ]);
    expect(await linesOf(own, 'acemq_consume_duration_count')).toEqual([
      'acemq_consume_duration_count{outcome="acked",queue="q"} 1',
    ]);
  });

  it('write into a registry that serves OpenMetrics, where every counter ends in _total', async () => {
    const own = registry();
    own.setContentType('application/openmetrics-text; version=1.0.0; charset=utf-8' as never);
    const written = observer({ registry: own });
    for (let n = 0; n < 2; n += 1) {
      written.count(METRIC_CONSUME_TOTAL, 1, acked);
      written.count('acemq.retry.rung.missing', 1, { queue: 'q', rung: 'r' });
      await own.metrics(); // Which takes the ending from the collector's name.
    }
    expect((await linesOf(own)).filter((line) => !line.startsWith('# HELP'))).toEqual([
      '# TYPE acemq_consume counter',
      'acemq_consume_total{outcome="acked",queue="q"} 2',
      '# TYPE acemq_retry_rung_missing counter',
      'acemq_retry_rung_missing_total{queue="q",rung="r"} 2',
      '# EOF',
    ]);
    expect(() => observer({ registry: own })).not.toThrow();
  });
});
