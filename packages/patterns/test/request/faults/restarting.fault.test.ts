import { setTimeout as sleep } from 'node:timers/promises';
import { fixed, topology } from '@acemq/core';
import { expect, test, vi } from 'vitest';
import { Requester, respond } from '../../../src/request/index.ts';
import { PATIENCE, serviceOn, useNode } from '../../pipeline/faults/on-node.ts';

const node = useNode();

/** Minutes, where two busy cores start a broker. */
const LONG = 120_000;

test.each([
  ['of its own', undefined, 'stopped'],
  ['of its own', undefined, 'killed'],
  ['with a name', 'answers', 'stopped'],
  ['with a name', 'answers', 'killed'],
] as const)(
  'asks on a reply queue %s (%s) outlive a broker that is %s and started: what is answered after it arrives',
  async (_what, replyQueue, how) => {
    const { mq } = await serviceOn(node());
    await mq.declare(topology().queue('sums'));
    const requester = await Requester.open<number, number>(mq, {
      routingKey: 'sums',
      replyQueue,
      timeout: '100s',
    });
    const name = requester.replyQueue;
    // A quorum queue is on disk half a second after it was declared.
    await sleep(1_000);
    const asked = Array.from({ length: 50 }, (_, number) => requester.ask(number));
    await vi.waitFor(async () => {
      expect(await mq.messageCount('sums')).toBe(50);
      expect(mq.outstanding).toBe(0);
    }, PATIENCE);
    await node()[how === 'stopped' ? 'stop' : 'kill']();
    expect(requester.outstanding).toBe(50);
    await node().start();
    await vi.waitFor(() => expect(mq.state).toBe('connected'), PATIENCE);
    const { mq: elsewhere } = await serviceOn(node());
    await using responder = await respond<number, number>(elsewhere, 'sums', ({ payload }) => 2 * payload);
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 50 }, (_, number) => 2 * number));
    expect(requester).toMatchObject({ answered: 50, timedOut: 0, failed: 0, replyQueue: name });
    expect(responder.answered).toBeGreaterThanOrEqual(50);
    expect(await requester.ask(7)).toBe(14);
    await requester.close();
  },
  LONG,
);

test(
  'replies that wait in a queue with a name when the broker stops come in after it',
  async () => {
    const { mq } = await serviceOn(node());
    await mq.declare(topology().queue('sums'));
    const requester = await Requester.open<number, number>(mq, {
      routingKey: 'sums',
      replyQueue: 'answers',
      timeout: '100s',
    });
    await using _responder = await respond<number, number>(mq, 'sums', ({ payload }) => 2 * payload, {
      retry: fixed(1_000, '50ms'),
    });
    expect(await requester.ask(1)).toBe(2);
    await sleep(1_000);
    const outcomes = Promise.allSettled(Array.from({ length: 200 }, (_, number) => requester.ask(number)));
    await vi.waitFor(() => expect(requester.answered).toBeGreaterThan(1), PATIENCE);
    await node().stop();
    await node().start();
    let lost = 0;
    for (const [number, outcome] of (await outcomes).entries()) {
      if (outcome.status === 'fulfilled') expect(outcome.value).toBe(2 * number);
      // Written when the broker went, and not confirmed.
      else {
        expect(outcome.reason).toMatchObject({ code: 'ACEMQ_PUBLISH_LOST', mayHaveArrived: true });
        lost += 1;
      }
    }
    expect(requester).toMatchObject({ answered: 201 - lost, failed: lost, timedOut: 0, outstanding: 0 });
    await requester.close();
  },
  LONG,
);

test(
  'while the broker blocks publishing, an ask is refused at once; those before it are answered when it no longer does',
  async () => {
    const { mq } = await serviceOn(node());
    await mq.declare(topology().queue('sums', { type: 'classic' }));
    await using requester = await Requester.open<number, number>(mq, { routingKey: 'sums', timeout: '90s' });
    const early = requester.ask(1);
    await vi.waitFor(async () => expect(await mq.messageCount('sums')).toBe(1), PATIENCE);
    await node().alarm('memory');
    // The broker says so to whoever publishes; it reads this one when the alarm is over.
    const held = requester.ask(2);
    await vi.waitFor(() => expect(mq.blocked).toBe(true), PATIENCE);
    const began = performance.now();
    await expect(requester.ask(3)).rejects.toMatchObject({ code: 'ACEMQ_PUBLISHING_PAUSED' });
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(requester).toMatchObject({ failed: 1, outstanding: 2 });
    // Its replies are refused as well, and its requests tried again here.
    await using responder = await respond<number, number>(mq, 'sums', ({ payload }) => 2 * payload, {
      retry: fixed(1_000, '50ms'),
    });
    await sleep(500);
    expect(responder.answered).toBe(0);
    await node().clearAlarms();
    expect(await Promise.all([early, held])).toEqual([2, 4]);
    expect(await requester.ask(4)).toBe(8);
  },
  LONG,
);
