import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { accept, type Envelope, PublishError, PublishingPausedError } from '@acemq/core';
import { Metrics } from '@acemq/observe';
import { type FaultProxy, faultProxy } from '@acemq/testing';
import { type Channel, connect as connectRaw } from 'amqplib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Connection, type ConnectOptions, connect } from '../../src/index.ts';
import { keepingLogger } from '../setting.ts';
import { type FaultNode, startNode } from './node.ts';
import { uncaughtErrors } from './uncaught.ts';

const SENDS = 200_000;
const PERMITS = 1_000;
const MB = 1_048_576;

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
  await admin.assertQueue('orders', { durable: false });
});

afterEach(async () => {
  await node.clearAlarms();
  await mq?.close({ timeout: 0 });
  await proxy?.close();
  await endAdmin?.();
  await node.reset();
});

async function open(options: ConnectOptions = {}, url = node.url): Promise<Connection> {
  mq = await connect(url, { name: 'alarms', logger: keepingLogger(), permits: PERMITS, ...options });
  return mq;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Megabytes in use after a collection: the median of five. */
async function heapMb(): Promise<number> {
  const sizes: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    sizes.push(process.memoryUsage().heapUsed / MB);
  }
  return sizes.sort((a, b) => a - b)[2] as number;
}

/** What became of many sends, without keeping one object of each. */
interface Tally {
  confirmed: number;
  refused: number;
  timedOut: number;
  other: unknown;
  /** How many settled a second time. */
  again: number;
  mostOutstanding: number;
}

/** Starts so many sends in one go, and resolves when each has settled. */
async function sendTogether(count: number): Promise<Tally> {
  const tally: Tally = {
    confirmed: 0,
    refused: 0,
    timedOut: 0,
    other: undefined,
    again: 0,
    mostOutstanding: 0,
  };
  const seen = new Uint8Array(count);
  const publisher = mq.publisher<number>({ routingKey: 'orders', persistent: false });
  const settle = (n: number): void => {
    if (seen[n] !== 0) tally.again += 1;
    seen[n] = 1;
    tally.mostOutstanding = Math.max(tally.mostOutstanding, mq.outstanding);
  };
  const sends: Promise<void>[] = [];
  for (let n = 0; n < count; n += 1) {
    const sent: Promise<Envelope> = publisher.send(n);
    sends.push(
      sent.then(
        () => {
          settle(n);
          tally.confirmed += 1;
        },
        (error: unknown) => {
          settle(n);
          if (error instanceof PublishingPausedError) tally.refused += 1;
          else if (error instanceof PublishError && error.code === 'ACEMQ_PUBLISH_TIMEOUT')
            tally.timedOut += 1;
          else tally.other ??= error;
        },
      ),
    );
  }
  tally.mostOutstanding = mq.outstanding;
  await Promise.all(sends);
  return tally;
}

function published(metrics: Metrics, outcome: string): number {
  const keys = [...metrics.counts].filter(
    ([key]) => key.startsWith('acemq.publish.total{') && key.includes(`outcome="${outcome}"`),
  );
  return keys.reduce((sum, [, count]) => sum + count, 0);
}

describe('200,000 sends started together', { timeout: 120_000 }, () => {
  test('all confirm, however long the broker takes, with no more outstanding than permitted, and leave the heap as it was', async () => {
    const metrics = new Metrics();
    // Slow enough for all of them to take longer than one may wait: each permit that comes back is progress.
    await open({ observer: metrics, confirmTimeout: '10s' }, proxy.url);
    proxy.limit(5_000_000, 'toBroker');
    await sendTogether(PERMITS);
    const before = await heapMb();
    const cpu = process.cpuUsage();
    const started = performance.now();
    const tally = await sendTogether(SENDS);
    const took = performance.now() - started;
    const { user, system } = process.cpuUsage(cpu);
    const after = await heapMb();
    expect(took).toBeGreaterThan(10_000);
    expect(tally).toEqual({
      confirmed: SENDS,
      refused: 0,
      timedOut: 0,
      other: undefined,
      again: 0,
      mostOutstanding: PERMITS,
    });
    expect(published(metrics, 'confirmed')).toBe(SENDS + PERMITS);
    expect((await admin.checkQueue('orders')).messageCount).toBe(SENDS + PERMITS);
    expect(after - before).toBeLessThan(20);
    // It is about 0.03 ms of CPU a message, the proxy's included; a timer for each, or a search among the others, costs many times that.
    expect((user + system) / 1_000).toBeLessThan(SENDS * 0.1);
  });

  test('under an alarm each settles once, as refused or at its time-out, and leaves the heap as it was', async () => {
    const metrics = new Metrics();
    await open({ observer: metrics, confirmTimeout: '10s' });
    await sendTogether(PERMITS);
    const before = await heapMb();
    await node.alarm('memory');
    const tally = await sendTogether(SENDS);
    expect(tally).toEqual({
      confirmed: 0,
      refused: SENDS - PERMITS,
      timedOut: PERMITS,
      other: undefined,
      again: 0,
      mostOutstanding: PERMITS,
    });
    expect(published(metrics, 'refused')).toBe(SENDS - PERMITS);
    expect(published(metrics, 'failed')).toBe(PERMITS);
    expect(mq.outstanding).toBe(0);
    expect((await heapMb()) - before).toBeLessThan(20);
    // Now that it is known, nothing of any is written.
    expect(await sendTogether(SENDS)).toMatchObject({ refused: SENDS, other: undefined, mostOutstanding: 0 });
    await node.clearAlarms();
    await vi.waitFor(() => expect(mq.blocked).toBe(false));
    expect((await sendTogether(PERMITS)).confirmed).toBe(PERMITS);
    // The broker had them in its socket, and takes them when the alarm ends: they may have arrived.
    await vi.waitFor(async () => expect((await admin.checkQueue('orders')).messageCount).toBe(3 * PERMITS));
  });
});

describe('under an alarm', () => {
  test('a publish that meets it unknowing ends at its time-out, and the next is refused at once with nothing written', async () => {
    await open({ confirmTimeout: '1s' }, proxy.url);
    const publisher = mq.publisher<number>({ routingKey: 'orders' });
    await publisher.send(0);
    await node.alarm('disk');
    const started = performance.now();
    const first = await publisher.send(1).catch((error: unknown) => error);
    const took = performance.now() - started;
    expect(first).toMatchObject({ code: 'ACEMQ_PUBLISH_TIMEOUT', mayHaveArrived: true });
    expect(took).toBeGreaterThanOrEqual(999);
    expect(took).toBeLessThan(3_000);
    expect(mq.blocked).toBe(true);
    const link = proxy.connections.find(({ name }) => name === 'alarms publish');
    const frames = link?.frames.toBroker;
    const before = performance.now();
    const second = await publisher.send(2).catch((error: unknown) => error);
    expect(performance.now() - before).toBeLessThan(500);
    expect(second).toBeInstanceOf(PublishingPausedError);
    expect(second).toMatchObject({ mayHaveArrived: false, retryable: true });
    expect((second as Error).message).toContain('low on disk');
    expect(link?.frames.toBroker).toBe(frames);
    await node.clearAlarms();
    await vi.waitFor(() => expect(mq.blocked).toBe(false));
    await publisher.send(3);
  });

  test('an alarm that ends within the time-out costs nothing', async () => {
    await open({ confirmTimeout: '10s' });
    const publisher = mq.publisher<number>({ routingKey: 'orders' });
    await node.alarm('memory');
    const sends = Promise.all([1, 2, 3].map((n) => publisher.send(n)));
    await vi.waitFor(() => expect(mq.blocked).toBe(true));
    expect(mq.outstanding).toBe(3);
    await node.clearAlarms();
    await sends;
  });

  test('consumers go on settling, since they are on another socket, and stay so while publishes are refused', async () => {
    const uncaught = uncaughtErrors();
    await open({ confirmTimeout: '1s' });
    for (let n = 0; n < 2_000; n += 1)
      admin.sendToQueue('orders', Buffer.from(`${n}`), { contentType: 'application/json' });
    await vi.waitFor(async () => expect((await admin.checkQueue('orders')).messageCount).toBe(2_000));
    await node.alarm('memory');
    const publisher = mq.publisher<number>({ routingKey: 'orders' });
    await publisher.send(-1).catch(() => {});
    expect(mq.blocked).toBe(true);
    let handled = 0;
    const consumer = await mq.consume(
      'orders',
      async () => {
        // Each handler publishes, and is refused.
        await expect(publisher.send(-2)).rejects.toBeInstanceOf(PublishingPausedError);
        handled += 1;
        return accept();
      },
      { prefetch: 50, declare: false },
    );
    await vi.waitFor(() => expect(handled).toBe(2_000), { timeout: 20_000 });
    await vi.waitFor(() => expect(consumer.inFlight).toBe(0));
    expect(mq.blocked).toBe(true);
    await consumer.close();
    // What had not been acknowledged would be back by now.
    expect(await mq.messageCount('orders')).toBe(0);
    expect(uncaught).toEqual([]);
  });
});
