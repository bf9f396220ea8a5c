import { connect } from '@acemq/amqp';
import { ConnectionClosedError, ConnectionLostError, topology } from '@acemq/core';
import { memoryBroker } from '@acemq/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { browse, type Progress, replay } from '../../src/replay/index.ts';
import { SILENT } from '../request/setting.ts';

async function setUp(count: number) {
  const broker = memoryBroker();
  const mq = await connect(broker, {
    logger: SILENT,
    reconnect: { initial: 1, max: 10 },
    confirmTimeout: '200ms',
  });
  onTestFinished(async () => {
    await mq.close({ timeout: 0 });
  });
  await mq.declare(topology().queue('orders', { deadLetter: true }));
  for (let index = 0; index < count; index += 1) {
    await mq.publisher({ routingKey: 'orders.dlq' }).send({}, { id: `m-${index}`, error: 'no' });
  }
  /** The ids of what is in a queue, read over a connection of its own. */
  const idsOf = async (queue: string): Promise<string[]> => {
    const other = await connect(broker, { logger: SILENT });
    const ids: string[] = [];
    for (let one = await other.pull(queue); one !== undefined; one = await other.pull(queue)) {
      ids.push(one.messageId ?? '');
    }
    await other.close();
    return ids;
  };
  const numbered = Array.from({ length: count }, (_, index) => `m-${index}`);
  return { broker, mq, idsOf, numbered };
}

describe('a replay whose links are lost', () => {
  it.each(['consume', 'publish', 'both'] as const)(
    '(%s) goes on when they are back: nothing is lost, and what is there twice has one id',
    async (link) => {
      const { broker, mq, idsOf, numbered } = await setUp(60);
      let seen = 0;
      const report = await replay(mq, 'orders.dlq', {
        window: 5,
        only: ({ envelope }) => {
          seen += 1;
          if (seen % 17 === 0)
            broker.dropLinks(link === 'both' ? {} : { name: (name) => name.endsWith(link) });
          return envelope.id !== 'm-20';
        },
      });
      expect(report).toMatchObject({ skipped: 1, reason: 'drained' });
      const moved = await idsOf('orders');
      const left = await idsOf('orders.dlq');
      expect(left).toEqual(['m-20']);
      expect([...new Set([...moved, ...left])].sort()).toEqual([...numbered].sort());
      expect(moved.length).toBeLessThanOrEqual(60 + 5 * 4);
    },
  );

  it('counts again what it held, and not twice', async () => {
    const { broker, mq, idsOf, numbered } = await setUp(20);
    let seen = 0;
    const report = await replay(mq, 'orders.dlq', {
      dryRun: true,
      only: () => {
        seen += 1;
        if (seen === 15) broker.dropLinks({});
        return seen % 2 === 0;
      },
    });
    expect(report.moved + report.skipped).toBe(20);
    expect(await idsOf('orders.dlq')).toEqual(numbered);
  });

  it('waits while publishing is blocked, says so, and goes on after it', async () => {
    const { broker, mq, idsOf, numbered } = await setUp(3);
    broker.block('low on memory');
    await mq
      .publisher({ routingKey: 'orders' })
      .send({})
      .catch(() => {});
    const waiting: string[] = [];
    const report = await replay(mq, 'orders.dlq', {
      window: 1,
      onProgress: (progress: Progress) => {
        if (progress.waiting === undefined) return;
        waiting.push(progress.waiting);
        broker.unblock();
      },
    });
    expect(waiting[0]).toContain('low on memory');
    expect(report).toMatchObject({ moved: 3, reason: 'drained' });
    expect((await idsOf('orders')).filter((id) => id.startsWith('m-'))).toEqual(numbered);
  });

  it('ends in an alarm when its time is over, with everything in its queue', async () => {
    const { broker, mq, idsOf, numbered } = await setUp(3);
    broker.block('low on disk');
    await mq
      .publisher({ routingKey: 'orders' })
      .send({})
      .catch(() => {});
    expect(await replay(mq, 'orders.dlq', { timeout: '300ms' })).toMatchObject({
      moved: 0,
      reason: 'deadline',
    });
    expect(await idsOf('orders.dlq')).toEqual(numbered);
  });

  it('is told when its connection is closed', async () => {
    const { mq, broker } = await setUp(10);
    broker.block();
    await mq
      .publisher({ routingKey: 'orders' })
      .send({})
      .catch(() => {});
    const running = replay(mq, 'orders.dlq');
    const ended = expect(running).rejects.toBeInstanceOf(ConnectionClosedError);
    await mq.close({ timeout: 0 });
    await ended;
  });
});

it('a look whose link is lost says that the messages are in their queue again', async () => {
  const { broker, mq, idsOf, numbered } = await setUp(10);
  let seen = 0;
  const looking = browse(mq, 'orders.dlq', () => {
    seen += 1;
    if (seen === 5) broker.dropLinks({});
  });
  await expect(looking).rejects.toBeInstanceOf(ConnectionLostError);
  await expect(looking).rejects.toThrow('its messages are in the queue again');
  expect(await idsOf('orders.dlq')).toEqual(numbered);
});
