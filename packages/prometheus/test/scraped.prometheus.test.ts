import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  METRIC_CONSUME_ATTEMPTS,
  METRIC_CONSUME_DURATION,
  METRIC_CONSUME_TOTAL,
  METRICS,
  Metrics,
  type Observer,
  PROMETHEUS_CONTENT_TYPE,
  prometheusText,
} from '@acemq/observe';
import { type PrometheusServer, startPrometheus } from '@acemq/prometheus-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clients } from './clients.ts';
import { writeEveryMetric } from './every-metric.ts';

const orders = { outcome: 'acked', queue: 'orders' };

/** Ten handlers of 0.02 s and ninety of 0.3 s, and a message in four that needs a second attempt. */
function writeOrders(observer: Observer): void {
  for (let n = 0; n < 100; n += 1) {
    observer.observe(METRIC_CONSUME_DURATION, n < 10 ? 0.02 : 0.3, orders);
    observer.observe(METRIC_CONSUME_ATTEMPTS, n % 4 === 0 ? 2 : 1, { queue: 'orders' });
    observer.count(METRIC_CONSUME_TOTAL, 1, orders);
  }
}

const bodies = new Map<string, () => Promise<string>>();
for (const { name, registry, observer } of clients) {
  const own = registry();
  const written = observer({ registry: own });
  writeEveryMetric(written);
  writeOrders(written);
  bodies.set(name, () => own.metrics());
}
const metrics = new Metrics();
writeEveryMetric(metrics);
writeOrders(metrics);
bodies.set('text', async () => prometheusText(metrics));

let page: Server;
let prometheus: PrometheusServer;

beforeAll(async () => {
  page = createServer(async (request, response) => {
    const body = await [...bodies.values()][Number(request.url?.slice(1))]?.();
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': PROMETHEUS_CONTENT_TYPE }).end(body);
  });
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
  const { port } = page.address() as AddressInfo;
  prometheus = await startPrometheus({
    targets: [...bodies.keys()].map((job, index) => ({
      job,
      address: `127.0.0.1:${port}`,
      path: `/${index}`,
    })),
  });
  await prometheus.until('acemq_consume_total{queue="orders"}', (samples) => samples.length === bodies.size);
});

afterAll(async () => {
  await prometheus?.close();
  page.close();
});

const ask = async (expression: string): Promise<number | undefined> =>
  (await prometheus.query(expression))[0]?.value;

describe.each([...bodies.keys()])('what a Prometheus server has of the page of %s', (job) => {
  it('is a target that is up', async () => {
    expect(await ask(`up{job="${job}"}`)).toBe(1);
  });

  it('is every metric with its two label sets', async () => {
    for (const { name, kind } of METRICS) {
      const exposed = name.replaceAll('.', '_') + (kind === 'distribution' ? '_count' : '');
      expect(await ask(`count(${exposed}{job="${job}", queue!="orders"})`), exposed).toBe(2);
    }
  });

  it('is the counts, and the mean of a duration', async () => {
    expect(await ask(`acemq_consume_total{job="${job}", queue="orders"}`)).toBe(100);
    const mean = `acemq_consume_duration_sum{job="${job}", queue="orders"} / acemq_consume_duration_count`;
    expect(await ask(mean)).toBeCloseTo(0.272);
  });

  it('is label values as they were given', async () => {
    const [sample] = await prometheus.query(
      `acemq_retry_rung_missing{job="${job}", queue!="shipping.orders"}`,
    );
    expect(sample?.labels).toMatchObject({ queue: 'a "b" \\ c', rung: 'a "b" \\ c' });
  });
});

describe.each(clients)('the buckets of $name, asked of a Prometheus server', ({ name: job }) => {
  it('tell how long the median handler took', async () => {
    // The 50th of 100 is the 40th of the 90 that are between 0.25 and 0.5 s.
    const median = await ask(
      `histogram_quantile(0.5, sum by (le) (acemq_consume_duration_bucket{job="${job}", queue="orders"}))`,
    );
    expect(median).toBeCloseTo(0.25 + 0.25 * (40 / 90));
  });

  it('tell how many messages needed one attempt, exactly', async () => {
    expect(await ask(`acemq_consume_attempts_bucket{job="${job}", queue="orders", le="1"}`)).toBe(75);
  });

  it('have a line of help for every metric', async () => {
    const response = await fetch(`${prometheus.url}/api/v1/metadata`);
    const { data } = (await response.json()) as { data: Record<string, { type: string; help: string }[]> };
    for (const { name, help } of METRICS) {
      const known = data[name.replaceAll('.', '_')] ?? [];
      expect(
        known.map((one) => one.help),
        name,
      ).toContain(help);
    }
  });
});
