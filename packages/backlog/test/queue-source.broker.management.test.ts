import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { type Connection, connect } from '@acemq/amqp';
import { accept, ConfigurationError, ConnectError, fixed, reject, retry, topology } from '@acemq/core';
import { Metrics } from '@acemq/observe';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type BacklogReading, ConsumedJobs, type KindReading, QueueSource } from '../src/index.ts';

const api = (): string => process.env['RABBITMQ_MANAGEMENT_URL'] ?? '';

const RETRIES = fixed(3, '1h');

let mq: Connection;
const queues: string[] = [];

beforeAll(async () => {
  mq = await connect(process.env['AMQP_URL'] ?? '', { name: 'backlog-test' });
});
afterAll(async () => {
  await mq.close();
  for (const queue of queues) {
    for (const suffix of ['', '.dlq', '.parked', '.retry.1h']) {
      const address = new URL(`/api/queues/%2F/${encodeURIComponent(queue + suffix)}`, api());
      const authorization = `Basic ${btoa(`${address.username}:${address.password}`)}`;
      await fetch(`${address.origin}${address.pathname}`, { method: 'DELETE', headers: { authorization } });
    }
  }
});

async function ownQueue(type: 'classic' | 'quorum' = 'classic'): Promise<string> {
  const queue = `backlog.test+${randomUUID()}`;
  queues.push(queue);
  await mq.declare(topology().queue(queue, { type, retry: RETRIES }));
  return queue;
}

/** The management API says what it knows up to some seconds later. */
async function until(source: QueueSource, holds: (reading: BacklogReading, kind: KindReading) => boolean) {
  return vi.waitFor(
    async () => {
      const reading = await source.read();
      const kind = reading.kinds[0] as KindReading;
      if (!holds(reading, kind)) throw new Error(`not yet: ${JSON.stringify(reading)}`);
      return { reading, kind };
    },
    { timeout: 25_000, interval: 250 },
  );
}

it('a new queue is not known, and not 0', { timeout: 30_000 }, async () => {
  const queue = await ownQueue();
  const source = new QueueSource({ url: api(), queue });
  const { kinds } = await source.read();
  const [kind] = kinds;
  if (kind?.depth === null) expect(kind).toMatchObject({ kind: queue, depth: null, oldestAge: null });
  const later = await until(source, (_, { depth }) => depth !== null);
  expect(later.kind).toMatchObject({ depth: 0, oldestAge: 0, settled: null });
});

it('depth is what is ready and what is held; the dead and the retries are beside it', {
  timeout: 40_000,
}, async () => {
  // A classic queue may say how old a held message is, or not, as it pleases; a quorum queue never does.
  const queue = await ownQueue('quorum');
  const metrics = new Metrics();
  const consumed = new ConsumedJobs({ connection: mq, observer: metrics });
  const source = new QueueSource({ url: api(), queue, consumed });
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const consumer = await mq.consume<string>(
    queue,
    async ({ payload }) => {
      if (payload === 'held') await held;
      return payload === 'later' ? retry() : payload === 'never' ? reject('no') : accept();
    },
    { prefetch: 10, retry: RETRIES },
  );
  const publisher = mq.publisher({ routingKey: queue });
  for (const payload of ['done', 'done', 'later', 'never', 'held']) await publisher.send(payload);
  const { reading, kind } = await until(
    source,
    ({ deadLength }, { depth, waitingRetry, settled }) =>
      deadLength === 1 && waitingRetry === 1 && depth === 1 && (settled ?? 0) >= 4,
  );
  // The broker counts the retry and the dead letter as acknowledged too.
  expect(kind).toMatchObject({ kind: queue, depth: 1, held: 1, completed: 2, settled: 4 });
  expect(kind.ageIsUpperBound).toBe(true);
  expect(reading.asOf).toBeLessThanOrEqual(Date.now());
  expect(metrics.counts.get(`jobs_completed_total{kind="${queue}"}`)).toBe(2);
  release();
  await consumer.close();
  consumed.close();
});

it('the age is that of the head message where the broker says it', { timeout: 40_000 }, async () => {
  const queue = await ownQueue();
  await mq.publisher({ routingKey: queue }).send('first');
  const sent = Date.now();
  const source = new QueueSource({ url: api(), queue });
  const { kind, reading } = await until(
    source,
    (_, { oldestAge, depth }) => depth === 1 && oldestAge !== null,
  );
  expect(kind.ageIsUpperBound).toBeUndefined();
  expect(Math.abs((kind.oldestAge ?? 0) - (reading.asOf - sent) / 1000)).toBeLessThan(2);
});

it('where the broker does not say it, it is not known to a process that does not consume', {
  timeout: 40_000,
}, async () => {
  const queue = await ownQueue('quorum');
  await mq.publisher({ routingKey: queue }).send('first');
  const { kind } = await until(new QueueSource({ url: api(), queue }), (_, { depth }) => depth === 1);
  expect(kind).toMatchObject({ depth: 1, oldestAge: null });
});

it('and an upper bound to one that does, which goes on growing when delivery stops', {
  timeout: 60_000,
}, async () => {
  const queue = await ownQueue('quorum');
  const consumed = new ConsumedJobs({ connection: mq });
  const source = new QueueSource({ url: api(), queue, consumed });
  const publisher = mq.publisher({ routingKey: queue });
  const started = Date.now();
  const consumer = await mq.consume(queue, () => accept(), { retry: RETRIES });
  await publisher.send('first');
  await vi.waitFor(() => expect(consumed.completed(queue)).toBe(1), 10_000);
  await consumer.close();
  await publisher.send('second');
  const one = await until(source, (_, { depth, oldestAge }) => depth === 1 && oldestAge !== null);
  expect(one.kind.ageIsUpperBound).toBe(true);
  expect(one.kind.oldestAge).toBeGreaterThan(0);
  expect(one.kind.oldestAge).toBeLessThanOrEqual((one.reading.asOf - started) / 1000);
  const two = await until(source, (_, { oldestAge }) => (oldestAge ?? 0) > (one.kind.oldestAge ?? 0) + 1);
  const between = (two.reading.asOf - one.reading.asOf) / 1000;
  expect((two.kind.oldestAge ?? 0) - (one.kind.oldestAge ?? 0)).toBeCloseTo(between, 3);
  consumed.close();
});

it('says which queue is not there', async () => {
  const source = new QueueSource({ url: api(), queue: 'no.such.queue' });
  await expect(source.read()).rejects.toThrow(ConfigurationError);
  await expect(source.read()).rejects.toThrow('there is no queue "no.such.queue"');
  const vhost = new QueueSource({ url: api(), queue: 'q', vhost: 'no-such-vhost' });
  await expect(vhost.read()).rejects.toThrow(/no such virtual host|refused/);
});

it('another password is a refusal, and is not printed', async () => {
  const url = new URL(api());
  url.password = 'hush-hush';
  const failed = await new QueueSource({ url: url.href, queue: 'q' }).read().catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(ConnectError);
  expect(failed).toMatchObject({ code: 'ACEMQ_CONNECT_REFUSED' });
  expect(String(failed)).not.toContain('hush');
});

it('a server that is not there, or is another, is an error', async () => {
  const none = new QueueSource({ url: 'http://127.0.0.1:9', queue: 'q' });
  await expect(none.read()).rejects.toMatchObject({ code: 'ACEMQ_CONNECT_FAILED' });
  const server = createServer((_, response) => response.end('<html>'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const other = new QueueSource({ url: `http://127.0.0.1:${port}`, queue: 'q' });
  await expect(other.read()).rejects.toThrow('cannot be read: it is no JSON');
  server.close();
});

it.for<[string, string]>([
  ['amqp://localhost', 'url must begin with http or https, not "amqp:"'],
  ['localhost', 'url must be the URL of the management API'],
])('refuses the URL %s', ([url, words]) => {
  expect(() => new QueueSource({ url, queue: 'q' })).toThrow(words);
});
