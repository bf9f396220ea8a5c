import { accept, type Envelope, exponential, PublishError, topology } from '@acemq/core';
import { Metrics } from '@acemq/observe';
import { type FaultConnection, type FaultProxy, faultProxy } from '@acemq/testing';
import { type Channel, connect as connectRaw } from 'amqplib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Connection, type ConnectOptions, connect } from '../../src/index.ts';
import { keepingLogger } from '../setting.ts';
import { type FaultNode, startNode } from './node.ts';
import { uncaughtErrors } from './uncaught.ts';

let node: FaultNode;
let proxy: FaultProxy;
let mq: Connection;
let admin: Channel;
let endAdmin: () => Promise<unknown>;

beforeAll(async () => {
  node = await startNode();
});

afterAll(() => node?.close());

beforeEach(async () => {
  proxy = await faultProxy(node.url);
  const model = await connectRaw(node.url);
  model.on('error', () => {});
  endAdmin = () => model.close().catch(() => {});
  admin = await model.createChannel();
  await admin.assertQueue('orders');
});

afterEach(async () => {
  await mq?.close({ timeout: 0 });
  await proxy?.close();
  await endAdmin?.();
  await node.reset();
});

/** Through the proxy, and quick to come back. */
async function open(options: ConnectOptions = {}, url = proxy.url): Promise<Connection> {
  const reconnect = { initial: '10ms', max: '200ms' } as const;
  mq = await connect(url, { name: 'faults', logger: keepingLogger(), reconnect, ...options });
  return mq;
}

function publishing(): FaultConnection {
  const found = proxy.connections.findLast(({ name }) => name === 'faults publish');
  if (found === undefined) throw new Error('there is no link to publish on');
  return found;
}

async function depth(queue: string): Promise<number> {
  return (await admin.checkQueue(queue)).messageCount;
}

type Outcome = PromiseSettledResult<Envelope>;

/** The errors of those that were rejected, each of which must be a `PublishError`. */
function failures(outcomes: readonly Outcome[]): PublishError[] {
  return outcomes.flatMap((outcome) => {
    if (outcome.status === 'fulfilled') return [];
    expect(outcome.reason).toBeInstanceOf(PublishError);
    return [outcome.reason as PublishError];
  });
}

describe('mandatory publishes', () => {
  test('of 100 at once, half of them to nowhere, exactly that half rejects as unroutable', async () => {
    await admin.assertExchange('shop', 'direct');
    await admin.bindQueue('orders', 'shop', 'placed');
    const publisher = (await open()).publisher<number>({ exchange: 'shop' });
    const numbers = Array.from({ length: 100 }, (_, n) => n);
    const sends = numbers.map((n) =>
      publisher.send(n, { id: `m-${n}`, routingKey: n % 2 === 0 ? 'placed' : 'nowhere' }),
    );
    const outcomes = await Promise.allSettled(sends);
    const lost = numbers.filter((n) => n % 2 === 1);
    expect(numbers.filter((n) => outcomes[n]?.status === 'rejected')).toEqual(lost);
    for (const error of failures(outcomes)) {
      expect(error).toMatchObject({
        code: 'ACEMQ_PUBLISH_UNROUTABLE',
        unroutable: true,
        mayHaveArrived: false,
      });
      expect(error.reason).toBe('312 NO_ROUTE');
    }
    expect(failures(outcomes).map(({ messageId }) => messageId)).toEqual(lost.map((n) => `m-${n}`));
    const arrived: string[] = [];
    for (;;) {
      const message = await admin.get('orders', { noAck: true });
      if (message === false) break;
      arrived.push(message.properties.messageId);
    }
    expect(arrived).toEqual(numbers.filter((n) => n % 2 === 0).map((n) => `m-${n}`));
  });
});

describe('the connection dies with 500 publishes outstanding', () => {
  const PERMITS = 300;

  test.each([
    ['the socket is reset', 'toClient', () => publishing().cut()],
    ['the socket ends', 'toClient', () => publishing().cut({ how: 'fin' })],
    ['the broker closes it', 'toBroker', () => node.closeConnections('maintenance')],
    ['the broker is killed', 'nowhere', () => node.kill()],
  ] as const)(
    '%s: each written one rejects as one that may have arrived, the others go over the next link, none hangs',
    async (_, silent, cut) => {
      const uncaught = uncaughtErrors();
      await admin.assertQueue('kept', { durable: true });
      // Or a broker that is killed now may have forgotten it.
      await node.evaluate('mnesia:sync_log()');
      const publisher = (await open({ permits: PERMITS, confirmTimeout: '40s' })).publisher<number>({
        routingKey: 'kept',
      });
      await publisher.send(-1);
      if (silent === 'nowhere') node.suspend();
      else publishing().freeze(silent);
      const before = publishing().frames.toBroker;
      const sends = Array.from({ length: 500 }, (__, n) => publisher.send(n));
      const firstOnes = Promise.allSettled(sends.slice(0, PERMITS));
      const lastOnes = Promise.allSettled(sends.slice(PERMITS));
      // publish, header and body of each, as far as they pass.
      const passed = before + (silent === 'toBroker' ? 0 : PERMITS * 3);
      await vi.waitFor(() => expect(publishing().frames.toBroker).toBe(passed), { timeout: 10_000 });
      expect(mq.outstanding).toBe(PERMITS);
      const started = performance.now();
      await cut();
      // Their confirm time-out, which would have ended them too, is 40 s.
      const written = await firstOnes;
      expect(performance.now() - started).toBeLessThan(8_000);
      if (node.pid === undefined) await node.start();
      const others = await lastOnes;
      expect(failures(others)).toEqual([]);
      const lost = failures(written);
      expect(lost).toHaveLength(PERMITS);
      for (const error of lost) {
        expect(error).toMatchObject({ code: 'ACEMQ_PUBLISH_LOST', mayHaveArrived: true, retryable: true });
        expect(error.message).toContain('may or may not have arrived');
      }
      expect(mq.outstanding).toBe(0);
      expect(await mq.messageCount('kept')).toBeGreaterThanOrEqual(201);
      expect(uncaught).toEqual([]);
    },
  );
});

describe('a link that freezes without a reset', () => {
  test.each(['toBroker', 'toClient', 'both'] as const)(
    'rejects the publish at its confirm time-out, long before the heartbeat (%s)',
    async (direction) => {
      const publisher = (await open({ confirmTimeout: '1s', heartbeat: '20s' })).publisher<number>({
        routingKey: 'orders',
      });
      await publisher.send(1);
      publishing().freeze(direction);
      const started = performance.now();
      const error = await publisher.send(2).then(
        () => undefined,
        (failure) => failure,
      );
      const took = performance.now() - started;
      expect(error).toBeInstanceOf(PublishError);
      expect(error).toMatchObject({ code: 'ACEMQ_PUBLISH_TIMEOUT', mayHaveArrived: true, retryable: true });
      expect(took).toBeGreaterThanOrEqual(999);
      expect(took).toBeLessThan(3_000);
      expect(mq.outstanding).toBe(0);
      publishing().thaw();
      await publisher.send(3);
    },
  );
});

describe('many publishes over a link that freezes', () => {
  // A heartbeat that came to the rescue would do so after two of these.
  const options = { permits: 100, confirmTimeout: '1s', heartbeat: '20s' } as const;

  test('end within two time-outs: those written may have arrived, those that waited for a permit were not written', async () => {
    const publisher = (await open(options)).publisher<number>({ routingKey: 'orders' });
    await publisher.send(-1);
    publishing().freeze();
    const started = performance.now();
    const outcomes = await Promise.allSettled(Array.from({ length: 2_000 }, (_, n) => publisher.send(n)));
    expect(performance.now() - started).toBeLessThan(4_000);
    const failed = failures(outcomes);
    expect(failed).toHaveLength(2_000);
    const written = failed.filter(({ mayHaveArrived }) => mayHaveArrived);
    for (const error of written) expect(error.code).toBe('ACEMQ_PUBLISH_TIMEOUT');
    expect(written.length).toBeGreaterThanOrEqual(100);
    expect(written.length).toBeLessThanOrEqual(200);
    for (const error of failed.filter(({ mayHaveArrived }) => !mayHaveArrived)) {
      expect(error).toMatchObject({ code: 'ACEMQ_PUBLISH_FAILED', retryable: true });
      expect(error.message).toContain('Nothing was written');
    }
    publishing().thaw();
    await publisher.send(-2);
    expect(mq.outstanding).toBe(0);
  });

  test('in a batch do not take one time-out after the other either', async () => {
    const publisher = (await open(options)).publisher<number>({ routingKey: 'orders' });
    await publisher.send(-1);
    publishing().freeze();
    const started = performance.now();
    const error = await publisher
      .sendAll(Array.from({ length: 2_000 }, (_, n) => n))
      .catch((failure: unknown) => failure);
    expect(performance.now() - started).toBeLessThan(4_000);
    expect(error).toMatchObject({ code: 'ACEMQ_PUBLISH_BATCH', total: 2_000, failed: 2_000, confirmed: 0 });
    publishing().thaw();
    expect(await publisher.sendAll([1, 2, 3])).toHaveLength(3);
  });
});

describe('a publish that the broker answers by closing the channel', () => {
  test.each([
    [
      'an exchange that does not exist',
      'no-such-exchange',
      404,
      /NOT_FOUND - no exchange 'no-such-exchange'/,
    ],
    ['an exchange it may not write', 'forbidden', 403, /ACCESS_REFUSED - .*'forbidden'/],
  ])(
    'to %s rejects alone: 500 others confirm, the next one too, and no consumer notices',
    async (_, bad, code, words) => {
      await node.addUser('clerk', 'secret', { write: '^(?!forbidden$).*$' });
      await admin.assertExchange('forbidden', 'fanout');
      const exchanges = ['good-0', 'good-1', 'good-2', 'good-3', 'good-4'];
      for (const exchange of exchanges) {
        await admin.assertExchange(exchange, 'fanout');
        await admin.bindQueue('orders', exchange, '');
      }
      const metrics = new Metrics();
      const url = new URL(proxy.url);
      url.username = 'clerk';
      url.password = 'secret';
      await open({ observer: metrics, confirmTimeout: '20s' }, url.href);
      const policy = exponential(4, '1s', '4s');
      await mq.declare(topology().queue('work', { retry: policy }));
      const handled: unknown[] = [];
      const consumer = await mq.consume(
        'work',
        ({ payload }) => {
          handled.push(payload);
          return accept();
        },
        { retry: policy },
      );
      const { tag } = consumer;
      const events: string[] = [];
      mq.onState(({ type }) => events.push(type));
      const good = exchanges.map((exchange) => mq.publisher<number>({ exchange }));
      for (const publisher of good) await publisher.send(-1);
      publishing().freeze('toClient');
      const before = publishing().frames.toBroker;
      const others = Array.from({ length: 500 }, (__, n) => good[n % 5]?.send(n) as Promise<Envelope>);
      const refused = mq
        .publisher<string>({ exchange: bad })
        .send('refused', { id: 'the-one' })
        .then(
          () => undefined,
          (error) => error,
        );
      await vi.waitFor(() => expect(publishing().frames.toBroker).toBeGreaterThanOrEqual(before + 1_500));
      expect(mq.outstanding).toBe(501);
      publishing().thaw();
      const error = await refused;
      expect(error).toBeInstanceOf(PublishError);
      expect(error).toMatchObject({
        code: 'ACEMQ_PUBLISH_FAILED',
        messageId: 'the-one',
        exchange: bad,
        mayHaveArrived: false,
        cause: { replyCode: code },
      });
      expect((error as PublishError).message).toContain(`${code}`);
      expect((error as PublishError).reason).toMatch(words);
      expect(failures(await Promise.allSettled(others))).toEqual([]);
      await good[0]?.send(500);
      await mq.publisher<string>({ routingKey: 'work' }).send('after');
      await vi.waitFor(() => expect(handled).toEqual(['after']));
      expect(consumer).toMatchObject({ running: true, tag, inFlight: 0 });
      expect(events).toEqual([]);
      expect(proxy.accepted).toBe(2);
      expect(await depth('orders')).toBe(506);
      expect(await depth('work.dlq')).toBe(0);
      const counted = [...metrics.counts].filter(([key]) => /retried|dead/.test(key));
      expect(counted).toEqual([]);
      await node.deleteUser('clerk');
    },
  );
});

describe('close() after sends that nobody awaited', () => {
  /** Starts sends and forgets them; only their outcomes are kept, since a rejection that nobody handles ends a process. */
  function forget(count: number): Promise<Outcome[]> {
    const publisher = mq.publisher<number>({ routingKey: 'orders' });
    return Promise.allSettled(Array.from({ length: count }, (_, n) => publisher.send(n)));
  }

  test('has all of them arrive', async () => {
    await open();
    const outcomes = forget(5_000);
    expect(await mq.close()).toEqual({ finished: true, unsettled: 0, unconfirmed: 0 });
    expect(failures(await outcomes)).toEqual([]);
    expect(await depth('orders')).toBe(5_000);
  });

  test('has all of them arrive though the link is lost meanwhile and some are not written yet', async () => {
    await open({ permits: 100 });
    publishing().limit(100_000, 'toBroker');
    const outcomes = forget(1_000);
    const closing = mq.close();
    await vi.waitFor(() => expect(publishing().frames.toBroker).toBeGreaterThan(900), { timeout: 10_000 });
    publishing().cut();
    expect(await closing).toEqual({ finished: true, unsettled: 0, unconfirmed: 0 });
    const lost = failures(await outcomes);
    expect(lost.length).toBeGreaterThan(0);
    expect(lost.length).toBeLessThanOrEqual(100);
    for (const error of lost)
      expect(error).toMatchObject({ code: 'ACEMQ_PUBLISH_LOST', mayHaveArrived: true });
    expect(await depth('orders')).toBeGreaterThanOrEqual(1_000 - lost.length);
  });

  test('says how many did not on a slow link, and no confirmed one is missing', async () => {
    await open({ permits: 100 });
    publishing().limit(150_000, 'toBroker');
    const outcomes = forget(5_000);
    const started = performance.now();
    const report = await mq.close({ timeout: '1s' });
    expect(performance.now() - started).toBeLessThan(3_000);
    const confirmed = (await outcomes).filter(({ status }) => status === 'fulfilled').length;
    expect(confirmed).toBeGreaterThan(0);
    expect(report).toEqual({ finished: false, unsettled: 0, unconfirmed: 5_000 - confirmed });
    expect(await depth('orders')).toBeGreaterThanOrEqual(confirmed);
  });

  test('says that none did on a frozen link', async () => {
    await open({ permits: 100 });
    publishing().freeze();
    const outcomes = forget(300);
    expect(await mq.close({ timeout: '500ms' })).toEqual({ finished: false, unsettled: 0, unconfirmed: 300 });
    expect((await outcomes).every(({ status }) => status === 'rejected')).toBe(true);
  });
});
