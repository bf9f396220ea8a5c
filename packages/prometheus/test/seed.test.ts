import {
  DEFAULT_ATTEMPT_BUCKETS,
  DEFAULT_DURATION_BUCKETS,
  METRIC_CONSUME_ATTEMPTS,
  METRIC_CONSUME_DURATION,
  METRIC_CONSUME_IN_FLIGHT,
  METRIC_CONSUME_TOTAL,
  METRIC_PUBLISH_TOTAL,
} from '@acemq/observe';
import { describe, expect, it } from 'vitest';
import { clients, linesOf } from './clients.ts';

// What the observability page shows of Prometheus, with the page's own words beside it.
describe.each(clients)(
  'the samples of the observability page, with $name',
  ({ observer, registry, register }) => {
    it('are the lines of the page', async () => {
      const own = registry();
      const written = observer({ registry: own });
      const orders = { queue: 'shipping.orders', outcome: 'acked' };
      written.count(METRIC_CONSUME_TOTAL, 3, orders);
      written.count(METRIC_PUBLISH_TOTAL, 1, {
        exchange: 'orders-events',
        'routing.key': 'order.placed',
        outcome: 'confirmed',
      });
      written.gauge(METRIC_CONSUME_IN_FLIGHT, 2, { queue: 'shipping.orders' });
      written.observe(METRIC_CONSUME_DURATION, 0.02, orders);
      written.observe(METRIC_CONSUME_DURATION, 0.04, orders);
      const lines = await linesOf(own);
      expect(lines).toEqual(
        expect.arrayContaining([
          '# TYPE acemq_consume_total counter', // # TYPE acemq_consume_total counter
          'acemq_consume_total{outcome="acked",queue="shipping.orders"} 3', // acemq_consume_total{outcome="acked",queue="shipping.orders"} 3
          '# TYPE acemq_publish_total counter', // # TYPE acemq_publish_total counter
          'acemq_publish_total{exchange="orders-events",outcome="confirmed",routing_key="order.placed"} 1', // acemq_publish_total{exchange="orders-events",outcome="confirmed",routing_key="order.placed"} 1
          '# TYPE acemq_consume_in_flight gauge', // # TYPE acemq_consume_in_flight gauge
          'acemq_consume_in_flight{queue="shipping.orders"} 2', // acemq_consume_in_flight{queue="shipping.orders"} 2
          // A histogram, and not a summary as in the text of `prometheus_text`: "It takes … its own histogram buckets".
          '# TYPE acemq_consume_duration histogram',
          'acemq_consume_duration_count{outcome="acked",queue="shipping.orders"} 2', // acemq_consume_duration_count{outcome="acked",queue="shipping.orders"} 2
          'acemq_consume_duration_sum{outcome="acked",queue="shipping.orders"} 0.06', // acemq_consume_duration_sum{outcome="acked",queue="shipping.orders"} 0.06
        ]),
      );
    });

    it('go to the registry that the application already has', async () => {
      // mq = await connect(url, observer=PrometheusObserver())
      observer().count(METRIC_CONSUME_TOTAL, 3, { queue: 'shipping.orders', outcome: 'acked' });
      const lines = await linesOf(register, 'acemq');
      register.clear();
      expect(lines).toEqual(['acemq_consume_total{outcome="acked",queue="shipping.orders"} 3']);
    });

    it('take a registry, a namespace and buckets', async () => {
      const own = registry();
      // PrometheusObserver(registry, namespace="checkout", buckets=(0.01, 0.1, 1.0, 10.0))
      const written = observer({ registry: own, namespace: 'checkout', buckets: [0.01, 0.1, 1.0, 10.0] });
      written.observe(METRIC_CONSUME_DURATION, 0.02, { queue: 'q', outcome: 'acked' });
      expect(await linesOf(own, 'checkout_acemq_consume_duration_bucket')).toEqual(
        [
          ['0.01', 0],
          ['0.1', 1],
          ['1', 1],
          ['10', 1],
          ['+Inf', 1],
        ].map(
          ([le, n]) => `checkout_acemq_consume_duration_bucket{le="${le}",outcome="acked",queue="q"} ${n}`,
        ),
      );
    });

    it('have buckets from 5 ms to 60 s for durations', async () => {
      // "The default buckets run from 5ms to 60s"
      expect([DEFAULT_DURATION_BUCKETS.at(0), DEFAULT_DURATION_BUCKETS.at(-1)]).toEqual([0.005, 60]);
      const own = registry();
      observer({ registry: own }).observe(METRIC_CONSUME_DURATION, 0.02, { queue: 'q', outcome: 'acked' });
      const counts = await linesOf(own, 'acemq_consume_duration_bucket');
      expect(counts.map((line) => /le="([^"]+)".* (\d+)$/.exec(line)?.slice(1))).toEqual([
        ...DEFAULT_DURATION_BUCKETS.map((bound) => [String(bound), bound < 0.02 ? '0' : '1']),
        ['+Inf', '1'],
      ]);
    });

    it('count attempts in buckets of their own, so that the first says how many got it right first time', async () => {
      // "PrometheusObserver gives it buckets of its own — DEFAULT_ATTEMPT_BUCKETS, whole numbers from 1 to 10,
      // overridable with attempt_buckets= — so the first bucket answers "how many got it right first time" exactly."
      const own = registry();
      const written = observer({ registry: own });
      for (const attempt of [1, 1, 3, 7]) written.observe(METRIC_CONSUME_ATTEMPTS, attempt, { queue: 'q' });
      expect(await linesOf(own, 'acemq_consume_attempts_bucket')).toEqual(
        [
          [1, 2],
          [2, 2],
          [3, 3],
          [4, 3],
          [5, 3],
          [10, 4],
          ['+Inf', 4],
        ].map(([le, n]) => `acemq_consume_attempts_bucket{le="${le}",queue="q"} ${n}`),
      );
      expect(DEFAULT_ATTEMPT_BUCKETS).toEqual([1, 2, 3, 4, 5, 10]);
      const other = registry();
      observer({ registry: other, attemptBuckets: [2] }).observe(METRIC_CONSUME_ATTEMPTS, 3, { queue: 'q' });
      expect(await linesOf(other, 'acemq_consume_attempts_bucket')).toEqual([
        'acemq_consume_attempts_bucket{le="2",queue="q"} 0',
        'acemq_consume_attempts_bucket{le="+Inf",queue="q"} 1',
      ]);
    });
  },
);
