import { METRIC_CONSUME_DURATION, METRIC_CONSUME_IN_FLIGHT, METRIC_PUBLISH_TOTAL } from '@acemq/observe';
import { describe, expect, it } from 'vitest';
import { clients, linesOf } from './clients.ts';

describe.each(clients)('maxSeries, with $name', ({ observer, registry }) => {
  function limited(maxSeries?: number) {
    const own = registry();
    const warnings: string[] = [];
    const logger = { warn: (message: string) => warnings.push(message) };
    const options = maxSeries === undefined ? {} : { maxSeries };
    return { own, warnings, written: observer({ registry: own, logger, ...options }) };
  }

  it('is 1000 for each metric, past which a new routing key reads other, with one warning', async () => {
    const { own, warnings, written } = limited();
    for (let n = 0; n < 1_200; n += 1) {
      written.count(METRIC_PUBLISH_TOTAL, 1, { exchange: 'e', outcome: 'confirmed', 'routing.key': `k${n}` });
    }
    written.count(METRIC_PUBLISH_TOTAL, 1, { exchange: 'e', outcome: 'failed', 'routing.key': 'k9999' });
    const lines = await linesOf(own, 'acemq_publish_total');
    expect(lines).toHaveLength(1_002);
    expect(lines.slice(1_000)).toEqual([
      'acemq_publish_total{exchange="e",outcome="confirmed",routing_key="other"} 200',
      'acemq_publish_total{exchange="e",outcome="failed",routing_key="other"} 1',
    ]);
    expect(warnings).toEqual([
      'acemq.publish.total has 1000 label sets, as many as maxSeries allows: in new ones routing.key reads "other"',
    ]);
  });

  it('replaces no queue and no outcome of a histogram', async () => {
    const { own, warnings, written } = limited(3);
    for (let n = 0; n < 9; n += 1) {
      written.observe(METRIC_CONSUME_DURATION, 1, { queue: `q${n}`, outcome: 'acked' });
    }
    expect(await linesOf(own, 'acemq_consume_duration_count')).toEqual([
      'acemq_consume_duration_count{outcome="acked",queue="q0"} 1',
      'acemq_consume_duration_count{outcome="acked",queue="q1"} 1',
      'acemq_consume_duration_count{outcome="acked",queue="q2"} 1',
    ]);
    expect(warnings).toHaveLength(1);
  });

  it('leaves out a new gauge', async () => {
    const { own, warnings, written } = limited(1);
    for (const queue of ['a', 'b', 'a', 'b']) written.gauge(METRIC_CONSUME_IN_FLIGHT, 2, { queue });
    expect(await linesOf(own, 'acemq')).toEqual(['acemq_consume_in_flight{queue="a"} 2']);
    expect(warnings).toEqual([
      'acemq.consume.in.flight has 1 label sets, as many as maxSeries allows: new ones are left out; most values are those of queue',
    ]);
  });

  it('warns once, even where the registry was cleared between', () => {
    const { own, warnings, written } = limited(1);
    for (const kind of ['a', 'b']) written.count('m', 1, { kind });
    own.clear();
    for (const kind of ['a', 'b']) written.count('m', 1, { kind });
    expect(warnings).toHaveLength(1);
  });
});
