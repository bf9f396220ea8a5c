import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@acemq/amqp';
import { topology } from '@acemq/core';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { PgOutboxStore } from '../src/pg.ts';
import { type OutboxRecord, record } from '../src/record.ts';
import { OutboxRelay } from '../src/relay.ts';
import { firstOf, onBroker, PATIENCE, queueName, queueOn, seenIn } from './on-broker.ts';
import { inTransaction, onPostgres, pool } from './on-postgres.ts';
import { SILENT } from './recorder.ts';
import { useRelayProcesses } from './relay-processes.ts';
import type { Step } from './relay-worker.ts';

const processes = useRelayProcesses();

/** A relay in this process, for what the killed one has left. */
function successor(mq: Connection, store: PgOutboxStore): OutboxRelay {
  const relay = new OutboxRelay(mq, store, { lease: '1s', interval: '50ms', logger: SILENT });
  onTestFinished(() => relay.close());
  relay.start();
  return relay;
}

async function addAll(store: PgOutboxStore, records: readonly OutboxRecord[]): Promise<void> {
  await inTransaction(async (tx) => {
    for (const one of records) await store.add(one, { tx });
  });
}

/** What table and queue show when a relay is held at a step, and how often the message arrives in the end. */
const SHOWN: Readonly<
  Record<Step, { readonly state: number; readonly queued: number; readonly arrivals: number }>
> = {
  claimed: { state: 0, queued: 0, arrivals: 1 },
  published: { state: 0, queued: 1, arrivals: 2 },
  confirmed: { state: 0, queued: 1, arrivals: 2 },
  marked: { state: 1, queued: 1, arrivals: 1 },
};

test.each(Object.keys(SHOWN) as Step[])(
  'a relay killed when it has %s a record loses nothing, and repeats only what it has not marked',
  async (step) => {
    const mq = await onBroker();
    const queue = await queueOn(mq);
    const { store, table } = await onPostgres();
    const one = record(mq, { routingKey: queue, payload: { text: 'x' } });
    await addAll(store, [one]);
    const child = await processes.start({ table, hold: step });
    await child.held();
    const { state, queued, arrivals } = SHOWN[step];
    expect((await pool().query(`select state from ${table}`)).rows).toEqual([{ state }]);
    await vi.waitFor(async () => expect(await mq.messageCount(queue)).toBe(queued), PATIENCE);
    await child.kill();
    const seen = await seenIn(mq, queue);
    successor(mq, store);
    await vi.waitFor(async () => {
      expect(await store.pendingCount()).toBe(0);
      expect(seen).toHaveLength(arrivals);
    }, PATIENCE);
    expect(firstOf(seen)).toEqual([one.id]);
    expect(new Set(seen.map(({ body }) => body))).toEqual(new Set(['{"text":"x"}']));
    await mq.deleteQueue(queue);
  },
);

test('relays killed again and again under load lose nothing, and keep the order of each destination', async () => {
  const mq = await onBroker();
  const queues = [await queueOn(mq), await queueOn(mq), await queueOn(mq)];
  const { store, table } = await onPostgres();
  const seen = new Map<string, Awaited<ReturnType<typeof seenIn>>>();
  for (const queue of queues) seen.set(queue, await seenIn(mq, queue));
  const written = new Map<string, OutboxRecord[]>(queues.map((queue) => [queue, []]));
  let writing = true;
  const writer = (async () => {
    while (writing) {
      const records = queues.flatMap((queue) =>
        Array.from({ length: 10 }, () => record(mq, { id: randomUUID(), routingKey: queue, payload: 1 })),
      );
      await addAll(store, records);
      for (const one of records) written.get(one.routingKey)?.push(one);
      await sleep(10);
    }
  })();
  for (let kill = 0; kill < 30; kill += 1) {
    const child = await processes.start({ table });
    await sleep(Math.random() * 600);
    await child.kill();
  }
  writing = false;
  await writer;
  const relay = successor(mq, store);
  await vi.waitFor(async () => expect(await relay.pendingCount()).toBe(0), {
    timeout: 60_000,
    interval: 100,
  });
  for (const queue of queues) {
    const ids = written.get(queue)?.map(({ id }) => id) ?? [];
    expect(ids.length).toBeGreaterThan(300);
    await vi.waitFor(() => expect(firstOf(seen.get(queue) ?? []).length).toBe(ids.length), PATIENCE);
    expect(firstOf(seen.get(queue) ?? [])).toEqual(ids);
    await mq.deleteQueue(queue);
  }
}, 150_000);

test('of two relays one is killed: nothing is lost, and each destination arrives in order', async () => {
  const mq = await onBroker();
  const queue = queueName();
  const { store, table } = await onPostgres();
  const exchange = `${queue}.events`;
  await mq.declare(
    topology().exchange(exchange, 'topic').queue(queue, { type: 'classic' }).bind(queue, exchange, '#'),
  );
  const child = await processes.start({ table });
  const other = await processes.start({ table });
  await vi.waitFor(async () => {
    const { rows } = await pool().query(
      `select count(distinct relay) as n from ${table}_lanes where relay <> ''`,
    );
    expect(rows).toEqual([{ n: '2' }]);
  }, PATIENCE);
  const seen = await seenIn(mq, queue);
  const keys = Array.from({ length: 40 }, (_, index) => `key.${index}`);
  const written: OutboxRecord[] = [];
  for (let round = 0; round < 40; round += 1) {
    const records = keys.map((routingKey) => record(mq, { exchange, routingKey, payload: routingKey }));
    await addAll(store, records);
    written.push(...records);
    if (round === 15) await child.kill();
  }
  await vi.waitFor(async () => expect(await store.pendingCount()).toBe(0), PATIENCE);
  await vi.waitFor(() => expect(firstOf(seen).length).toBe(written.length), PATIENCE);
  const owners = await pool().query(`select count(distinct relay) as n from ${table}_lanes`);
  expect(Number(owners.rows[0].n)).toBe(1);
  const keyOf = new Map(written.map((one) => [one.id, one.routingKey]));
  for (const key of keys) {
    const ids = written.filter((one) => one.routingKey === key).map(({ id }) => id);
    expect(firstOf(seen).filter((id) => keyOf.get(id) === key)).toEqual(ids);
  }
  await other.kill();
  await mq.deleteQueue(queue);
  await mq.deleteExchange(exchange);
}, 60_000);
