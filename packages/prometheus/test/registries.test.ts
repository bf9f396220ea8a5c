import {
  METRIC_CONSUME_ATTEMPTS,
  METRIC_CONSUME_DURATION,
  METRIC_CONSUME_IN_FLIGHT,
  METRIC_CONSUME_TOTAL,
  METRIC_RUNG_MISSING,
  type Observer,
} from '@acemq/observe';
import * as prometheusIo from '@prometheus-io/client';
import * as promClient from 'prom-client';
import { describe, expect, it } from 'vitest';
import { type Client, clients, linesOf } from './clients.ts';

const OPENMETRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8' as never;
const acked = { queue: 'q', outcome: 'acked' };

function write(observer: Observer): void {
  observer.count(METRIC_CONSUME_TOTAL, 2, acked);
  observer.observe(METRIC_CONSUME_DURATION, 0.02, acked);
  observer.observe(METRIC_CONSUME_ATTEMPTS, 2, { queue: 'q' });
  observer.gauge(METRIC_CONSUME_IN_FLIGHT, 3, { queue: 'q' });
}

/** What the primary of a cluster serves of what its workers send it. */
function together(client: Client, workers: readonly object[][]): Promise<string> {
  const { AggregatorRegistry } = client.name === 'prom-client' ? promClient : prometheusIo;
  return (AggregatorRegistry as typeof promClient.AggregatorRegistry).aggregate([...workers]).metrics();
}

describe.each(clients)('a registry of $name', (client) => {
  const { observer, registry } = client;

  it('puts its default labels beside those of the library, and never in their place', async () => {
    const own = registry();
    own.setDefaultLabels({ service: 'shipping', queue: 'default' });
    write(observer({ registry: own }));
    expect(await linesOf(own, 'acemq_consume_total')).toEqual([
      'acemq_consume_total{outcome="acked",queue="q",service="shipping"} 2',
    ]);
    expect(await linesOf(own, 'acemq_consume_duration_count')).toEqual([
      'acemq_consume_duration_count{service="shipping",outcome="acked",queue="q"} 1',
    ]);
    expect(await linesOf(own, 'acemq_consume_in_flight')).toEqual([
      'acemq_consume_in_flight{queue="q",service="shipping"} 3',
    ]);
  });

  it('of each worker of a cluster adds up in the primary, gauges too', async () => {
    const workers = await Promise.all(
      [registry(), registry(), registry()].map((own) => {
        write(observer({ registry: own }));
        // What a worker sends goes through a channel of Node as JSON.
        return own.getMetricsAsJSON().then((metrics) => JSON.parse(JSON.stringify(metrics)) as object[]);
      }),
    );
    const lines = (await together(client, workers)).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'acemq_consume_total{outcome="acked",queue="q"} 6',
        'acemq_consume_duration_bucket{le="0.025",outcome="acked",queue="q"} 3',
        'acemq_consume_duration_count{outcome="acked",queue="q"} 3',
        'acemq_consume_attempts_bucket{le="1",queue="q"} 0',
        'acemq_consume_attempts_bucket{le="2",queue="q"} 3',
        'acemq_consume_in_flight{queue="q"} 9',
      ]),
    );
  });

  it('that is scraped as OpenMetrics, which renames its counters, is still written to and shared', async () => {
    const own = registry();
    own.setContentType(OPENMETRICS);
    const [one, two] = [observer({ registry: own }), observer({ registry: own })];
    const missing = { queue: 'q', rung: 'q.retry.40s' };
    for (let scrape = 1; scrape < 4; scrape += 1) {
      for (const written of [one, two, observer({ registry: own })]) {
        written.count(METRIC_CONSUME_TOTAL, 1, acked);
        written.count(METRIC_RUNG_MISSING, 1, missing);
      }
      expect(await linesOf(own, 'acemq')).toEqual([
        `acemq_consume_total{outcome="acked",queue="q"} ${3 * scrape}`,
        `acemq_retry_rung_missing_total{queue="q",rung="q.retry.40s"} ${3 * scrape}`,
      ]);
    }
  });

  it('from which one metric is taken away gets that one again, and the others go on', async () => {
    const own = registry();
    const written = observer({ registry: own });
    write(written);
    own.removeSingleMetric('acemq_consume_total');
    write(written);
    expect(await linesOf(own, 'acemq_consume_total')).toEqual([
      'acemq_consume_total{outcome="acked",queue="q"} 2',
    ]);
    expect(await linesOf(own, 'acemq_consume_duration_count')).toEqual([
      'acemq_consume_duration_count{outcome="acked",queue="q"} 2',
    ]);
  });
});
