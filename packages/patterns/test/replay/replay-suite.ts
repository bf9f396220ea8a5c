import { randomUUID } from 'node:crypto';
import type { Connection } from '@acemq/amqp';
import {
  accept,
  BrokerRefusedError,
  ConfigurationError,
  type Delivery,
  fixed,
  ReplayError,
  reject,
  topology,
} from '@acemq/core';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { browse, type Letter, type Progress, purge, replay } from '../../src/replay/index.ts';

/** What a replay promises on any broker. */
export function replaySuite(open: () => Promise<Connection>): void {
  let mq: Connection;
  let queue: string;
  let dlq: string;

  beforeEach(async () => {
    mq = await open();
    queue = `replay-${randomUUID().slice(0, 8)}`;
    dlq = `${queue}.dlq`;
    await mq.declare(topology().queue(queue, { retry: fixed(2, '1h') }));
    onTestFinished(async () => {
      for (const suffix of ['', '.dlq', '.parked', '.retry.1h']) await mq.deleteQueue(queue + suffix);
      await mq.close();
    });
  });

  /** Dead letters as a consumer of this library leaves them. */
  async function fill(count: number, more: (index: number) => object = () => ({})): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      await mq.publisher({ routingKey: dlq }).send(
        { index },
        {
          id: `m-${index}`,
          type: 'order.placed',
          attempt: 5,
          error: `Error: bug ${index % 3}`,
          ...more(index),
        },
      );
    }
  }

  async function idsOf(name: string): Promise<string[]> {
    const ids: string[] = [];
    const deliveries: Delivery[] = [];
    for (;;) {
      const delivery = await mq.pull(name);
      if (delivery === undefined) break;
      deliveries.push(delivery);
      ids.push(delivery.messageId ?? '');
    }
    for (const delivery of deliveries) delivery.nack(true);
    await vi.waitFor(async () => expect(await mq.messageCount(name)).toBe(ids.length), 5000);
    return ids;
  }

  const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `m-${index}`);

  describe('replay', () => {
    it('moves all back to their queue, from the first attempt on, with their bytes and identity', async () => {
      await mq.publishRaw('', dlq, {
        body: new TextEncoder().encode('{"a":  1}'),
        contentType: 'application/vnd.shop+json',
        messageId: 'm-raw',
        replyTo: 'answers',
        timestamp: 1_700_000_000,
        headers: {
          'x-acemq-id': 'm-raw',
          'x-acemq-type': 'order.placed',
          'x-acemq-version': 3,
          'x-acemq-correlation': 'c-1',
          'x-acemq-causation': 'b-1',
          'x-acemq-attempt': 5,
          'x-acemq-first-seen': 1_699_999_999_999n,
          'x-acemq-error': 'Error: no',
          'x-acemq-later': 'kept',
          'x-death': 'not this',
          CC: ['nor-this'],
          tenant: 'a',
        },
        expiration: '3600000',
      });
      const report = await replay(mq, dlq);
      expect(report).toEqual({
        moved: 1,
        skipped: 0,
        cameBack: 0,
        reason: 'drained',
        kind: 'classic',
        dryRun: false,
      });
      const delivery = (await mq.pull(queue)) as Delivery;
      expect(new TextDecoder().decode(delivery.body)).toBe('{"a":  1}');
      expect(delivery).toMatchObject({
        contentType: 'application/vnd.shop+json',
        messageId: 'm-raw',
        replyTo: 'answers',
        timestamp: 1_700_000_000,
        expiration: undefined,
      });
      const { headers } = delivery;
      expect(headers).toMatchObject({
        'x-acemq-id': 'm-raw',
        'x-acemq-version': 3,
        'x-acemq-correlation': 'c-1',
        'x-acemq-causation': 'b-1',
        'x-acemq-attempt': 1,
        'x-acemq-later': 'kept',
        tenant: 'a',
        'acemq-replayed-from': dlq,
        'acemq-replayed-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        'acemq-replay-count': 1,
      });
      expect(Number(headers['x-acemq-first-seen'])).toBe(1_699_999_999_999);
      for (const name of ['x-acemq-error', 'x-death', 'CC']) expect(Object.hasOwn(headers, name)).toBe(false);
      delivery.ack();
      expect(await mq.messageCount(dlq)).toBe(0);
    });

    it('keeps the order, at any window', async () => {
      for (const window of [1, 7, 100]) {
        await fill(40);
        expect((await replay(mq, dlq, { window })).moved).toBe(40);
        expect(await idsOf(queue)).toEqual(numbered(40));
        await purge(mq, queue);
      }
    });

    it('moves those that match, and puts the others back in their order', async () => {
      await fill(30);
      const report = await replay(mq, dlq, { only: ({ reason }) => reason === 'Error: bug 1' });
      expect(report).toMatchObject({ moved: 10, skipped: 20, reason: 'drained' });
      expect(await idsOf(dlq)).toEqual(numbered(30).filter((_, index) => index % 3 !== 1));
      expect(await idsOf(queue)).toEqual(numbered(30).filter((_, index) => index % 3 === 1));
    });

    it('ends at its limit, and one after it goes on where it stopped', async () => {
      await fill(12);
      expect(await replay(mq, dlq, { limit: 5 })).toMatchObject({ moved: 5, reason: 'limit' });
      expect(await idsOf(dlq)).toEqual(numbered(12).slice(5));
      expect(await replay(mq, dlq)).toMatchObject({ moved: 7, reason: 'drained' });
      expect(await idsOf(queue)).toEqual(numbered(12));
    });

    it('moves nothing in a dry run, says what it would, and leaves the order', async () => {
      await fill(9);
      const report = await replay(mq, dlq, { dryRun: true, only: ({ envelope }) => envelope.id !== 'm-4' });
      expect(report).toMatchObject({ moved: 8, skipped: 1, reason: 'drained', dryRun: true });
      expect(await idsOf(dlq)).toEqual(numbered(9));
      expect(await mq.messageCount(queue)).toBe(0);
    });

    it('leaves evenly at a rate', async () => {
      await fill(6);
      const begun = performance.now();
      await replay(mq, dlq, { rate: 20 });
      // Five waits of 50 ms lie between six messages.
      expect(performance.now() - begun).toBeGreaterThan(230);
    });

    it('ends when its time is over or its signal is aborted, with what was moved', async () => {
      await fill(20);
      expect(await replay(mq, dlq, { rate: 10, timeout: '250ms', window: 1 })).toMatchObject({
        reason: 'deadline',
      });
      const controller = new AbortController();
      const running = replay(mq, dlq, {
        signal: controller.signal,
        onProgress: ({ taken }) => {
          if (taken >= 1) controller.abort();
        },
        rate: 10,
        window: 1,
      });
      const report = await running;
      expect(report.reason).toBe('aborted');
      const left = await idsOf(dlq);
      const moved = await idsOf(queue);
      expect([...moved, ...left]).toEqual(numbered(20));
      expect(moved.length).toBeGreaterThanOrEqual(2);
    });

    it('ends although a consumer still fails: what came back is left', { timeout: 20_000 }, async () => {
      await fill(25);
      let handled = 0;
      const consumer = await mq.consume(queue, () => {
        handled += 1;
        return reject(new Error('still broken'));
      });
      // Slowly enough for the first to be back before the last has left.
      const report = await replay(mq, dlq, { rate: 200 });
      expect(report).toMatchObject({ moved: 25, reason: 'drained' });
      expect(report.cameBack).toBeGreaterThan(0);
      await vi.waitFor(async () => expect(await mq.messageCount(dlq)).toBe(25), 5000);
      expect(handled).toBe(25);
      await consumer.close();
    });

    it('goes to another queue, and to an exchange with each message’s own key', async () => {
      const other = `${queue}-other`;
      const exchange = `${queue}-events`;
      await mq.declare(topology().queue(other).exchange(exchange, 'topic').bind(other, exchange, '*.placed'));
      onTestFinished(async () => {
        await mq.deleteQueue(other);
        await mq.deleteExchange(exchange);
      });
      await fill(2);
      await replay(mq, dlq, { to: other });
      expect(await idsOf(other)).toEqual(numbered(2));
      await replay(mq, other, { to: { exchange, routingKey: 'order.placed' } });
      expect(await idsOf(other)).toEqual(numbered(2));
    });

    it('stops at a message that is not taken, which stays with all after it, and says which and why', async () => {
      await fill(8);
      const failed = replay(mq, dlq, {
        window: 1,
        only: async ({ envelope }) => {
          if (envelope.id === 'm-3') await mq.deleteQueue(queue);
          return true;
        },
      });
      const error = (await failed.catch((reason: unknown) => reason)) as ReplayError;
      expect(error).toBeInstanceOf(ReplayError);
      expect(error).toMatchObject({ code: 'ACEMQ_REPLAY', moved: 3, messageId: 'm-3', retryable: false });
      expect(error.message).toContain(`message "m-3" was not taken by queue "${queue}"`);
      expect(error.message).toMatch(/NO_ROUTE/);
      expect(await idsOf(dlq)).toEqual(numbered(8).slice(3));
    });

    it('puts all back where the filter throws', async () => {
      await fill(5);
      const broken = new Error('no such order');
      const failing = replay(mq, dlq, {
        dryRun: true,
        only: ({ envelope }) => {
          if (envelope.id === 'm-2') throw broken;
          return true;
        },
      });
      await expect(failing).rejects.toBe(broken);
      expect(await idsOf(dlq)).toEqual(numbered(5));
    });

    it('moves what has no header, junk for headers, or no body at all', async () => {
      const bodies = [new Uint8Array(0), new Uint8Array(200_000).fill(7)];
      await mq.publishRaw('', dlq, { body: bodies[0] as Uint8Array, messageId: 'bare' });
      await mq.publishRaw('', dlq, {
        body: bodies[1] as Uint8Array,
        messageId: 'junk',
        headers: { 'x-acemq-attempt': 'many', 'x-acemq-first-seen': { a: 1 }, 'acemq-replay-count': [1] },
      });
      const seen: Letter[] = [];
      await browse(mq, dlq, (letter) => void seen.push(letter));
      expect(seen.map(({ reason, attempts }) => [reason, attempts])).toEqual([
        [undefined, 1],
        [undefined, 1],
      ]);
      expect(await replay(mq, dlq)).toMatchObject({ moved: 2 });
      for (const [index, id] of ['bare', 'junk'].entries()) {
        const delivery = (await mq.pull(queue)) as Delivery;
        expect(delivery.messageId).toBe(id);
        expect(Buffer.compare(delivery.body, bodies[index] as Uint8Array)).toBe(0);
        delivery.ack();
      }
    });

    it('moves one whose id is too long for the property, which no message of this library has', async () => {
      const id = 'x'.repeat(300);
      await mq.publishRaw('', dlq, { body: new Uint8Array(0), messageId: '', headers: { 'x-acemq-id': id } });
      expect(await replay(mq, dlq)).toMatchObject({ moved: 1 });
      const delivery = (await mq.pull(queue)) as Delivery;
      expect(delivery.headers).toMatchObject({ 'x-acemq-id': id });
      delivery.ack();
    });

    it('by two at once moves every message once', async () => {
      await fill(60);
      const reports = await Promise.all([replay(mq, dlq), replay(mq, dlq)]);
      expect(reports.reduce((sum, { moved }) => sum + moved, 0)).toBe(60);
      expect((await idsOf(queue)).sort()).toEqual(numbered(60).sort());
    });

    it('says which queue is not there, before anything is done', async () => {
      await expect(replay(mq, `${queue}-none.dlq`)).rejects.toBeInstanceOf(BrokerRefusedError);
      await expect(replay(mq, `${queue}-none.dlq`)).rejects.toThrow(`no queue '${queue}-none.dlq'`);
    });

    it.each([
      [{ limit: 0 }, 'limit must be a whole number of at least 1, and is 0'],
      [{ window: 1001 }, 'window must be a whole number from 1 to 1000, and is 1001'],
      [{ rate: 0 }, 'rate must be a number of messages a second above 0, and is 0'],
      [{ rate: Number.NaN }, 'NaN'],
      [{ only: 'all' }, 'only must be a function, and is "all"'],
      [{ timeout: 'soon' }, '"soon"'],
      [{ dryRun: 'yes' }, 'dryRun must be true or false, and is "yes"'],
      [{ dryrun: true }, '"dryrun"'],
      [{ signal: {} }, 'signal must be an AbortSignal'],
    ])('refuses %j', async (options, words) => {
      await fill(1);
      const refused = replay(mq, dlq, options as never);
      await expect(refused).rejects.toBeInstanceOf(ConfigurationError);
      await expect(refused).rejects.toThrow(words);
      expect(await mq.messageCount(dlq)).toBe(1);
    });
  });

  describe('browse', () => {
    it('shows what an operator asks first, and leaves all in its place', async () => {
      await fill(4, (index) => ({ firstSeen: Date.now() - 60_000 * (index + 1) }));
      const seen: Letter[] = [];
      const report = await browse(mq, dlq, (letter) => void seen.push(letter));
      expect(report).toEqual({ visited: 4, skipped: 0, reason: 'drained', kind: 'classic' });
      expect(seen.map(({ envelope, reason, attempts }) => [envelope.id, reason, attempts])).toEqual(
        numbered(4).map((id, index) => [id, `Error: bug ${index % 3}`, 5]),
      );
      expect(seen[1]?.age).toBeGreaterThanOrEqual(120_000);
      expect(seen[1]?.age).toBeLessThan(180_000);
      expect(await idsOf(dlq)).toEqual(numbered(4));
    });

    it('stops at its limit, and says that a quorum queue pays for the look', async () => {
      const quorum = `${queue}-quorum`;
      await mq.declare(topology().queue(quorum, { type: 'quorum' }));
      onTestFinished(async () => {
        await mq.deleteQueue(quorum);
      });
      for (const id of numbered(5)) await mq.publisher({ routingKey: quorum }).send({}, { id });
      const seen: Letter[] = [];
      const report = await browse(mq, quorum, (letter) => void seen.push(letter), { limit: 3 });
      expect(report).toMatchObject({ visited: 3, reason: 'limit', kind: 'quorum' });
      expect(seen).toHaveLength(3);
      // A quorum queue takes them back in its own time.
      await vi.waitFor(async () => expect(await mq.messageCount(quorum)).toBe(5), 5000);
    });
  });

  describe('purge', () => {
    it('removes all, or what matches, and keeps the rest in its order', async () => {
      await fill(10);
      expect(await purge(mq, dlq, { only: ({ reason }) => reason === 'Error: bug 0' })).toMatchObject({
        removed: 4,
        skipped: 6,
      });
      expect(await idsOf(dlq)).toEqual(numbered(10).filter((_, index) => index % 3 !== 0));
      expect(await purge(mq, dlq)).toMatchObject({ removed: 6, skipped: 0 });
      expect(await mq.messageCount(dlq)).toBe(0);
    });
  });

  it('progress is told with the total, and at the end', async () => {
    await fill(15);
    const told: Progress[] = [];
    await replay(mq, dlq, {
      onProgress: (progress) => void told.push(progress),
      only: ({ envelope }) => envelope.id !== 'm-7',
    });
    expect(told.at(-1)).toEqual({ taken: 14, skipped: 1, cameBack: 0, total: 15, waiting: undefined });
  });

  it('what a replayed message’s handler sees is attempt 1, and where it came from', async () => {
    await fill(1);
    await replay(mq, dlq);
    const seen = new Promise<unknown[]>((resolve) => {
      void mq.consume(queue, ({ envelope }) => {
        resolve([envelope.attempt, envelope.error, envelope.headers['acemq-replayed-from'], envelope.id]);
        return accept();
      });
    });
    expect(await seen).toEqual([1, undefined, dlq, 'm-0']);
  });
}
