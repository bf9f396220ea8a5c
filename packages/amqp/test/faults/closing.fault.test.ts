import { accept, fixed, reject, retry, topology } from '@acemq/core';
import { describe, expect, test, vi } from 'vitest';
import type { Connection } from '../../src/index.ts';
import { deferred } from '../setting.ts';
import { depthOf, openOn, PATIENCE, proxyTo, queueName, serviceOn, useNode } from './on-node.ts';

const node = useNode();

/**
 * The deadline of a close here, and what it may take: half a second more for the goodbyes, some for a busy machine, and
 * less than anything else that would end it.
 */
const TIMEOUT = 700;
const AT_MOST = 2_000;

/** How a close went, and how long it took. */
async function closing<T>(close: () => Promise<T>): Promise<T & { readonly took: number }> {
  const started = performance.now();
  const report = await close();
  return { ...report, took: performance.now() - started };
}

/** Nothing of it is left at the broker. */
async function expectGone(connections = 0): Promise<void> {
  await vi.waitFor(async () => expect((await openOn(node())).connections).toBe(connections), PATIENCE);
}

const NEVER = new Promise<never>(() => {});

/** A queue whose handler never ends, with one message in it. */
async function straggling(mq: Connection, queue: string): Promise<{ id: string; aborted: () => boolean }> {
  await mq.declare(topology().queue(queue, { type: 'classic' }));
  let signal: AbortSignal | undefined;
  await mq.consume(queue, (message) => {
    signal = message.signal;
    return NEVER;
  });
  const { id } = await mq.publisher({ routingKey: queue }).send('x');
  await vi.waitFor(() => expect(signal).toBeDefined(), PATIENCE);
  return { id, aborted: () => signal?.aborted === true };
}

describe('a handler that never ends', () => {
  test.each([['the connection'], ['the consumer']])(
    'does not keep the close of %s past its deadline, and its message comes to the next consumer',
    async (what) => {
      const { mq } = await serviceOn(node().url);
      const other = await serviceOn(node().url, { name: 'other' });
      const queue = queueName();
      const { id, aborted } = await straggling(mq, queue);
      const owner = what === 'the connection' ? mq : mq.consumers[0];
      if (owner === undefined) throw new Error('there is no consumer');
      const report = await closing(() => owner.close({ timeout: TIMEOUT }));
      expect(report).toMatchObject({ finished: false, unsettled: 1 });
      expect(report.took).toBeGreaterThanOrEqual(TIMEOUT - 10);
      expect(report.took).toBeLessThan(AT_MOST);
      expect(aborted()).toBe(true);
      const seen: { id: string; redelivered: boolean }[] = [];
      await other.mq.consume(queue, ({ envelope, redelivered }) => {
        seen.push({ id: envelope.id, redelivered });
        return accept();
      });
      await vi.waitFor(() => expect(seen).toEqual([{ id, redelivered: true }]), PATIENCE);
      await vi.waitFor(
        async () => expect(await depthOf(node(), queue)).toEqual({ ready: 0, unsettled: 0 }),
        PATIENCE,
      );
    },
  );
});

describe('a close ends by its deadline', () => {
  test('while the connection waits for its next attempt', async () => {
    const proxy = await proxyTo(node());
    const { mq } = await serviceOn(proxy.url, { reconnect: { initial: 60_000, max: 60_000 } });
    proxy.refuse();
    proxy.cut();
    await vi.waitFor(() => expect(mq.state).toBe('retrying'), PATIENCE);
    const sent = mq.publisher({ routingKey: 'x' }).send('waits for a link');
    sent.catch(() => {});
    const report = await closing(() => mq.close({ timeout: TIMEOUT }));
    expect(report).toMatchObject({ finished: false, unsettled: 0, unconfirmed: 1 });
    expect(report.took).toBeLessThan(AT_MOST);
    await expect(sent).rejects.toMatchObject({ code: 'ACEMQ_CONNECTION_CLOSED' });
    expect(mq.state).toBe('closed');
    await expectGone();
  });

  test('while it connects again to a host that says nothing', async () => {
    const proxy = await proxyTo(node());
    const { mq } = await serviceOn(proxy.url);
    const before = proxy.accepted;
    proxy.onConnection((connection) => connection.freeze());
    proxy.cut();
    await vi.waitFor(() => expect(proxy.accepted).toBe(before + 2), PATIENCE);
    const asked = mq.queueExists('anything');
    asked.catch(() => {});
    const report = await closing(() => mq.close({ timeout: TIMEOUT }));
    expect(report).toMatchObject({ finished: true, unsettled: 0, unconfirmed: 0 });
    expect(report.took).toBeLessThan(AT_MOST);
    await expect(asked).rejects.toMatchObject({ code: 'ACEMQ_CONNECTION_CLOSED' });
  });

  test('while its consumers are being restored over a link that freezes', async () => {
    const proxy = await proxyTo(node());
    const { mq } = await serviceOn(proxy.url);
    const queue = queueName();
    await mq.declare(topology().queue(queue));
    const consumer = await mq.consume(queue, () => accept());
    proxy.onNamed((connection) => {
      if (connection.name?.endsWith('consume') !== true) return;
      const look = setInterval(() => {
        // The handshake takes 4 frames of the client; what follows declares and subscribes.
        if (connection.frames.toBroker < 6) return;
        clearInterval(look);
        connection.freeze();
      }, 1);
    });
    proxy.delay(20);
    proxy.cut();
    await vi.waitFor(() => expect(mq.state).toBe('restoring'), PATIENCE);
    const report = await closing(() => mq.close({ timeout: TIMEOUT }));
    expect(report).toMatchObject({ finished: true, unsettled: 0, unconfirmed: 0 });
    expect(report.took).toBeLessThan(AT_MOST);
    expect(consumer.running).toBe(false);
    expect(mq.state).toBe('closed');
  });

  test('while it is blocked, and says what was not confirmed', async () => {
    const { mq } = await serviceOn(node().url);
    const queue = queueName();
    await mq.declare(topology().queue(queue));
    await node().alarm('memory');
    const sent = mq.publisher({ routingKey: queue }).send('into the alarm');
    sent.catch(() => {});
    await vi.waitFor(() => expect(mq.blocked).toBe(true), PATIENCE);
    const report = await closing(() => mq.close({ timeout: TIMEOUT }));
    expect(report).toMatchObject({ finished: false, unsettled: 0, unconfirmed: 1 });
    expect(report.took).toBeLessThan(AT_MOST);
    await expect(sent).rejects.toMatchObject({ mayHaveArrived: true });
  });

  test('while it is blocked with nothing outstanding', async () => {
    const { mq } = await serviceOn(node().url, { confirmTimeout: 300 });
    const queue = queueName();
    await mq.declare(topology().queue(queue));
    await mq.consume(queue, () => accept());
    await node().alarm('memory');
    await expect(mq.publisher({ routingKey: queue }).send('x')).rejects.toMatchObject({
      code: 'ACEMQ_PUBLISH_TIMEOUT',
    });
    expect(mq.blocked).toBe(true);
    const report = await closing(() => mq.close({ timeout: TIMEOUT }));
    expect(report).toMatchObject({ finished: true, unsettled: 0, unconfirmed: 0 });
    expect(report.took).toBeLessThan(AT_MOST);
  });

  test('while a copy is held, which stays with the broker', async () => {
    const { mq } = await serviceOn(node().url);
    const other = await serviceOn(node().url, { name: 'other' });
    const queue = queueName();
    await mq.declare(topology().queue(queue, { type: 'classic' }));
    const gate = deferred();
    const consumer = await mq.consume(queue, async () => {
      await gate.promise;
      return reject('bad');
    });
    const { id } = await mq.publisher({ routingKey: queue }).send('x');
    await vi.waitFor(() => expect(consumer.inFlight).toBe(1), PATIENCE);
    await node().alarm('disk');
    mq.publisher({ routingKey: queue })
      .send('into the alarm')
      .catch(() => {});
    await vi.waitFor(() => expect(mq.blocked).toBe(true), PATIENCE);
    gate.resolve();
    await vi.waitFor(() => expect(consumer.held).toBe(1), PATIENCE);
    const report = await closing(() => mq.close({ timeout: TIMEOUT }));
    expect(report).toMatchObject({ finished: false, unsettled: 1, unconfirmed: 1 });
    expect(report.took).toBeLessThan(AT_MOST);
    await node().clearAlarms();
    const seen: string[] = [];
    await other.mq.consume(queue, ({ envelope }) => {
      seen.push(envelope.id);
      return accept();
    });
    await vi.waitFor(() => expect(seen).toContain(id), PATIENCE);
  });

  test.each([['both links'], ['the consuming link'], ['the publishing link']])(
    'while %s is frozen, with a handler at work and a publish under way',
    async (which) => {
      const proxy = await proxyTo(node());
      const { mq } = await serviceOn(proxy.url);
      const queue = queueName();
      await straggling(mq, queue);
      for (const connection of proxy.connections) {
        const role =
          connection.name?.endsWith('publish') === true ? 'the publishing link' : 'the consuming link';
        if (which === 'both links' || which === role) connection.freeze();
      }
      const sent = mq.publisher({ routingKey: queue }).send('y');
      sent.catch(() => {});
      const report = await closing(() => mq.close({ timeout: TIMEOUT }));
      expect(report).toMatchObject({ finished: false, unsettled: 1 });
      expect(report.took).toBeLessThan(AT_MOST);
      expect(mq.state).toBe('closed');
      proxy.thaw();
      await expectGone();
    },
  );

  test('while it is frozen and idle', async () => {
    const proxy = await proxyTo(node());
    const { mq } = await serviceOn(proxy.url);
    const queue = queueName();
    await mq.declare(topology().queue(queue));
    await mq.consume(queue, () => accept());
    proxy.freeze();
    const report = await closing(() => mq.close({ timeout: TIMEOUT }));
    expect(report).toMatchObject({ unsettled: 0, unconfirmed: 0 });
    expect(report.took).toBeLessThan(AT_MOST);
  });

  test('in the middle of a retry that waits here, which goes back at once', async () => {
    const { mq } = await serviceOn(node().url);
    const queue = queueName();
    await mq.declare(topology().queue(queue, { type: 'classic' }));
    let failed = 0;
    await mq.consume(
      queue,
      () => {
        failed += 1;
        return retry(new Error('later'));
      },
      { retry: fixed(3, '20s') },
    );
    await mq.publisher({ routingKey: queue }).send('x');
    await vi.waitFor(() => expect(failed).toBe(1), PATIENCE);
    const report = await closing(() => mq.close({ timeout: 10_000 }));
    expect(report).toMatchObject({ finished: true, unsettled: 0, unconfirmed: 0 });
    expect(report.took).toBeLessThan(AT_MOST);
    await expectGone();
    await vi.waitFor(
      async () => expect(await depthOf(node(), queue)).toEqual({ ready: 1, unsettled: 0 }),
      PATIENCE,
    );
  });

  test('in the middle of a subscription that the broker does not answer', async () => {
    const proxy = await proxyTo(node());
    const { mq } = await serviceOn(proxy.url);
    const queue = queueName();
    await mq.declare(topology().queue(queue));
    proxy.freeze('toClient');
    const consuming = mq.consume(queue, () => accept());
    consuming.catch(() => {});
    const report = await closing(() => mq.close({ timeout: TIMEOUT }));
    expect(report).toMatchObject({ unsettled: 0, unconfirmed: 0 });
    expect(report.took).toBeLessThan(AT_MOST);
    await expect(consuming).rejects.toBeInstanceOf(Error);
  });

  test('twice, with one answer', async () => {
    const { mq } = await serviceOn(node().url);
    const queue = queueName();
    await straggling(mq, queue);
    const reports = await closing(() =>
      Promise.all([mq.close({ timeout: TIMEOUT }), mq.close({ timeout: 60_000 })]).then((both) => ({ both })),
    );
    expect(reports.both[0]).toEqual({ finished: false, unsettled: 1, unconfirmed: 0 });
    expect(reports.both[1]).toBe(reports.both[0]);
    expect(reports.took).toBeLessThan(AT_MOST);
    expect(await mq.close({ timeout: 60_000 })).toBe(reports.both[0]);
    await expectGone();
  });
});

test('a connection is not made when its attempt is aborted on the way', async () => {
  const proxy = await proxyTo(node());
  proxy.freeze();
  const giveUp = new AbortController();
  const connecting = serviceOn(proxy.url, { signal: giveUp.signal });
  connecting.catch(() => {});
  await vi.waitFor(() => expect(proxy.accepted).toBe(2), PATIENCE);
  const started = performance.now();
  giveUp.abort(new Error('no longer wanted'));
  await expect(connecting).rejects.toMatchObject({ code: 'ACEMQ_ABORTED' });
  expect(performance.now() - started).toBeLessThan(1_000);
});
