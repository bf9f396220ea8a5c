import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { accept, topology } from '@acemq/core';
import { aggregateHealth, BrokerHealth, type HealthCheck, healthHandler, healthReport } from '@acemq/health';
import { Metrics, metricsHandler } from '@acemq/observe';
import { faultProxy } from '@acemq/testing';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Connection, connect } from '../src/index.ts';
import { BROKER_URL } from './amqplib-proxy.ts';

let mq: Connection;
let metrics: Metrics;
let queue: string;
let server: Server;
let url: string;

beforeEach(async () => {
  metrics = new Metrics();
  mq = await connect(BROKER_URL, { name: 'health-test', observer: metrics });
  queue = `acemq-test-${randomUUID()}`;
  await mq.declare(topology().queue(queue, { type: 'classic' }));
  const [scrape, ready] = [metricsHandler(metrics), healthHandler(mq)];
  const all = healthHandler([new BrokerHealth(mq), database], { parts: true });
  server = createServer((request, response) => {
    if (request.url === '/metrics') scrape(request, response);
    else if (request.url === '/all') all(request, response);
    else ready(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await mq.close();
  const cleaner = await connect(BROKER_URL, { name: 'health-test' });
  await cleaner.deleteQueue(queue);
  await cleaner.close();
});

const database: HealthCheck = { name: 'database', check: async () => healthReport('up') };

describe('a service on RabbitMQ', () => {
  test('is ready, shows its facts, and is not ready once it is closed', async () => {
    await mq.consume(queue, () => accept());
    const ready = await fetch(`${url}/ready`);
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'up', detail: '' }]);
    expect(await (await fetch(`${url}/all`)).json()).toMatchObject({
      status: 'up',
      detail: '',
      parts: {
        broker: {
          status: 'up',
          parts: {
            state: 'connected',
            consumers: 1,
            'in-flight': 0,
            blocked: false,
            'round-trip': expect.any(Number),
          },
        },
        database: { status: 'up', healthy: true },
      },
    });
    await mq.close();
    const closed = await fetch(`${url}/all`);
    expect(closed.status).toBe(503);
    expect(await closed.json()).toMatchObject({
      status: 'down',
      detail: 'broker: the connection has been closed',
    });
  });

  test('serves what it has counted', async () => {
    await mq.consume(queue, () => accept());
    await mq.publisher({ routingKey: queue }).send({});
    await vi.waitFor(async () => {
      const text = await (await fetch(`${url}/metrics`)).text();
      expect(text).toContain(`acemq_consume_total{outcome="acked",queue="${queue}"} 1\n`);
      expect(text).toContain(
        `acemq_publish_total{exchange="",outcome="confirmed",routing_key="${queue}"} 1\n`,
      );
    });
  });

  test('is degraded, and stays in rotation, while the queue of a consumer is gone', async () => {
    await mq.consume(queue, () => accept());
    await mq.deleteQueue(queue);
    const detail = `these consumers have stopped reading: ${queue}`;
    await vi.waitFor(async () => {
      const response = await fetch(`${url}/all`);
      expect([response.status, await response.json()]).toMatchObject([
        200,
        { status: 'degraded', detail: `broker: ${detail}` },
      ]);
    });
  });

  test('says that the broker is silent in the words of the connection, and recovers', async () => {
    const proxy = await faultProxy(BROKER_URL);
    const proxied = await connect(proxy.url, { name: 'health-test' });
    onTestFinished(async () => {
      proxy.thaw();
      await proxied.close();
      await proxy.close();
    });
    const checks = [new BrokerHealth(proxied, { timeout: '200ms' }), database];
    proxy.freeze();
    expect(`${await aggregateHealth(checks)}`).toBe('down: broker: the broker did not answer within 0.2s');
    proxy.thaw();
    await vi.waitFor(async () => expect(`${await aggregateHealth(checks)}`).toBe('up'));
  });
});
