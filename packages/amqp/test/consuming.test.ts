import {
  accept,
  exponential,
  FatalError,
  fixed,
  inProgress,
  park,
  reject,
  retry,
  topology,
} from '@acemq/core';
import { describe, expect, test, vi } from 'vitest';
import { deferred, onManualTime, onMemory, type Setting } from './setting.ts';

async function withQueue(setting: Setting): Promise<void> {
  await setting.mq.declare(topology().queue(setting.queue));
}

function errorOn(setting: Setting, suffix: 'dlq' | 'parked'): unknown {
  return setting.broker.messages(`${setting.queue}.${suffix}`)[0]?.headers['x-acemq-error'];
}

describe('a consumer', () => {
  test('hands over the payload, the envelope and how the message came', async () => {
    const setting = await onMemory();
    const { mq, queue } = setting;
    await mq.declare(topology().exchange('shop', 'topic').queue(queue).bind(queue, 'shop', 'order.*'));
    const seen = deferred<Record<string, unknown>>();
    await mq.consume<{ n: number }>(queue, (message) => {
      const { payload, envelope, exchange, routingKey, contentType, redelivered, body, replyTo, signal } =
        message;
      seen.resolve({
        payload,
        envelope,
        exchange,
        routingKey,
        contentType,
        redelivered,
        body,
        replyTo,
        signal,
        queue: message.queue,
      });
      return accept();
    });
    const sent = await mq
      .publisher({ exchange: 'shop', routingKey: 'order.placed' })
      .send({ n: 1 }, { headers: { tenant: 'acme' }, correlationId: 'c-1', replyTo: 'answers' });
    const message = await seen.promise;
    expect(message).toMatchObject({
      payload: { n: 1 },
      queue,
      exchange: 'shop',
      routingKey: 'order.placed',
      contentType: 'application/json',
      redelivered: false,
      replyTo: 'answers',
      envelope: {
        id: sent.id,
        type: 'order.placed',
        correlationId: 'c-1',
        attempt: 1,
        headers: { tenant: 'acme' },
      },
    });
    expect(message['signal']).toBeInstanceOf(AbortSignal);
    await vi.waitFor(() =>
      expect(setting.broker.queues.find(({ name }) => name === queue)?.unsettled).toBe(0),
    );
  });

  test('keeps the order of the queue with one worker, and runs as many handlers as its concurrency', async () => {
    const setting = await onMemory();
    await withQueue(setting);
    const { mq, queue } = setting;
    const order: number[] = [];
    let running = 0;
    let most = 0;
    const publisher = mq.publisher<number>({ routingKey: queue });
    const one = await mq.consume<number>(queue, async ({ payload }) => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      order.push(payload);
      running -= 1;
      return accept();
    });
    await publisher.sendAll(Array.from({ length: 100 }, (_, number) => number));
    await vi.waitFor(() => expect(order).toHaveLength(100));
    expect(order).toEqual(Array.from({ length: 100 }, (_, number) => number));
    expect(most).toBe(1);
    await one.close();
    const gate = deferred();
    let started = 0;
    const four = await mq.consume(
      queue,
      async () => {
        started += 1;
        await gate.promise;
        return accept();
      },
      { concurrency: 4 },
    );
    await publisher.sendAll(Array.from({ length: 30 }, (_, number) => number));
    await vi.waitFor(() =>
      expect(setting.broker.queues.find(({ name }) => name === queue)?.unsettled).toBe(20),
    );
    expect(started).toBe(4);
    expect(four.inFlight).toBe(4);
    gate.resolve();
    await vi.waitFor(() => expect(started).toBe(30));
  });

  test('declares its dead letter and parked queues without a policy, and the rungs besides with one', async () => {
    const setting = await onMemory();
    await withQueue(setting);
    const { mq, queue, broker } = setting;
    const plain = await mq.consume(queue, () => accept());
    expect(broker.queues.map(({ name }) => name).sort()).toEqual([queue, `${queue}.dlq`, `${queue}.parked`]);
    expect(broker.exchanges.map(({ name }) => name)).not.toContain('acemq.retry');
    await plain.close();
    await mq.consume(queue, () => accept(), { retry: exponential(6, '10s', '5m') });
    expect(broker.queues.map(({ name }) => name)).toEqual(
      expect.arrayContaining([`${queue}.retry.40s`, `${queue}.retry.80s`, `${queue}.retry.160s`]),
    );
    expect(broker.bindings).toContainEqual({ queue, exchange: 'acemq.retry', routingKey: queue });
  });

  test('declares nothing where that is turned off, and by default for the broker’s own names', async () => {
    const setting = await onMemory();
    await withQueue(setting);
    const { mq, queue, broker } = setting;
    await mq.consume(queue, () => accept(), { declare: false });
    expect(broker.queues.map(({ name }) => name)).toEqual([queue]);
  });

  test('of a queue that is not there is refused, and nothing is declared for it', async () => {
    const { mq, broker, queue } = await onMemory();
    const refused = mq.consume(queue, () => accept());
    await expect(refused).rejects.toMatchObject({ replyCode: 404 });
    await expect(refused).rejects.toThrow(`mq.declare(topology().queue("${queue}"))`);
    expect(broker.queues).toEqual([]);
    expect(mq.consumers).toEqual([]);
  });
});

test('a consumer that forgets the policy of its queue’s rungs is warned of', async () => {
  const { mq, queue, log } = await onMemory();
  const policy = fixed(3, '40s');
  await mq.declare(topology().queue(queue, { retry: policy }));
  await (await mq.consume(queue, () => accept(), { retry: policy })).close();
  expect(log.filter(({ level }) => level === 'warn')).toEqual([]);
  await mq.consume(queue, () => accept());
  expect(log.filter(({ level }) => level === 'warn')).toMatchObject([
    { message: expect.stringContaining('same policy as the topology'), details: { queue } },
  ]);
});

describe('what a handler answers', () => {
  const cases = [
    [
      'reject(error)',
      () => reject(new Error('bad')),
      'dlq',
      /^the handler rejected it: Error: bad$/,
      'rejected',
    ],
    ['park(error)', () => park(new Error('odd')), 'parked', /^the handler parked it: Error: odd$/, 'parked'],
    [
      'retry(error) without a policy',
      () => retry(new Error('no')),
      'dlq',
      /^exhausted 1 attempt.*Error: no$/,
      'dead_lettered',
    ],
    [
      'retry(FatalError)',
      () => retry(new Error('outer', { cause: new FatalError('never') })),
      'dlq',
      /^the handler reported an unprocessable message: /,
      'dead_lettered',
    ],
    [
      'a thrown FatalError',
      () => {
        throw new FatalError('never');
      },
      'dlq',
      /^the handler reported an unprocessable message: FatalError: never$/,
      'dead_lettered',
    ],
    [
      'nothing',
      () => undefined as never,
      'dlq',
      /^the handler returned undefined instead of an Ack$/,
      'dead_lettered',
    ],
    [
      'a promise of something else',
      async () => 42 as never,
      'dlq',
      /^the handler returned a number instead of an Ack$/,
      'dead_lettered',
    ],
  ] as const;
  test.each(cases)(
    '%s ends where it should, with the reason on it',
    async (_, answer, place, reason, outcome) => {
      const setting = await onMemory();
      await withQueue(setting);
      const { mq, queue, broker, metrics } = setting;
      await mq.consume(queue, answer);
      const sent = await mq.publisher({ routingKey: queue }).send({ n: 1 }, { headers: { tenant: 'acme' } });
      await vi.waitFor(() => expect(broker.depth(`${queue}.${place}`)).toBe(1));
      expect(errorOn(setting, place)).toMatch(reason);
      const [copy] = broker.messages(`${queue}.${place}`);
      expect(copy).toMatchObject({
        messageId: sent.id,
        contentType: 'application/json',
        headers: { 'x-acemq-attempt': 1, 'x-acemq-first-seen': sent.firstSeen, tenant: 'acme' },
      });
      expect(JSON.parse(Buffer.from(copy?.body ?? []).toString())).toEqual({ n: 1 });
      await vi.waitFor(() => expect(broker.depth(queue)).toBe(0));
      const { counts } = metrics;
      expect(counts.get(`acemq.consume.total{outcome="${outcome}",queue="${queue}"}`)).toBe(1);
      const counter = place === 'parked' ? 'parked' : 'dead_lettered';
      expect(counts.get(`acemq.messages.dead.lettered.total{outcome="${counter}",queue="${queue}"}`)).toBe(1);
    },
  );

  test('an error means another attempt, at the end of the queue, under the same id', async () => {
    const setting = await onManualTime();
    await withQueue(setting);
    const { mq, queue, clock, metrics } = setting;
    const seen: [string, number, number][] = [];
    await mq.consume(
      queue,
      ({ envelope }) => {
        seen.push([envelope.id, envelope.attempt, clock.now()]);
        if (envelope.attempt < 3) throw new Error('not yet');
        return accept();
      },
      { retry: fixed(3, '5s') },
    );
    const started = clock.now();
    const { id } = await mq.publisher({ routingKey: queue }).send({});
    await clock.advance(4_999);
    expect(seen).toHaveLength(1);
    await clock.advance(10_000);
    expect(seen).toEqual([
      [id, 1, started],
      [id, 2, started + 5_000],
      [id, 3, started + 10_000],
    ]);
    expect(metrics.counts.get(`acemq.messages.retried.total{queue="${queue}",where="consumer"}`)).toBe(2);
    expect(metrics.counts.get(`acemq.consume.total{outcome="acked",queue="${queue}"}`)).toBe(1);
  });

  test('a wait here holds its prefetch slot and no worker', async () => {
    const setting = await onManualTime();
    await withQueue(setting);
    const { mq, queue, clock, broker } = setting;
    const handled: number[] = [];
    const consumer = await mq.consume<number>(
      queue,
      ({ payload, envelope }) => {
        handled.push(payload);
        return payload === 0 && envelope.attempt === 1 ? retry(new Error('later')) : accept();
      },
      { retry: fixed(2, '20s'), prefetch: 2 },
    );
    await mq.publisher<number>({ routingKey: queue }).sendAll([0, 1, 2, 3]);
    await clock.advance(10);
    expect(handled).toEqual([0, 1, 2, 3]);
    expect(consumer.inFlight).toBe(1);
    expect(broker.queues.find(({ name }) => name === queue)?.unsettled).toBe(1);
    await clock.advance(20_000);
    expect(handled).toEqual([0, 1, 2, 3, 0]);
    expect(consumer.inFlight).toBe(0);
  });

  test('a long wait is the broker’s: on the rung, through a restart of the consumer, and back by itself', async () => {
    const setting = await onManualTime();
    const { mq, queue, clock, broker, metrics } = setting;
    const policy = exponential(3, '40s', '5m');
    await mq.declare(topology().queue(queue, { retry: policy }));
    const attempts: number[] = [];
    const handler = ({ envelope }: { envelope: { attempt: number } }) => {
      attempts.push(envelope.attempt);
      return retry(new Error('down'));
    };
    const first = await mq.consume(queue, handler, { retry: policy });
    await mq.publisher({ routingKey: queue }).send({});
    await clock.advance(100);
    expect(broker.depth(`${queue}.retry.40s`)).toBe(1);
    expect(await first.close()).toEqual({ finished: true, unsettled: 0 });
    await clock.advance(20_000);
    await mq.consume(queue, handler, { retry: policy });
    await clock.advance(19_000);
    expect(attempts).toEqual([1]);
    await clock.advance(2_000);
    expect(attempts).toEqual([1, 2]);
    expect(broker.depth(`${queue}.retry.80s`)).toBe(1);
    await clock.advance(80_000);
    expect(attempts).toEqual([1, 2, 3]);
    expect(errorOn(setting, 'dlq')).toBe('exhausted 3 attempts: Error: down');
    expect(metrics.counts.get(`acemq.messages.retried.total{queue="${queue}",where="broker"}`)).toBe(2);
    const headers = broker.messages(`${queue}.dlq`)[0]?.headers ?? {};
    expect(
      Object.keys(headers).filter((name) => name.startsWith('x-death') || name.startsWith('x-first')),
    ).toEqual([]);
  });

  test('in progress comes back after five seconds with its attempt unchanged, however often', async () => {
    const setting = await onManualTime();
    await withQueue(setting);
    const { mq, queue, clock, metrics } = setting;
    const attempts: number[] = [];
    await mq.consume(queue, ({ envelope }) => {
      attempts.push(envelope.attempt);
      return attempts.length < 4 ? inProgress() : accept();
    });
    await mq.publisher({ routingKey: queue }).send({});
    await clock.advance(4_900);
    expect(attempts).toEqual([1]);
    await clock.advance(15_000);
    expect(attempts).toEqual([1, 1, 1, 1]);
    expect(metrics.counts.get(`acemq.consume.total{outcome="in_progress",queue="${queue}"}`)).toBe(3);
    expect([...metrics.counts.keys()].filter((key) => key.startsWith('acemq.messages.retried'))).toEqual([]);
  });

  test('a message that is too old dead-letters with its age as the reason', async () => {
    const setting = await onManualTime();
    await withQueue(setting);
    const { mq, queue, clock } = setting;
    await mq.consume(queue, () => retry(new Error('no')), { retry: fixed(10, '20s').giveUpAfter('50s') });
    await mq.publisher({ routingKey: queue }).send({});
    await clock.advance(200_000);
    expect(errorOn(setting, 'dlq')).toBe('exceeded the maximum message age of 50s: Error: no');
  });
});

describe('a body that cannot be read', () => {
  test.each([
    [
      'broken JSON',
      Buffer.from('{nope'),
      'application/json',
      /^could not be decoded: DecodeError: the body is not JSON/,
    ],
    ['text that is not UTF-8', Buffer.from([0xff, 0xfe]), 'text/plain', /not UTF-8/],
    [
      'a type that no codec reads',
      Buffer.from('<a/>'),
      'application/xml',
      /no codec reads "application\/xml"/,
    ],
  ])(
    '%s is parked, the handler never runs, and the attempt is counted',
    async (_, body, contentType, reason) => {
      const setting = await onMemory();
      await withQueue(setting);
      const { mq, queue, broker, metrics } = setting;
      const handler = vi.fn(() => accept());
      await mq.consume(queue, handler);
      await mq.publishRaw('', queue, {
        body,
        contentType,
        headers: { 'x-acemq-future': 'kept', tenant: 'acme' },
      });
      await vi.waitFor(() => expect(broker.depth(`${queue}.parked`)).toBe(1));
      expect(handler).not.toHaveBeenCalled();
      const [copy] = broker.messages(`${queue}.parked`);
      expect(copy?.headers['x-acemq-error']).toMatch(reason);
      expect(copy?.headers).toMatchObject({ 'x-acemq-future': 'kept', tenant: 'acme' });
      expect(Buffer.from(copy?.body ?? [])).toEqual(body);
      expect(metrics.durations.get(`acemq.consume.attempts{queue="${queue}"}`)).toMatchObject({
        count: 1,
        total: 1,
      });
      expect([...metrics.durations.keys()].filter((key) => key.startsWith('acemq.consume.duration'))).toEqual(
        [],
      );
      expect(metrics.counts.get(`acemq.consume.total{outcome="parked",queue="${queue}"}`)).toBe(1);
      await vi.waitFor(() => expect(metrics.gauges.get(`acemq.consume.in.flight{queue="${queue}"}`)).toBe(0));
    },
  );
});
