import { accept, type Message, topology } from '@acemq/core';
import { describe, expect, test, vi } from 'vitest';
import { deferred } from '../setting.ts';
import {
  consumersOn,
  linkOf,
  loseAndRecover,
  PATIENCE,
  proxyTo,
  queueName,
  serviceOn,
  useNode,
} from './on-node.ts';

const node = useNode();

describe('a consumer that the broker cancels', () => {
  test('says so in health, and reads again without a call when its queue is made again', async () => {
    const { mq, log } = await serviceOn(node().url);
    const other = await serviceOn(node().url, { name: 'other' });
    const [deleted, kept] = [queueName(), queueName()];
    await mq.declare(topology().queue(deleted).queue(kept));
    const handled: unknown[] = [];
    const handler = ({ payload }: Message) => {
      handled.push(payload);
      return accept();
    };
    const consumer = await mq.consume(deleted, handler, { tag: 'the-one', prefetch: 5 });
    await mq.consume(kept, handler);
    for (let round = 1; round <= 2; round += 1) {
      await other.mq.deleteQueue(deleted);
      await vi.waitFor(() => expect(consumer.running).toBe(false), PATIENCE);
      expect(consumer.stalled).toContain('cancelled');
      expect(await mq.health()).toMatchObject({
        status: 'degraded',
        detail: `these consumers have stopped reading: ${deleted}`,
      });
      await mq.publisher({ routingKey: kept }).send(`meanwhile ${round}`);
      await vi.waitFor(() => expect(handled).toContain(`meanwhile ${round}`), PATIENCE);
      await other.mq.declare(topology().queue(deleted));
      await other.mq.publisher({ routingKey: deleted }).send(`again ${round}`);
      await vi.waitFor(() => expect(handled).toContain(`again ${round}`), PATIENCE);
      expect((await mq.health()).status).toBe('up');
      expect(await consumersOn(node())).toEqual(
        expect.arrayContaining([{ queue: deleted, tag: 'the-one', prefetch: 5 }]),
      );
      expect(await consumersOn(node())).toHaveLength(2);
    }
    expect(mq.state).toBe('connected');
    expect(handled).toHaveLength(4);
    expect(log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('an acknowledgement on a channel that has gone', () => {
  test('is counted and otherwise nothing: the message comes again and the consumer goes on', async () => {
    const proxy = await proxyTo(node());
    const service = await serviceOn(proxy.url);
    const { mq, log, metrics } = service;
    const queue = queueName();
    await mq.declare(topology().queue(queue));
    const gate = deferred();
    const seen: boolean[] = [];
    const consumer = await mq.consume(queue, async ({ redelivered }) => {
      seen.push(redelivered);
      if (seen.length === 1) await gate.promise;
      return accept();
    });
    await mq.publisher({ routingKey: queue }).send('once');
    await vi.waitFor(() => expect(seen).toEqual([false]), PATIENCE);
    const link = await linkOf(proxy, 'consume');
    await loseAndRecover(service, () => link.cut(), ['consume']);
    expect(consumer.running).toBe(true);
    expect(consumer.lateSettlements).toBe(0);
    gate.resolve();
    await vi.waitFor(() => expect(seen).toEqual([false, true]), PATIENCE);
    await vi.waitFor(() => expect(consumer.inFlight).toBe(0), PATIENCE);
    expect(consumer.lateSettlements).toBe(1);
    expect(await consumer.close()).toEqual({ finished: true, unsettled: 0 });
    expect(await mq.messageCount(queue)).toBe(0);
    expect(metrics.gauges.get(`acemq.consume.in.flight{queue="${queue}"}`)).toBe(0);
    expect(log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('the time-out of the broker for a delivery', () => {
  test('is reported and recovered from: the message comes again, to one consumer, and nobody else notices', async () => {
    const { mq, log, events } = await serviceOn(node().url);
    const [slow, quick] = [queueName(), queueName()];
    await mq.declare(topology().queue(slow).queue(quick));
    const gate = deferred();
    const seen: { id: string; redelivered: boolean }[] = [];
    const consumer = await mq.consume(
      slow,
      async ({ envelope, redelivered }) => {
        seen.push({ id: envelope.id, redelivered });
        if (seen.length === 1) await gate.promise;
        return accept();
      },
      { tag: 'slow-one' },
    );
    const neighbour = await mq.consume(quick, () => accept());
    const { id } = await mq.publisher({ routingKey: slow }).send('takes too long');
    await vi.waitFor(() => expect(consumer.stalled).toContain('delivery acknowledgement'), PATIENCE);
    expect(await mq.health()).toMatchObject({
      status: 'degraded',
      detail: `these consumers have stopped reading: ${slow}`,
    });
    const [line] = log.filter(({ level }) => level === 'warn');
    expect(line).toMatchObject({
      message: 'a consumer has stopped reading and will subscribe again',
      details: { queue: slow, reason: expect.stringContaining('406') },
    });
    expect(neighbour.running).toBe(true);
    await vi.waitFor(() => expect(consumer.running).toBe(true), PATIENCE);
    gate.resolve();
    await vi.waitFor(() => expect(seen).toHaveLength(2), PATIENCE);
    expect(seen).toEqual([
      { id, redelivered: false },
      { id, redelivered: true },
    ]);
    expect(consumer.lateSettlements).toBe(1);
    expect(await consumersOn(node())).toEqual(
      expect.arrayContaining([{ queue: slow, tag: 'slow-one', prefetch: 20 }]),
    );
    expect(await consumersOn(node())).toHaveLength(2);
    expect(events).toEqual([]);
    expect((await mq.health()).status).toBe('up');
    await vi.waitFor(() => expect(consumer.inFlight).toBe(0), PATIENCE);
    await consumer.close();
    expect(await mq.messageCount(slow)).toBe(0);
  });
});
