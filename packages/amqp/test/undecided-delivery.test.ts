import { accept, type Envelope, retry, type Settlement, topology } from '@acemq/core';
import { expect, test, vi } from 'vitest';
import { onMemory } from './setting.ts';

/** An envelope whose fields cannot be read. */
const unreadable = new Proxy(
  {},
  {
    get(): never {
      throw new Error('hands off');
    },
  },
) as Envelope;

test('a delivery about which nothing can be decided tells those who wait for its settlement', async () => {
  const { mq, queue, log } = await onMemory();
  await mq.declare(topology().queue(queue));
  const settled: Settlement[] = [];
  const undecided: unknown[] = [];
  mq.interceptConsume(async (context, next) => {
    context.whenSettled((settlement) => settled.push(settlement));
    context.whenSettled(
      (settlement) => settled.push(settlement),
      (error) => {
        undecided.push(
          error,
          context.whenSettled(() => {}),
        );
        throw new Error('a broken listener');
      },
    );
    const ack = await next();
    context.envelope = unreadable;
    return ack;
  });
  const consumer = await mq.consume(queue, () => retry('again'));
  await mq.publisher({ routingKey: queue }).send({});
  await vi.waitFor(() => expect(undecided).toEqual([new Error('hands off'), false]));
  expect(settled).toEqual([]);
  expect(consumer.inFlight).toBe(0);
  expect(log.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual([
    'a delivery could not be settled and is left to the broker',
    'a listener of a settlement failed',
  ]);
});

test('one that is settled never does', async () => {
  const { mq, queue } = await onMemory();
  await mq.declare(topology().queue(queue));
  const told: unknown[] = [];
  mq.interceptConsume((context, next) => {
    context.whenSettled(
      ({ outcome }) => told.push(outcome),
      (error) => told.push(error),
    );
    return next();
  });
  const consumer = await mq.consume(queue, () => accept());
  await mq.publisher({ routingKey: queue }).send({});
  await vi.waitFor(() => expect(told).toEqual(['acked']));
  await consumer.close();
  expect(told).toEqual(['acked']);
});
