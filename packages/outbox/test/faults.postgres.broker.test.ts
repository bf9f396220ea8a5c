import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@acemq/amqp';
import { topology } from '@acemq/core';
import { Metrics, metricKey } from '@acemq/observe';
import { faultProxy, manualClock } from '@acemq/testing';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { PgOutboxStore } from '../src/pg.ts';
import { type OutboxRecord, record } from '../src/record.ts';
import { OutboxRelay } from '../src/relay.ts';
import type { RelayFailure, RelayOptions } from '../src/relay-options.ts';
import { firstOf, onBroker, PATIENCE, queueName, queueOn, seenIn } from './on-broker.ts';
import { inTransaction, onPostgres, pool } from './on-postgres.ts';
import { SILENT } from './recorder.ts';

function relayOn(mq: Connection, store: PgOutboxStore, options: RelayOptions = {}): OutboxRelay {
  const relay = new OutboxRelay(mq, store, { interval: '100ms', logger: SILENT, ...options });
  onTestFinished(() => relay.close());
  return relay;
}

async function addAll(store: PgOutboxStore, records: readonly OutboxRecord[]): Promise<void> {
  await inTransaction(async (tx) => {
    for (const one of records) await store.add(one, { tx });
  });
}

test('with the broker away for an hour nothing is retired, the lag climbs, and all arrive in order after', async () => {
  const proxy = await faultProxy(process.env['AMQP_URL'] ?? '');
  onTestFinished(() => proxy.close());
  const direct = await onBroker();
  const queue = await queueOn(direct);
  const mq = await onBroker({ confirmTimeout: 100 }, proxy.url);
  const { store } = await onPostgres();
  const clock = manualClock();
  const metrics = new Metrics();
  const relay = relayOn(mq, store, { clock, observer: metrics, interval: '1s', lease: '1h' });
  proxy.refuse();
  proxy.cut();
  const records = Array.from({ length: 300 }, (_, index) =>
    record(mq, { routingKey: queue, payload: index }),
  );
  await addAll(store, records);
  relay.start();
  for (let passed = 0; passed < 3600; passed += 15) {
    await clock.advance(15_000);
    await sleep(15);
  }
  expect(await relay.retired()).toEqual([]);
  expect(await relay.pendingCount()).toBe(300);
  const attempts = await store.fetch(
    (await store.owed({ after: 0, lanes: -1n, limit: 1000 })).map(({ seq }) => seq),
  );
  expect(Math.max(...attempts.map((one) => one.attempts))).toBe(0);
  const failed = metricKey('acemq.outbox.total', { exchange: '', outcome: 'failed', 'routing.key': queue });
  // Backing off: far fewer than one try a second.
  expect(metrics.counts.get(failed)).toBeLessThan(300 + 200);
  const seen = await seenIn(direct, queue);
  await proxy.accept();
  await vi.waitFor(() => expect(mq.state).toBe('connected'), PATIENCE);
  await vi.waitFor(async () => {
    await clock.advance(5000);
    expect(await relay.pendingCount()).toBe(0);
  }, PATIENCE);
  await vi.waitFor(() => expect(firstOf(seen)).toEqual(records.map(({ id }) => id)), PATIENCE);
  expect(Math.max(...[...metrics.durations.values()].map(({ slowest }) => slowest))).toBeGreaterThan(3500);
  await direct.deleteQueue(queue);
}, 60_000);

test('among 10,000 records the two that no broker takes are retired, all others arrive, and none of those lost an attempt', async () => {
  const mq = await onBroker();
  const queue = queueName();
  const exchange = `${queue}.events`;
  await mq.declare(
    topology().exchange(exchange, 'topic').queue(queue, { type: 'classic' }).bind(queue, exchange, '#'),
  );
  const { store } = await onPostgres();
  const good = Array.from({ length: 10_000 }, (_, index) =>
    record(mq, { exchange, routingKey: `key.${index % 20}`, payload: index }),
  );
  const missing = record(mq, { exchange: `${exchange}.missing`, routingKey: 'x', payload: 'bad' });
  // RabbitMQ permits nobody to publish to its internal exchanges: 403.
  const forbidden = record(mq, { exchange: 'amq.rabbitmq.trace', routingKey: 'publish.x', payload: 'bad' });
  await addAll(store, [...good.slice(0, 5000), missing, forbidden, ...good.slice(5000)]);
  const seen = await seenIn(mq, queue);
  const failures: RelayFailure[] = [];
  const relay = relayOn(mq, store, {
    maxAttempts: 4,
    rest: { first: 50, longest: 200 },
    onError: (_error, where) => failures.push(where),
  });
  relay.start();
  await vi.waitFor(async () => expect(await relay.retired()).toHaveLength(2), {
    ...PATIENCE,
    timeout: 40_000,
  });
  await vi.waitFor(() => expect(firstOf(seen)).toHaveLength(10_000), { ...PATIENCE, timeout: 40_000 });
  const retired = await relay.retired();
  expect(new Set(retired.map(({ id }) => id))).toEqual(new Set([missing.id, forbidden.id]));
  expect(retired.map(({ attempts }) => attempts)).toEqual([4, 4]);
  // With its words: an id before it may have any digits.
  const codes = retired.map(({ reason }) => reason.match(/\b(40\d) [A-Z_]+ - /)?.[1]);
  expect(codes.sort()).toEqual(['403', '404']);
  expect(new Set(failures.map(({ id }) => id))).toEqual(new Set([missing.id, forbidden.id]));
  // What has arrived is marked a moment later.
  await vi.waitFor(async () => expect(await relay.pendingCount()).toBe(2), PATIENCE);
  expect(firstOf(seen)).toHaveLength(seen.length);
  await mq.deleteQueue(queue);
  await mq.deleteExchange(exchange);
}, 90_000);

test('with a binding missing for 30 s under 200 records a second nothing is retired, and all arrive in order', async () => {
  const mq = await onBroker();
  const queue = queueName();
  const exchange = `${queue}.events`;
  const plan = topology().exchange(exchange, 'topic').queue(queue, { type: 'classic' });
  await mq.declare(plan);
  const { store } = await onPostgres();
  const relay = relayOn(mq, store);
  relay.start();
  const seen = await seenIn(mq, queue);
  const written: string[] = [];
  const began = Date.now();
  let bound = false;
  while (Date.now() - began < 33_000) {
    const records = Array.from({ length: 20 }, () => record(mq, { exchange, routingKey: 'a', payload: 1 }));
    await addAll(store, records);
    written.push(...records.map(({ id }) => id));
    if (!bound && Date.now() - began > 30_000) {
      bound = true;
      expect(await relay.retired()).toEqual([]);
      await mq.declare(plan.bind(queue, exchange, '#'));
    }
    await sleep(Math.max(0, began + written.length * 5 - Date.now()));
  }
  await vi.waitFor(async () => expect(await relay.pendingCount()).toBe(0), {
    timeout: 60_000,
    interval: 100,
  });
  await vi.waitFor(() => expect(firstOf(seen)).toHaveLength(written.length), PATIENCE);
  expect(firstOf(seen)).toEqual(written);
  expect(await relay.retired()).toEqual([]);
  await mq.deleteQueue(queue);
  await mq.deleteExchange(exchange);
}, 120_000);

test('with the database away the relay says so, rests, and resumes', async () => {
  const mq = await onBroker();
  const queue = await queueOn(mq);
  const { store, table } = await onPostgres();
  const url = new URL(process.env['POSTGRES_URL'] ?? '');
  // It passes on any bytes; of these, by the scheme, it makes no sense of its own.
  const proxy = await faultProxy(`amqps://${url.hostname}:${url.port || '5432'}`);
  onTestFinished(() => proxy.close());
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  const far = new pg.Pool({ connectionString: url.href });
  far.on('error', () => {});
  const failures: RelayFailure[] = [];
  const relay = relayOn(mq, new PgOutboxStore(far, { table }), {
    outageRest: { first: 100, longest: 200 },
    onError: (_error, where) => failures.push(where),
  });
  onTestFinished(async () => {
    await relay.close();
    await far.end();
  });
  const seen = await seenIn(mq, queue);
  relay.start();
  const before = record(mq, { routingKey: queue, payload: 1 });
  await addAll(store, [before]);
  await vi.waitFor(() => expect(firstOf(seen)).toEqual([before.id]), PATIENCE);
  proxy.refuse();
  proxy.cut();
  const during = record(mq, { routingKey: queue, payload: 2 });
  await addAll(store, [during]);
  await vi.waitFor(
    () => expect(failures.filter(({ phase }) => phase === 'read').length).toBeGreaterThan(2),
    PATIENCE,
  );
  expect(firstOf(seen)).toEqual([before.id]);
  await proxy.accept();
  await vi.waitFor(() => expect(firstOf(seen)).toEqual([before.id, during.id]), PATIENCE);
  await vi.waitFor(async () => expect(await store.pendingCount()).toBe(0), PATIENCE);
  await mq.deleteQueue(queue);
});

test('a relay wakes for a commit of another process within its interval', async () => {
  const mq = await onBroker();
  const queue = await queueOn(mq);
  const { store, table } = await onPostgres();
  const relay = relayOn(mq, store, { interval: '1h' });
  relay.start();
  const seen = await seenIn(mq, queue);
  await vi.waitFor(async () => {
    const { rows } = await pool().query(`select asleep from ${table}_relays`);
    expect(rows).toEqual([{ asleep: true }]);
  }, PATIENCE);
  const elsewhere = new PgOutboxStore(pool(), { table });
  const one = record(mq, { routingKey: queue, payload: 1 });
  await addAll(elsewhere, [one]);
  await vi.waitFor(() => expect(firstOf(seen)).toEqual([one.id]), PATIENCE);
  await mq.deleteQueue(queue);
});

test('a record that is committed after a younger one is published, however long its transaction takes', async () => {
  const mq = await onBroker();
  const queue = await queueOn(mq);
  const { store } = await onPostgres();
  const relay = relayOn(mq, store);
  relay.start();
  const seen = await seenIn(mq, queue);
  const [early, late] = [1, 2].map((payload) => record(mq, { routingKey: queue, payload })) as [
    OutboxRecord,
    OutboxRecord,
  ];
  const client = await pool().connect();
  await client.query('begin');
  await store.add(early, { tx: client });
  for (let round = 0; round < 5; round += 1) {
    await addAll(store, [round === 0 ? late : record(mq, { routingKey: queue, payload: round })]);
    await vi.waitFor(async () => expect(await store.pendingCount()).toBe(0), PATIENCE);
  }
  expect(firstOf(seen)).not.toContain(early.id);
  await client.query('commit');
  client.release();
  await vi.waitFor(() => expect(firstOf(seen)).toContain(early.id), { timeout: 5000, interval: 20 });
  await mq.deleteQueue(queue);
});
