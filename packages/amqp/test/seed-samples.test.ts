// The samples of the observability page on metrics and endpoints, each beside its line. Those on health are in
// broker-health.test.ts, those on Prometheus and on tracing in the packages of those names.
import { accept, exponential, retry, topology } from '@acemq/core';
import { healthHandler } from '@acemq/health';
import {
  METRIC_CONSUME_ATTEMPTS,
  METRIC_CONSUME_TOTAL,
  METRIC_RUNG_MISSING,
  Metrics,
  metricKey,
  metricsHandler,
  NullObserver,
  type Observer,
  prometheusText,
} from '@acemq/observe';
import { memoryBroker } from '@acemq/testing';
import { expect, test, vi } from 'vitest';
import { connect } from '../src/index.ts';
import { onMemory } from './setting.ts';

test('class Observer(Protocol): count, observe, gauge', async () => {
  // Seed: "def count(self, metric: str, delta: int, labels: Mapping[str, str]) -> None: ..."
  // Seed: "def observe(self, metric: str, seconds: float, labels: Mapping[str, str]) -> None: ..."
  // Seed: "def gauge(self, metric: str, value: int, labels: Mapping[str, str]) -> None: ..."
  const told = { count: new Set<string>(), observe: new Set<string>(), gauge: new Set<string>() };
  // "It is a Protocol, so there is nothing to inherit from."
  const observer: Observer = {
    count: (metric, delta, labels) => told.count.add(`${metric} ${delta} ${Object.keys(labels).sort()}`),
    observe: (metric, seconds, labels) =>
      told.observe.add(`${metric} ${seconds >= 0} ${Object.keys(labels).sort()}`),
    gauge: (metric, value, labels) => told.gauge.add(`${metric} ${value} ${Object.keys(labels).sort()}`),
  };
  const { mq, queue } = await onMemory({ observer });
  await mq.declare(topology().queue(queue));
  await mq.consume(queue, () => accept());
  await mq.publisher({ routingKey: queue }).send({});
  await vi.waitFor(() => expect(told.count).toContain('acemq.consume.total 1 outcome,queue'));
  expect(told.count).toContain('acemq.publish.total 1 exchange,outcome,routing.key');
  expect(told.observe).toContain('acemq.consume.duration true outcome,queue');
  expect(told.observe).toContain('acemq.consume.attempts true queue');
  expect(told.gauge).toContain('acemq.consume.in.flight 1 queue');
  // "NullObserver is the default and does nothing."
  const silent = await connect(memoryBroker());
  expect(silent.observer).toBeInstanceOf(NullObserver);
  await silent.close();
});

test('mq = await connect(url, observer=metrics) … print(prometheus_text(metrics))', async () => {
  // Seed: "metrics = Metrics()", "mq = await connect(url, observer=metrics)", "print(prometheus_text(metrics))"
  const metrics = new Metrics();
  const mq = await connect(memoryBroker(), { observer: metrics });
  await mq.declare(
    topology()
      .exchange('orders-events', 'topic')
      .queue('shipping.orders')
      .bind('shipping.orders', 'orders-events', 'order.*'),
  );
  await mq.publisher({ exchange: 'orders-events', routingKey: 'order.placed' }).send({});
  const body = prometheusText(metrics).split('\n');
  await mq.close();
  // Seed: "# TYPE acemq_publish_total counter"
  expect(body).toContain('# TYPE acemq_publish_total counter');
  // Seed: "acemq_publish_total{exchange="orders-events",outcome="confirmed",routing_key="order.placed"} 1"
  expect(body).toContain(
    'acemq_publish_total{exchange="orders-events",outcome="confirmed",routing_key="order.placed"} 1',
  );
});

test('print(metrics), the three maps, and metric_key', async () => {
  const metrics = new Metrics();
  const labels = { queue: 'shipping.orders', outcome: 'acked' };
  metrics.count(METRIC_CONSUME_TOTAL, 3, labels);
  metrics.observe('acemq.consume.duration', 0.02, labels);
  metrics.observe('acemq.consume.duration', 0.04, labels);
  // Seed: "# acemq.consume.total{outcome="acked",queue="shipping.orders"} 3"
  // Seed: "# acemq.consume.duration{outcome="acked",queue="shipping.orders"} count=2 mean=0.0300s"
  expect(`${metrics}`).toBe(
    'acemq.consume.total{outcome="acked",queue="shipping.orders"} 3\n' +
      'acemq.consume.duration{outcome="acked",queue="shipping.orders"} count=2 mean=0.0300s',
  );
  // Seed: "metrics.counts       # {'acemq.consume.total{outcome="acked",queue="shipping.orders"}': 3}"
  expect([...metrics.counts]).toEqual([['acemq.consume.total{outcome="acked",queue="shipping.orders"}', 3]]);
  // Seed: "metrics.gauges"
  expect([...metrics.gauges]).toEqual([]);
  // Seed: "metrics.durations    # DurationSummary(count, total, fastest, slowest), and .mean"
  expect([...metrics.durations.values()]).toEqual([
    { count: 2, total: 0.06, fastest: 0.02, slowest: 0.04, mean: 0.03 },
  ]);
  // Seed: "acemq_amqp.telemetry.metric_key(metric, labels) builds the same key, with the labels sorted"
  expect(metricKey(METRIC_CONSUME_TOTAL, labels)).toBe([...metrics.counts.keys()][0]);
  expect(metricKey(METRIC_CONSUME_TOTAL, { outcome: 'acked', queue: 'shipping.orders' })).toBe(
    metricKey(METRIC_CONSUME_TOTAL, labels),
  );
});

test('acemq.consume.attempts arrives through observe, when the delivery does', async () => {
  // Seed: "So it arrives through observe with a value of 1, 2, 3 and so on."
  // Seed: "a message whose body will not decode is counted too"
  const { mq, queue, metrics } = await onMemory();
  await mq.declare(topology().queue(queue, { deadLetter: true }));
  await mq.consume(queue, () => accept());
  await mq.publishRaw('', queue, { body: new TextEncoder().encode('{'), contentType: 'application/json' });
  await vi.waitFor(async () => expect(await mq.messageCount(`${queue}.parked`)).toBe(1));
  expect(metrics.durations.get(metricKey(METRIC_CONSUME_ATTEMPTS, { queue }))).toMatchObject({
    count: 1,
    total: 1,
  });
});

test('the log line names the missing queue and the call that would declare it', async () => {
  // Seed: "the log line beside the metric names the missing queue and the Topology().queue(..., retry=policy) call that
  // would declare it"
  const { mq, queue, metrics, log } = await onMemory();
  await mq.declare(topology().queue(queue, { deadLetter: true }));
  await mq.consume(queue, () => retry(new Error('down')), { retry: exponential(2, '40s', '5m') });
  await mq.deleteQueue(`${queue}.retry.40s`);
  await mq.publisher({ routingKey: queue }).send({});
  const key = metricKey(METRIC_RUNG_MISSING, { queue, rung: `${queue}.retry.40s` });
  await vi.waitFor(() => expect(metrics.counts.get(key)).toBe(1));
  const line = log.find(({ level }) => level === 'error');
  expect(line?.message).toContain(`topology().queue("${queue}", { retry: policy })`);
  expect(line?.details).toMatchObject({ queue, rung: `${queue}.retry.40s` });
});

test('async def scrape(): return Response(prometheus_text(metrics), media_type="text/plain; version=0.0.4")', async () => {
  const metrics = new Metrics();
  metrics.count(METRIC_CONSUME_TOTAL, 3, { queue: 'shipping.orders', outcome: 'acked' });
  const response = await metricsHandler(metrics)(new Request('http://localhost/metrics'));
  // Seed: "return Response(prometheus_text(metrics), media_type="text/plain; version=0.0.4")"
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  expect(await response.text()).toBe(prometheusText(metrics));
});

test('async def ready(): the status and the detail, 200 if report.healthy else 503', async () => {
  const { mq, queue } = await onMemory();
  const ready = healthHandler(mq);
  const ask = async (): Promise<unknown[]> => {
    const response = await ready(new Request('http://localhost/ready'));
    return [response.status, await response.json()];
  };
  // Seed: "{"status": report.status.value, "detail": report.detail}, status_code=200 if report.healthy else 503"
  expect(await ask()).toEqual([200, { status: 'up', detail: '' }]);
  await mq.declare(topology().queue(queue));
  await mq.consume(queue, () => accept());
  await mq.deleteQueue(queue);
  const detail = `these consumers have stopped reading: ${queue}`;
  await vi.waitFor(async () => expect(await ask()).toEqual([200, { status: 'degraded', detail }]));
  await mq.close();
  expect(await ask()).toEqual([503, { status: 'down', detail: expect.stringMatching(/./) }]);
});
