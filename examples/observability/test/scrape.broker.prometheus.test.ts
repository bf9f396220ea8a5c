import { METRICS, prometheusName } from '@acemq/observe';
import { type PrometheusServer, type Sample, startPrometheus } from '@acemq/prometheus-server';
import { expect, onTestFinished, test } from 'vitest';
import { ORDERS } from '../src/orders.ts';
import { dashboardExpressions } from './dashboard.ts';
import { addressIn, prefixIn, type Running, started } from './running.ts';
import { serveUnwritten, UNWRITTEN } from './unwritten.ts';

const url = process.env['AMQP_URL'] ?? '';

/** A run whose numbers stand still after its report, and a Prometheus that has scraped it. */
async function scraped(
  ...others: string[]
): Promise<{ server: PrometheusServer; running: Running; prefix: string }> {
  const running = started(['--serve', '--every', '1h'], url);
  const out = await running.until('scrape_configs');
  const targets = [addressIn(out), ...others].map((address, index) => ({ job: `job-${index}`, address }));
  const server = await startPrometheus({ targets });
  onTestFinished(() => server.close());
  await server.until('count_over_time(up[1m])', (samples) => {
    return samples.length === targets.length && samples.every(({ value }) => value >= 3);
  });
  return { server, running, prefix: prefixIn(out) };
}

function by(label: string, samples: readonly Sample[]): Record<string, number> {
  return Object.fromEntries(samples.map(({ labels, value }) => [labels[label] ?? '', value]));
}

test('a Prometheus that scraped the example has the numbers of what it sent', async () => {
  const { server, running, prefix } = await scraped();
  const sum = async (label: string, selector: string): Promise<Record<string, number>> =>
    by(label, await server.query(`sum by (${label}) (${selector})`));
  const orders = `{queue="${prefix}orders"}`;
  expect(await sum('routing_key', `acemq_publish_total{exchange="${prefix}events"}`)).toEqual({
    'order.placed': ORDERS.length,
    'parcel.packed': 5,
    'order.cancelled': 1,
  });
  expect(await sum('outcome', `acemq_consume_total${orders}`)).toEqual({
    acked: 5,
    retried: 2,
    dead_lettered: 1,
    parked: 1,
  });
  expect(await sum('where', `acemq_messages_retried_total${orders}`)).toEqual({ broker: 2 });
  expect(await sum('outcome', `acemq_messages_dead_lettered_total${orders}`)).toEqual({
    dead_lettered: 1,
    parked: 1,
  });
  expect(await sum('queue', `acemq_consume_attempts_sum${orders}`)).toEqual({ [`${prefix}orders`]: 11 });
  expect(await sum('le', `acemq_consume_attempts_bucket{queue="${prefix}orders",le=~"1|2"}`)).toEqual({
    1: 7,
    2: 9,
  });
  expect(await sum('queue', `acemq_consume_in_flight`)).toEqual({
    [`${prefix}orders`]: 0,
    [`${prefix}parcels`]: 0,
  });
  running.child.kill('SIGINT');
  expect((await running.ended).code).toBe(0);
}, 60_000);

test('every expression of the dashboard returns data', async () => {
  const { server, running } = await scraped(await serveUnwritten());
  const written = by(
    '__name__',
    await server.query('count by (__name__) ({job="job-0",__name__=~"acemq_.*"})'),
  );
  for (const { name, kind } of METRICS) {
    const series = `${prometheusName(name)}${kind === 'distribution' ? '_count' : ''}`;
    expect(series in written, series).toBe(!UNWRITTEN.some((other) => other.name === name));
  }
  const expressions = dashboardExpressions();
  expect(expressions.length).toBeGreaterThanOrEqual(METRICS.length);
  const empty: string[] = [];
  for (const { title, text } of expressions) {
    if ((await server.query(text)).length === 0) empty.push(`${title}: ${text}`);
  }
  expect(empty).toEqual([]);
  running.child.kill('SIGINT');
  expect((await running.ended).code).toBe(0);
}, 60_000);
