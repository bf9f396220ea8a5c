import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { accept, type HttpHandler, topology } from '@acemq/core';
import {
  aggregateHealth,
  BrokerHealth,
  type HealthCheck,
  type HealthReport,
  healthHandler,
  healthReport,
} from '@acemq/health';
import { metricsHandler, NullObserver, observers } from '@acemq/observe';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { onMemory, type Setting } from './setting.ts';

const BLOCKED = 'the broker has blocked this connection; publishing is paused';

/** Raises an alarm and publishes into it, which is how a link learns of it. */
async function blockedBy({ broker, mq, queue }: Setting, reason: string): Promise<void> {
  broker.block(reason);
  onTestFinished(() => broker.unblock());
  mq.publisher({ routingKey: queue })
    .send({})
    .catch(() => {});
  await vi.waitFor(() => expect(mq.blocked).toBe(true));
}

/** Takes the queue away from the only consumer of a connection, which so finds nothing to go back to. */
async function stalled({ mq, queue }: Setting): Promise<void> {
  await mq.declare(topology().queue(queue));
  await mq.consume(queue, () => accept());
  await mq.deleteQueue(queue);
  await vi.waitFor(async () => expect((await mq.health()).status).toBe('degraded'));
}

/** A server on `node:http`. */
async function serving(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ready = new Request('http://localhost/ready');

async function answerOf(handler: HttpHandler): Promise<[number, unknown]> {
  const response = await handler(ready);
  return [response.status, await response.json()];
}

describe('the samples of the requirement', () => {
  test('a report on its own', async () => {
    const setting = await onMemory();
    const { mq, queue } = setting;
    await mq.declare(topology().queue(queue).queue(`${queue}.other`));
    await mq.consume(queue, () => accept());
    await mq.consume(`${queue}.other`, () => accept());
    // report = await mq.health()
    const report = await mq.health();
    // report.status     # HealthStatus.UP / DOWN / DEGRADED
    expect(report.status).toBe('up');
    // report.healthy    # what a readiness probe should return; degraded passes
    expect(report.healthy).toBe(true);
    // report.detail     # why, when it is not simply up
    expect(report.detail).toBe('');
    // report.parts      # {'consumers': 2, 'in-flight': 0, 'blocked': False, 'round-trip': 0.0021}
    expect(report.parts).toMatchObject({
      consumers: 2,
      'in-flight': 0,
      blocked: false,
      'round-trip': expect.any(Number),
    });
  });

  test('a report that prints itself, degraded and healthy', async () => {
    const setting = await onMemory();
    await stalled(setting);
    const report = await setting.mq.health();
    // print(report)     # 'degraded: these consumers have stopped reading: shipping.orders'
    expect(`${report}`).toBe(`degraded: these consumers have stopped reading: ${setting.queue}`);
    // report.healthy is True for up and degraded, and False for down
    expect(report.healthy).toBe(true);
  });

  test('a blocked connection', async () => {
    const setting = await onMemory();
    const { mq } = setting;
    await mq.declare(topology().queue(setting.queue));
    await blockedBy(setting, 'low on memory');
    // mq.blocked          # True / False / None
    expect(mq.blocked).toBe(true);
    // mq.blocked_reason   # the broker's words, when the client kept them
    expect(mq.blockedReason).toBe('low on memory');
    // report = await mq.health()
    const report = await mq.health();
    // report.status                 # HealthStatus.UP
    expect(report.status).toBe('up');
    // report.parts["blocked"]       # True
    expect(report.parts['blocked']).toBe(true);
  });

  test('a deadline of its own', async () => {
    const { mq, broker } = await onMemory();
    broker.freeze();
    onTestFinished(() => broker.thaw());
    // three seconds by default, and await mq.health(timeout=1.0) to say otherwise
    const report = await mq.health({ timeout: '0.1s' });
    expect(`${report}`).toBe('down: the broker did not answer within 0.1s');
  });

  test('several checks', async () => {
    const { mq } = await onMemory();
    const databaseCheck: HealthCheck = { name: 'database', check: async () => healthReport('degraded') };
    // report = await aggregate_health(BrokerHealth(mq), database_check, timeout=5.0)
    const report = await aggregateHealth([new BrokerHealth(mq), databaseCheck], { timeout: '5s' });
    // report.parts["broker"]      # the connection's own report
    expect(report.parts['broker']).toMatchObject({
      status: 'up',
      parts: { state: 'connected', consumers: 0 },
    });
    // report.parts["database"]
    expect(report.parts['database']).toMatchObject({ status: 'degraded' });
    expect(`${report}`).toBe('degraded: database: degraded');
  });

  test('two handlers on one server', async () => {
    // metrics = Metrics()
    // mq = await connect(url, observer=metrics)
    const { mq, metrics, queue } = await onMemory();
    await mq.declare(topology().queue(queue));
    await mq.publisher({ routingKey: queue }).send({});
    const scrape = metricsHandler(metrics);
    const probe = healthHandler(mq);
    const url = await serving((request, response) =>
      (request.url === '/metrics' ? scrape : probe)(request, response),
    );
    // return Response(prometheus_text(metrics), media_type="text/plain; version=0.0.4")
    const scraped = await fetch(`${url}/metrics`);
    expect(scraped.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await scraped.text()).toContain(
      `acemq_publish_total{exchange="",outcome="confirmed",routing_key="${queue}"} 1\n`,
    );
    // {"status": report.status.value, "detail": report.detail},
    // status_code=200 if report.healthy else 503,
    const asked = await fetch(`${url}/ready`);
    expect([asked.status, await asked.json()]).toEqual([200, { status: 'up', detail: '' }]);
    await mq.close();
    const closed = await fetch(`${url}/ready`);
    expect([closed.status, await closed.json()]).toEqual([
      503,
      { status: 'down', detail: 'the connection has been closed' },
    ]);
  });
});

describe('a connection among other checks', () => {
  test('is up while the broker blocks it, and says so in the top line', async () => {
    const setting = await onMemory();
    await setting.mq.declare(topology().queue(setting.queue));
    await blockedBy(setting, 'low on disk');
    const other: HealthCheck = { name: 'other', check: async () => healthReport('up') };
    // A blocked broker comes through BrokerHealth as up, so there is no "blocked is degraded" answer
    const report = await aggregateHealth([other, new BrokerHealth(setting.mq)]);
    expect(`${report}`).toBe(`up: broker: ${BLOCKED}: low on disk`);
    expect(await answerOf(healthHandler([other, new BrokerHealth(setting.mq)]))).toEqual([
      200,
      { status: 'up', detail: `broker: ${BLOCKED}: low on disk` },
    ]);
  });

  test('that is silent is described by the connection, which knows more than the deadline does', async () => {
    const { mq, broker } = await onMemory();
    broker.freeze();
    onTestFinished(() => broker.thaw());
    // a broker that has stopped answering is described by the check that looked rather than by the aggregate giving up on it
    const report = await aggregateHealth([new BrokerHealth(mq, { timeout: '50ms' })]);
    expect(`${report}`).toBe('down: broker: the broker did not answer within 0.05s');
    expect(report.parts['broker']).toMatchObject({ parts: { state: 'connected', blocked: false } });
    expect(await answerOf(healthHandler(mq, { timeout: '50ms' }))).toEqual([
      503,
      { status: 'down', detail: 'the broker did not answer within 0.05s' },
    ]);
  });

  test('does not wait for a check that hangs beyond the deadline, and is reported as it is', async () => {
    const { mq } = await onMemory();
    const hanging: HealthCheck = { name: 'hanging', check: () => new Promise<HealthReport>(() => {}) };
    const report = await aggregateHealth([hanging, new BrokerHealth(mq)], { timeout: '100ms' });
    expect(`${report}`).toBe('down: hanging: did not answer within 0.1s');
    expect(report.parts['broker']).toMatchObject({ status: 'up', parts: { blocked: false } });
  });
});

describe('a handler', () => {
  test('answers a connection that is degraded with 200, under its own words or those of the list', async () => {
    const setting = await onMemory();
    await stalled(setting);
    const detail = `these consumers have stopped reading: ${setting.queue}`;
    expect(await answerOf(healthHandler(setting.mq))).toEqual([200, { status: 'degraded', detail }]);
    expect(await answerOf(healthHandler([new BrokerHealth(setting.mq, { label: 'orders' })]))).toEqual([
      200,
      { status: 'degraded', detail: `orders: ${detail}` },
    ]);
  });

  test('answers the facts of the connection, with null for what nobody could ask', async () => {
    const { mq } = await onMemory();
    await mq.close();
    expect(await answerOf(healthHandler(mq, { parts: true }))).toEqual([
      503,
      {
        status: 'down',
        detail: 'the connection has been closed',
        parts: { state: 'closed', consumers: 0, 'in-flight': 0, blocked: null },
      },
    ]);
  });
});

test('a connection tells several observers, and one that throws costs neither the others nor the message', async () => {
  const broken = new NullObserver();
  const told: string[] = [];
  const lines: string[] = [];
  const logger = { warn: (line: string) => void lines.push(line) };
  const listening = {
    count: (metric: string) => void told.push(metric),
    observe: (metric: string) => void told.push(metric),
    gauge: (metric: string) => void told.push(metric),
  };
  const throwing = {
    ...listening,
    count: () => {
      throw new Error('no disk');
    },
  };
  const { mq, queue } = await onMemory({ observer: observers([throwing, broken, listening], { logger }) });
  await mq.declare(topology().queue(queue));
  await mq.publisher({ routingKey: queue }).send({});
  expect(told.filter((metric) => metric === 'acemq.publish.total')).toHaveLength(1);
  expect(told.filter((metric) => metric === 'acemq.publish.duration')).toHaveLength(2);
  expect(lines).toEqual([
    'the observer failed on acemq.publish.total; further failures on it are not logged',
  ]);
});
