import { FatalError, type Span, type SpanOptions, type Tracing } from '@acemq/core';
import { Metrics } from '@acemq/observe';
import type { Redis } from 'ioredis';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  enqueue,
  type StreamJob,
  StreamSource,
  StreamWorker,
  type StreamWorkerOptions,
} from '../src/index.ts';
import { ioredis, nodeRedis, ownStream } from './redis.ts';

let redis: Redis;
beforeAll(() => {
  redis = ioredis();
});

const workers: StreamWorker[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close(0)));
});

let made = 0;

async function worker(
  stream: string,
  options: Partial<StreamWorkerOptions> & Pick<StreamWorkerOptions, 'handlers'>,
): Promise<StreamWorker> {
  made += 1;
  const one = new StreamWorker({
    client: redis,
    blockingClient: ioredis(),
    stream,
    group: 'workers',
    consumer: `worker-${made}`,
    logger: { info() {}, warn() {} },
    ...options,
  });
  workers.push(one);
  return one.start();
}

const soon = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { timeout: 15_000, interval: 20 });
const pending = async (stream: string): Promise<number> =>
  Number((await redis.xpending(stream, 'workers'))[0]);

describe.for<[string, () => Promise<Partial<StreamWorkerOptions>>]>([
  ['ioredis', async () => ({ client: redis, blockingClient: ioredis() })],
  ['redis', async () => ({ client: await nodeRedis(), blockingClient: await nodeRedis() })],
  ['redis on RESP3', async () => ({ client: await nodeRedis(3), blockingClient: await nodeRedis(3) })],
])('%s', ([, clients]) => {
  it('works what was added, and counts it by kind when it is acknowledged', async () => {
    const stream = await ownStream(redis);
    const observer = new Metrics();
    const seen: StreamJob[] = [];
    await worker(stream, {
      ...(await clients()),
      observer,
      labels: { stream: 'jobs' },
      handlers: { render_tickets: (job) => seen.push(job), send_tickets: async () => {} },
    });
    const id = await enqueue({ client: redis, stream, kind: 'render_tickets', fields: { order: '4711' } });
    for (let n = 0; n < 25; n += 1) await enqueue({ client: redis, stream, kind: 'send_tickets' });
    await soon(() =>
      expect(observer.counts).toEqual(
        new Map([
          ['jobs_completed_total{kind="render_tickets",stream="jobs"}', 1],
          ['jobs_completed_total{kind="send_tickets",stream="jobs"}', 25],
        ]),
      ),
    );
    expect(seen).toMatchObject([
      { id, kind: 'render_tickets', attempt: 1, fields: { kind: 'render_tickets', order: '4711' } },
    ]);
    expect(await pending(stream)).toBe(0);
  });
});

it('makes the stream and its group where they are not there, from the first entry on', async () => {
  const stream = await ownStream(redis);
  await redis.del(stream);
  await enqueue({ client: redis, stream, kind: 'a' });
  const done: string[] = [];
  await worker(stream, { handlers: { a: ({ id }) => done.push(id) } });
  await soon(() => expect(done).toHaveLength(1));
});

it('works as many at a time as it may', async () => {
  const stream = await ownStream(redis);
  let running = 0;
  let most = 0;
  let done = 0;
  const gate: (() => void)[] = [];
  await worker(stream, {
    concurrency: 4,
    handlers: {
      a: async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise<void>((resolve) => gate.push(resolve));
        running -= 1;
        done += 1;
      },
    },
  });
  for (let n = 0; n < 12; n += 1) await enqueue({ client: redis, stream, kind: 'a' });
  await soon(() => expect(running).toBe(4));
  await soon(() => {
    gate.splice(0).forEach((release) => {
      release();
    });
    expect(done).toBe(12);
  });
  expect(most).toBe(4);
});

it('what a dead worker held is taken over, and counted once', async () => {
  const stream = await ownStream(redis);
  const observer = new Metrics();
  for (let n = 0; n < 3; n += 1) await enqueue({ client: redis, stream, kind: 'a' });
  await redis.xreadgroup('GROUP', 'workers', 'dead', 'COUNT', 3, 'STREAMS', stream, '>');
  const attempts: number[] = [];
  await worker(stream, {
    observer,
    reclaimAfter: 200,
    handlers: { a: ({ attempt }) => attempts.push(attempt) },
  });
  await soon(() => expect(observer.counts.get('jobs_completed_total{kind="a"}')).toBe(3));
  expect(attempts).toEqual([2, 2, 2]);
});

it('a job that another worker has finished meanwhile is not counted again', async () => {
  const stream = await ownStream(redis);
  const observer = new Metrics();
  await worker(stream, {
    observer,
    handlers: { a: ({ id }) => redis.xack(stream, 'workers', id), b: () => {} },
  });
  await enqueue({ client: redis, stream, kind: 'a' });
  await enqueue({ client: redis, stream, kind: 'b' });
  await soon(() => expect(observer.counts).toEqual(new Map([['jobs_completed_total{kind="b"}', 1]])));
});

it('a slow batch is not taken from a living worker, the entries that are not started included', async () => {
  const stream = await ownStream(redis);
  let release = (): void => {};
  const slow = new Promise<void>((resolve) => {
    release = resolve;
  });
  const seen: StreamJob[] = [];
  const handlers = {
    a: async (job: StreamJob) => {
      seen.push(job);
      await slow;
    },
  };
  for (let n = 0; n < 5; n += 1) await enqueue({ client: redis, stream, kind: 'a' });
  await worker(stream, { reclaimAfter: 300, handlers });
  await soon(() => expect(seen).toHaveLength(1));
  const others: StreamJob[] = [];
  await worker(stream, { reclaimAfter: 300, handlers: { a: (job: StreamJob) => others.push(job) } });
  // Ten renewals: without them all would have been taken over long ago.
  const since = Date.now();
  await soon(() => expect(Date.now() - since).toBeGreaterThan(1000));
  expect(others).toEqual([]);
  release();
  await soon(async () => expect(await pending(stream)).toBe(0));
  expect(seen.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1, 1]);
});

it('a job that fails comes back, and is given up at the delivery limit, with its reason', async () => {
  const stream = await ownStream(redis);
  const observer = new Metrics();
  const id = await enqueue({ client: redis, stream, kind: 'a', fields: { order: '4711' } });
  const attempts: number[] = [];
  await worker(stream, {
    observer,
    reclaimAfter: 100,
    deliveryLimit: 3,
    handlers: {
      a: ({ attempt }) => {
        attempts.push(attempt);
        throw new TypeError('no seat map');
      },
    },
  });
  await soon(async () => expect(await redis.xlen(`${stream}:dead`)).toBe(1));
  expect(attempts).toEqual([1, 2, 3]);
  const [[, fields]] = (await redis.xrange(`${stream}:dead`, '-', '+')) as [[string, string[]]];
  expect(fields).toEqual([
    ...['kind', 'a', 'order', '4711'],
    ...['reason', 'TypeError: no seat map', 'attempts', '3', 'original-id', id],
  ]);
  expect(await pending(stream)).toBe(0);
  expect(observer.counts.size).toBe(0);
});

it('what kills its workers is given up as well, and so are what is fatal and what nobody works', async () => {
  const stream = await ownStream(redis);
  await enqueue({ client: redis, stream, kind: 'a' });
  const [[, [[id]]]] = (await redis.xreadgroup(
    ...(['GROUP', 'workers', 'dead', 'COUNT', 1, 'STREAMS', stream, '>'] as const),
  )) as [[string, [[string]]]];
  await redis.xclaim(stream, 'workers', 'dead', 0, id, 'RETRYCOUNT', 5);
  await enqueue({ client: redis, stream, kind: 'fatal' });
  await enqueue({ client: redis, stream, kind: 'other' });
  const fatal = (): never => {
    throw new FatalError('never');
  };
  await worker(stream, { reclaimAfter: 100, handlers: { a: () => {}, fatal } });
  await soon(async () => expect(await redis.xlen(`${stream}:dead`)).toBe(3));
  const dead = (await redis.xrange(`${stream}:dead`, '-', '+')).map(([, [, kind, , reason, , attempts]]) => [
    kind,
    reason,
    attempts,
  ]);
  expect(dead.sort()).toEqual([
    ['a', 'it was delivered, and nobody finished it', '5'],
    ['fatal', 'FatalError: never', '1'],
    ['other', 'nobody works the kind "other"', '1'],
  ]);
});

it('a job is not acknowledged when it cannot be put among the dead, nor put there when it is done', async () => {
  const stream = await ownStream(redis);
  await redis.set(`${stream}:dead`, 'no stream');
  const warn = vi.fn();
  const fatal = (): never => {
    throw new FatalError('never');
  };
  const done = async ({ id }: StreamJob): Promise<never> => {
    await redis.xack(stream, 'workers', id);
    return fatal();
  };
  await worker(stream, { handlers: { fatal, done }, logger: { info() {}, warn } });
  await enqueue({ client: redis, stream, kind: 'fatal' });
  await soon(() =>
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('WRONGTYPE'), expect.anything()),
  );
  expect(await pending(stream)).toBe(1);
  await redis.del(`${stream}:dead`);
  await enqueue({ client: redis, stream, kind: 'done' });
  await enqueue({ client: redis, stream, kind: 'fatal' });
  await soon(async () => expect(await redis.xlen(`${stream}:dead`)).toBe(1));
});

describe('closing', () => {
  it('waits for what was started, and leaves the group', async () => {
    const stream = await ownStream(redis);
    let release: (() => void) | undefined;
    let finished = false;
    const one = await worker(stream, {
      handlers: {
        a: async () => {
          await new Promise<void>((resolve) => {
            release = resolve;
          });
          finished = true;
        },
      },
    });
    await enqueue({ client: redis, stream, kind: 'a' });
    await soon(() => expect(release).toBeDefined());
    const closing = one.close();
    release?.();
    await closing;
    expect(finished).toBe(true);
    expect(await redis.xinfo('CONSUMERS', stream, 'workers')).toEqual([]);
  });

  it('a consumer that holds something stays, so that it can be reclaimed', async () => {
    const stream = await ownStream(redis);
    const aborted = vi.fn();
    const started = vi.fn();
    const one = await worker(stream, {
      handlers: {
        a: ({ signal }) => {
          started();
          return new Promise((resolve) =>
            signal.addEventListener('abort', () => {
              aborted();
              resolve(undefined);
            }),
          );
        },
      },
    });
    for (let n = 0; n < 3; n += 1) await enqueue({ client: redis, stream, kind: 'a' });
    await soon(() => expect(started).toHaveBeenCalled());
    await one.close(50);
    expect(aborted).toHaveBeenCalled();
    const { kinds } = await new StreamSource({ client: redis, stream, group: 'workers' }).read();
    expect(kinds[0]?.depth).toBe(3);
  });
});

it('finished entries are trimmed, and none that another group has still to do', async () => {
  const stream = await ownStream(redis);
  await redis.xgroup('CREATE', stream, 'others', '0');
  for (let n = 0; n < 4; n += 1) await enqueue({ client: redis, stream, kind: 'a' });
  const [[, read]] = (await redis.xreadgroup(
    ...(['GROUP', 'others', 'one', 'COUNT', 3, 'STREAMS', stream, '>'] as const),
  )) as [[string, [string, string[]][]]];
  await redis.xack(stream, 'others', read[0]?.[0] as string, read[2]?.[0] as string);
  await worker(stream, { trimEvery: 50, handlers: { a: () => {} } });
  await soon(async () => expect(await redis.xlen(stream)).toBe(3));
  expect((await redis.xrange(stream, '-', '+'))[0]?.[0]).toBe(read[1]?.[0]);
});

it('the wait and the work are spans under the request, and a job hands its own context on', async () => {
  const stream = await ownStream(redis);
  const spans: { name: string; parent: unknown; startTime: number | undefined; failed?: unknown }[] = [];
  let active = 'request';
  const tracing: Tracing = {
    propagationHeaders: () => ({ traceparent: active, tracestate: 'a=b' }),
    event() {},
    request: (_destination, _envelope, work) => work(),
    span<T>(name: string, { parent, startTime }: SpanOptions, work: (span: Span) => T): T {
      const record: (typeof spans)[number] = { name, parent, startTime };
      spans.push(record);
      active = `in ${name}`;
      return work({ attribute() {}, event() {}, fail: (error) => Object.assign(record, { failed: error }) });
    },
  };
  const id = await enqueue({ client: redis, stream, kind: 'render_tickets', tracing });
  await worker(stream, {
    tracing,
    handlers: {
      render_tickets: () => enqueue({ client: redis, stream, kind: 'send_tickets', tracing }),
      send_tickets: () => {
        throw new Error('no mail');
      },
    },
  });
  await soon(() => expect(spans).toHaveLength(4));
  const request = { traceparent: 'request', tracestate: 'a=b' };
  const render = { traceparent: 'in render_tickets', tracestate: 'a=b' };
  await soon(() =>
    expect(spans).toMatchObject([
      { name: 'queue.wait', parent: request, startTime: Number(id.split('-')[0]) },
      { name: 'render_tickets', parent: request },
      { name: 'queue.wait', parent: render },
      { name: 'send_tickets', parent: render, failed: new Error('no mail') },
    ]),
  );
});

it('goes on when the stream was gone for a while', async () => {
  const stream = await ownStream(redis);
  const done: string[] = [];
  const warn = vi.fn();
  await worker(stream, { handlers: { a: ({ id }) => done.push(id) }, logger: { info() {}, warn } });
  await redis.del(stream);
  await soon(() => expect(warn).toHaveBeenCalled());
  await redis.xgroup('CREATE', stream, 'workers', '0', 'MKSTREAM');
  await enqueue({ client: redis, stream, kind: 'a' });
  await soon(() => expect(done).toHaveLength(1));
});

it.for([
  [{ handlers: {} }, 'handlers must have a function for at least one kind'],
  [{ handlers: { a: 1 } }, 'handlers.a must be a function, not 1'],
  [{ concurrency: 0 }, 'concurrency must be a whole number of at least 1, not 0'],
  [{ logger: {} }, 'logger must have the methods info, warn; missing: info, warn'],
  [{ queue: 'q' }, 'StreamWorker has no option "queue"'],
] as const)('refuses %o', ([wrong, words]) => {
  const client = { call: async () => null };
  const right = {
    client,
    blockingClient: { ...client },
    stream: 's',
    group: 'g',
    consumer: 'c',
    handlers: { a() {} },
  };
  expect(() => new StreamWorker({ ...right, ...wrong } as unknown as StreamWorkerOptions)).toThrow(words);
  expect(() => new StreamWorker({ ...right, blockingClient: client })).toThrow('a connection of its own');
});
