import { accept, topology } from '@acemq/core';
import { describe, expect, test, vi } from 'vitest';
import { linkOf, PATIENCE, proxyTo, queueName, serviceOn, useNode } from './on-node.ts';

const node = useNode();

test('it is not up while a consumer does not read, and is again when it does', async () => {
  const { mq } = await serviceOn(node().url);
  const queue = queueName();
  await mq.declare(topology().queue(queue));
  const consumer = await mq.consume(queue, () => accept());
  expect(await mq.health()).toMatchObject({ status: 'up', detail: '' });
  await mq.deleteQueue(queue);
  await vi.waitFor(() => expect(consumer.running).toBe(false), PATIENCE);
  expect(await mq.health()).toMatchObject({
    status: 'degraded',
    detail: `these consumers have stopped reading: ${queue}`,
    parts: { stalled: [queue] },
  });
  await mq.declare(topology().queue(queue));
  await vi.waitFor(() => expect(consumer.running).toBe(true), PATIENCE);
  expect((await mq.health()).status).toBe('up');
});

test('a consumer that was closed on purpose is nothing to report', async () => {
  const { mq } = await serviceOn(node().url);
  const queue = queueName();
  await mq.declare(topology().queue(queue));
  await (await mq.consume(queue, () => accept())).close();
  await mq.deleteQueue(queue);
  expect(await mq.health()).toMatchObject({ status: 'up', detail: '' });
});

test('it is up, with the reason, while the broker blocks publishing', async () => {
  const { mq } = await serviceOn(node().url);
  const queue = queueName();
  await mq.declare(topology().queue(queue));
  await node().alarm('memory');
  const sent = mq.publisher({ routingKey: queue }).send('into the alarm');
  await vi.waitFor(() => expect(mq.blocked).toBe(true), PATIENCE);
  expect(await mq.health()).toMatchObject({
    status: 'up',
    detail: expect.stringMatching(/^the broker has blocked this connection; publishing is paused: .*memory/),
    parts: { blocked: true, 'blocked-reason': expect.stringContaining('memory') },
  });
  await node().clearAlarms();
  await sent;
  expect(await mq.health()).toMatchObject({ status: 'up', detail: '', parts: { blocked: false } });
});

describe('on a link that is frozen', () => {
  test.each([['publish'], ['consume']] as const)(
    'it is down within its deadline when the %s link says nothing, and up when that speaks again',
    async (role) => {
      const proxy = await proxyTo(node());
      const { mq } = await serviceOn(proxy.url);
      const link = await linkOf(proxy, role);
      link.freeze();
      const started = performance.now();
      const report = await mq.health({ timeout: 500 });
      expect(performance.now() - started).toBeGreaterThanOrEqual(490);
      expect(performance.now() - started).toBeLessThan(1_500);
      expect(report).toMatchObject({ status: 'down', detail: 'the broker did not answer within 0.5s' });
      link.thaw();
      await vi.waitFor(async () => expect((await mq.health({ timeout: 500 })).status).toBe('up'), PATIENCE);
    },
  );

  test('it is down while a missed heartbeat has ended it and none has taken its place, and says why', async () => {
    const proxy = await proxyTo(node());
    const { mq } = await serviceOn(proxy.url, { heartbeat: 1_000 });
    proxy.refuse();
    proxy.freeze();
    await vi.waitFor(() => expect(mq.state).toBe('retrying'), PATIENCE);
    expect(await mq.health()).toMatchObject({
      status: 'down',
      detail: expect.stringContaining('retrying'),
      parts: { state: 'retrying' },
    });
    proxy.thaw();
    await proxy.accept();
    await vi.waitFor(async () => expect((await mq.health()).status).toBe('up'), PATIENCE);
  });
});

test('it is down once the connection is closed', async () => {
  const { mq } = await serviceOn(node().url);
  await mq.close();
  expect(await mq.health()).toMatchObject({ status: 'down', detail: 'the connection has been closed' });
});
