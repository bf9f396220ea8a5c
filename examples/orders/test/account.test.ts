import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '@acemq/amqp';
import { deadLetterQueueName, retryQueueName } from '@acemq/core';
import { type MemoryBroker, memoryBroker } from '@acemq/testing';
import { expect, test } from 'vitest';
import { type Account, faultsOf } from '../src/account.ts';
import { figure, orderLine, ran } from './running.ts';

const GOOD: Account = {
  read: 12,
  published: 12,
  tally: {
    sent: 12,
    handled: 7,
    retried: { consumer: 4, broker: 2, requeued: 0 },
    deadLettered: 3,
    rejected: 1,
    parked: 2,
  },
  lying: { source: 0, rungs: 0, deadLetters: 3, parked: 2 },
};

test('figures that add up have no fault', () => {
  expect(faultsOf(GOOD)).toEqual([]);
});

test.each<[string, Partial<Account>, string]>([
  ['an order that was not published', { published: 11 }, '12 orders were read and 11 published'],
  [
    'an order without an end',
    { tally: { ...GOOD.tally, handled: 6 } },
    '12 orders were published, and 6 handled + 3 dead-lettered + 2 parked are 11',
  ],
  [
    'a dead letter that is gone',
    { lying: { ...GOOD.lying, deadLetters: 2 } },
    '3 orders were dead-lettered, and 2 lie in the .dlq queue',
  ],
  [
    'a parked message that is gone',
    { lying: { ...GOOD.lying, parked: 1 } },
    '2 orders were parked, and 1 lie in the .parked queue',
  ],
  [
    'an order left on a rung',
    { lying: { ...GOOD.lying, rungs: 1 } },
    '0 orders are left in the queue and 1 on the ladder',
  ],
])('%s is named', (_, change, fault) => {
  expect(faultsOf({ ...GOOD, ...change })).toContain(fault);
});

/** Takes the first message that comes to a queue and settles it, behind the program's back. */
async function takeOneOutOf(broker: MemoryBroker, queue: string): Promise<void> {
  const thief = await connect(broker);
  try {
    while (broker.depth(queue) === 0) await pause(5);
    const delivery = await thief.pull(queue);
    expect(delivery?.ack()).toBe(true);
  } finally {
    await thief.close();
  }
}

test('a dead letter taken away is seen, named, and ends the program with 1', async () => {
  const broker = memoryBroker();
  const queue = 'orders-theft';
  // The third order is still being tried while the dead letter is taken.
  const input = orderLine({ order: 'bad', total: 1 }) + orderLine() + orderLine({ fails: 3 });
  const [run] = await Promise.all([
    ran({ target: broker, queue }, input),
    takeOneOutOf(broker, deadLetterQueueName(queue)),
  ]);
  expect(run.code).toBe(1);
  expect(run.err).toBe('orders: 1 orders were dead-lettered, and 0 lie in the .dlq queue\n');
  expect(run.out).toContain('It does NOT add up');
  expect(broker.queues).toEqual([]);
});

test('orders that a lost connection delivers twice do not hide one that still waits', async () => {
  const broker = memoryBroker();
  // Enough orders that some are in hand when the first figures are shown; the last one is tried until long after.
  const input = orderLine().repeat(200) + orderLine({ fails: 3 });
  let shown = '';
  const write = (text: string): void => {
    const before = shown;
    shown += text;
    if (shown.includes('handled') && !before.includes('handled')) broker.dropLinks();
  };
  const run = await ran({ target: broker, out: { write } }, input);
  expect(run.code).toBe(1);
  expect(run.err).toMatch(/^orders: 201 orders were published, .* is counted twice\n$/);
  expect(figure(shown, 'retried')).toBeGreaterThanOrEqual(3);
  expect(broker.queues).toEqual([]);
});

test('an order taken from its rung is waited for, missed, and ends the program with 1', async () => {
  const broker = memoryBroker();
  const queue = 'orders-lost';
  const [run] = await Promise.all([
    ran({ target: broker, queue, patience: 500 }, orderLine({ fails: 2 }) + orderLine()),
    takeOneOutOf(broker, retryQueueName(queue, '400ms')),
  ]);
  expect(run.code).toBe(1);
  expect(run.err).toBe('orders: 2 orders were published, and 1 handled + 0 dead-lettered + 0 parked are 1\n');
  expect(figure(run.out, 'published')).toBe(2);
});
