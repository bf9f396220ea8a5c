import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigurationError } from '@acemq/core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Metrics, metricsHandler, prometheusText, type SeriesByKind } from '../src/index.ts';

function counted(): Metrics {
  const metrics = new Metrics();
  metrics.count('acemq.consume.total', 3, { queue: 'shipping.orders', outcome: 'acked' });
  metrics.gauge('acemq.consume.in.flight', 2, { queue: 'zürich' });
  return metrics;
}

const scrape = (method = 'GET'): Request => new Request('http://localhost/metrics?name=x', { method });

describe('a scrape', () => {
  test('gets the numbers as they are at that moment', async () => {
    const metrics = counted();
    const handler = metricsHandler(metrics);
    expect(await (await handler(scrape())).text()).toBe(prometheusText(metrics));
    metrics.count('acemq.consume.total', 1, { queue: 'shipping.orders', outcome: 'acked' });
    // acemq_consume_total{outcome="acked",queue="shipping.orders"} 3
    expect(await (await handler(scrape())).text()).toContain(
      'acemq_consume_total{outcome="acked",queue="shipping.orders"} 4\n',
    );
  });

  test('gets the content type of the text format', async () => {
    const { status, headers } = await metricsHandler(counted())(scrape());
    expect(status).toBe(200);
    // return Response(prometheus_text(metrics), media_type="text/plain; version=0.0.4")
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  test('gets an empty body where nothing was counted', async () => {
    const response = await metricsHandler(new Metrics())(scrape());
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  test('gets the length in bytes for HEAD', async () => {
    const metrics = counted();
    const response = await metricsHandler(metrics)(scrape('HEAD'));
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(prometheusText(metrics))));
    expect(await response.text()).toBe('');
  });

  test('is served by node:http too', async () => {
    const metrics = counted();
    const server = createServer(metricsHandler(metrics)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await response.text()).toBe(prometheusText(metrics));
  });
});

test('numbers that cannot be read are a 500 without the reason, which is logged', async () => {
  class Broken extends Metrics {
    override series(): SeriesByKind {
      throw new Error('secret');
    }
  }
  const lines: unknown[][] = [];
  const handler = metricsHandler(new Broken(), { logger: { error: (...line) => void lines.push(line) } });
  const response = await handler(scrape());
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain('secret');
  expect(lines).toEqual([
    [expect.stringContaining('metricsHandler could not answer'), { error: new Error('secret') }],
  ]);
});

describe('it is refused to serve', () => {
  test.for<[string, unknown[], string]>([
    ['nothing', [], 'metrics must be a Metrics of @acemq/observe, not undefined'],
    ['an observer that keeps no numbers', [{ count: () => {} }], 'not an object'],
    [
      'with a logger that logs no error',
      [new Metrics(), { logger: {} }],
      'logger must have the methods error',
    ],
    ['with an option that nobody reads', [new Metrics(), { path: '/metrics' }], 'has no option "path"'],
  ])('%s', ([, given, words]) => {
    const make = (): unknown => (metricsHandler as (...all: unknown[]) => unknown)(...given);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(words);
  });
});
