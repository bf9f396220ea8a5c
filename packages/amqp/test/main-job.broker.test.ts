import { randomUUID } from 'node:crypto';
import {
  accept,
  exponential,
  type Message,
  park,
  RetryLadder,
  retry,
  TopologyError,
  topology,
} from '@acemq/core';
import { Metrics } from '@acemq/observe';
import { connect as connectRaw } from 'amqplib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Connection, connect } from '../src/index.ts';

const url = (): string => process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';

let mq: Connection;
let metrics: Metrics;
let queue: string;
let made: string[];

beforeEach(async () => {
  metrics = new Metrics();
  mq = await connect(url(), { name: 'main-job-test', observer: metrics });
  queue = `acemq-test-${randomUUID()}`;
  made = [queue, `${queue}.dlq`, `${queue}.parked`];
});

afterEach(async () => {
  await Promise.all(mq.consumers.map((consumer) => consumer.close()));
  for (const name of made) await mq.deleteQueue(name);
  await mq.close();
});

function count(key: string): number {
  return metrics.counts.get(key.replaceAll('QUEUE', queue)) ?? 0;
}

describe('the main job on RabbitMQ', () => {
  test('a message that always fails is seen four times, waits here and in the broker, and dead-letters with its reason', async () => {
    const policy = exponential(4, '1s', '4s').waitInBrokerFrom('2s');
    made.push(`${queue}.retry.2s`, `${queue}.retry.4s`);
    await mq.declare(topology().queue(queue, { retry: policy }));
    const seen: { attempt: number; at: number; id: string }[] = [];
    await mq.consume(
      queue,
      ({ envelope }: Message) => {
        seen.push({ attempt: envelope.attempt, at: performance.now(), id: envelope.id });
        return retry(new Error('the payment gateway did not answer'));
      },
      { retry: policy },
    );
    const { id } = await mq.publisher({ routingKey: queue }).send({ orderId: 'o-1' });
    await vi.waitFor(async () => expect(await mq.messageCount(`${queue}.dlq`)).toBe(1), { timeout: 15_000 });
    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
    expect(new Set(seen.map((one) => one.id))).toEqual(new Set([id]));
    const waits = seen.slice(1).map(({ at }, index) => at - (seen[index]?.at ?? 0));
    // Never early; late by no more than a loaded machine may be.
    expect(waits[0]).toBeGreaterThanOrEqual(799);
    expect(waits[0]).toBeLessThan(1_200 + 1_000);
    expect(waits[1]).toBeGreaterThanOrEqual(1_999);
    expect(waits[1]).toBeLessThan(2_000 + 1_500);
    expect(waits[2]).toBeGreaterThanOrEqual(3_999);
    expect(waits[2]).toBeLessThan(4_000 + 1_500);
    const dead = await mq.pull(`${queue}.dlq`);
    expect(dead?.headers['x-acemq-error']).toBe(
      'exhausted 4 attempts: Error: the payment gateway did not answer',
    );
    expect(dead).toMatchObject({ messageId: id });
    dead?.ack();
    expect(count('acemq.consume.total{outcome="retried",queue="QUEUE"}')).toBe(3);
    expect(count('acemq.consume.total{outcome="dead_lettered",queue="QUEUE"}')).toBe(1);
    expect(count('acemq.messages.retried.total{queue="QUEUE",where="consumer"}')).toBe(1);
    expect(count('acemq.messages.retried.total{queue="QUEUE",where="broker"}')).toBe(2);
    expect(count('acemq.messages.dead.lettered.total{outcome="dead_lettered",queue="QUEUE"}')).toBe(1);
    expect(metrics.durations.get(`acemq.consume.attempts{queue="${queue}"}`)).toMatchObject({
      count: 4,
      total: 10,
    });
  });

  test('a rung is accepted by RabbitMQ when it is declared again with exactly its three arguments', async () => {
    const policy = exponential(6, '10s', '5m');
    const ladder = RetryLadder.for(queue, policy);
    made.push(...ladder.queues);
    expect(ladder.queues).toEqual([40, 80, 160].map((seconds) => `${queue}.retry.${seconds}s`));
    await mq.declare(topology().queue(queue, { retry: policy }));
    const raw = await connectRaw(url());
    try {
      for (const rung of ladder.rungs) {
        const channel = await raw.createChannel();
        await channel.assertQueue(rung.queue, {
          durable: true,
          arguments: {
            'x-message-ttl': rung.delay,
            'x-dead-letter-exchange': 'acemq.retry',
            'x-dead-letter-routing-key': queue,
          },
        });
        await channel.close();
      }
    } finally {
      await raw.close();
    }
  });

  test('many messages are handled, parked and counted, and the figures add up', async () => {
    await mq.declare(topology().queue(queue, { deadLetter: true }));
    const consumer = await mq.consume<number>(
      queue,
      async ({ payload }) => (payload % 10 === 0 ? park(new Error('odd')) : accept()),
      { concurrency: 8, prefetch: 100 },
    );
    const sent = await mq
      .publisher<number>({ routingKey: queue })
      .sendAll(Array.from({ length: 3_000 }, (_, number) => number));
    expect(sent).toHaveLength(3_000);
    await vi.waitFor(() => expect(count('acemq.consume.total{outcome="acked",queue="QUEUE"}')).toBe(2_700), {
      timeout: 15_000,
    });
    await vi.waitFor(async () => expect(await mq.messageCount(`${queue}.parked`)).toBe(300), {
      timeout: 15_000,
    });
    expect(await consumer.close()).toEqual({ finished: true, unsettled: 0 });
    expect(await mq.messageCount(queue)).toBe(0);
    expect(metrics.gauges.get(`acemq.consume.in.flight{queue="${queue}"}`)).toBe(0);
  });

  test('a topology that differs from what exists is refused with the argument and both values, and nothing is declared', async () => {
    const policy = exponential(2, '40s', '5m');
    made.push(`${queue}.retry.40s`);
    await mq.declare(topology().queue(queue, { type: 'classic' }));
    const error = await mq.declare(topology().queue(queue, { retry: policy })).then(
      () => expect.unreachable('it differs'),
      (one: unknown) => one,
    );
    expect(error).toBeInstanceOf(TopologyError);
    const [difference] = (error as TopologyError).differences;
    expect(difference).toEqual({
      kind: 'queue',
      name: queue,
      argument: 'x-dead-letter-exchange',
      wanted: 'acemq.dlx',
      found: 'none',
    });
    expect((error as Error).message).toContain(`queue ${queue} exists with x-dead-letter-exchange none`);
    for (const name of [`${queue}.dlq`, `${queue}.parked`, `${queue}.retry.40s`]) {
      expect(await mq.queueExists(name)).toBe(false);
    }
    const report = await mq.plan(topology().queue(queue, { retry: policy }));
    expect(report.drift).toBe(true);
    expect(report.items.find(({ name }) => name === `${queue}.dlq`)?.state).toBe('create');
    expect(await mq.queueExists(`${queue}.dlq`)).toBe(false);
  });

  test('a consumer that the broker cancels reads again by itself when its queue is back', async () => {
    await mq.declare(topology().queue(queue));
    const seen: unknown[] = [];
    const consumer = await mq.consume(queue, ({ payload }) => {
      seen.push(payload);
      return accept();
    });
    await mq.deleteQueue(queue);
    await vi.waitFor(() => expect(consumer.running).toBe(false));
    expect(consumer.stalled).toBeTypeOf('string');
    await mq.declare(topology().queue(queue));
    await vi.waitFor(() => expect(consumer.running).toBe(true), { timeout: 10_000 });
    await mq.publisher({ routingKey: queue }).send('again');
    await vi.waitFor(() => expect(seen).toEqual(['again']), { timeout: 10_000 });
  });
});
