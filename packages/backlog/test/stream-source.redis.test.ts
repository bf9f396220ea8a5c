import { randomUUID } from 'node:crypto';
import { AbortedError, ConfigurationError } from '@acemq/core';
import { Redis } from 'ioredis';
import { beforeAll, describe, expect, it } from 'vitest';
import { type BacklogReading, type KindReading, type RedisClient, StreamSource } from '../src/index.ts';
import { counting, fill, ioredis, nodeRedis, ownStream } from './redis.ts';

let redis: Redis;
beforeAll(() => {
  redis = ioredis();
});

function kindsOf(reading: BacklogReading): Record<string, KindReading> {
  return Object.fromEntries(reading.kinds.map((kind) => [kind.kind, kind]));
}

const clients: [string, () => RedisClient | Promise<RedisClient>][] = [
  ['ioredis', ioredis],
  ['redis', () => nodeRedis(2)],
  ['redis on RESP3', () => nodeRedis(3)],
];

describe.for(clients)('%s', ([, connect]) => {
  let client: RedisClient;
  beforeAll(async () => {
    client = await connect();
  });

  it.for(['client', 'server'] as const)(
    'depth is what the group has not finished, by kind, counted by the %s',
    async (count) => {
      const stream = await ownStream(redis);
      const start = Date.now() - 300_000;
      await fill(redis, stream, 'send_tickets', 7, start);
      await fill(redis, stream, 'render_tickets', 2500, start + 60_000);
      await redis.xreadgroup('GROUP', 'workers', 'one', 'COUNT', 1207, 'STREAMS', stream, '>');
      await redis.xack(stream, 'workers', ...Array.from({ length: 5 }, (_, index) => `${start + index}-0`));
      await redis.xadd(`${stream}:dead`, '*', 'kind', 'x');
      const source = new StreamSource({ client, stream, group: 'workers', count });
      const before = Date.now();
      const reading = await source.read();
      expect(reading.deadLength).toBe(1);
      expect(reading.lag).toBe(1300);
      expect(reading.asOf).toBeGreaterThanOrEqual(before - 1000);
      const { send_tickets: send, render_tickets: render, ...others } = kindsOf(reading);
      expect(others).toEqual({});
      expect(send).toMatchObject({ depth: 2, held: 2, oldestAge: (reading.asOf - start - 5) / 1000 });
      expect(render).toMatchObject({
        depth: 2500,
        held: 1200,
        oldestAge: (reading.asOf - start - 60_000) / 1000,
      });
    },
  );

  it('an entry without a kind, with an empty one, and one that was deleted in work are unknown', async () => {
    const stream = await ownStream(redis);
    const start = Date.now() - 100_000;
    await redis.xadd(stream, `${start}-0`, 'kind', 'a');
    await redis.xreadgroup('GROUP', 'workers', 'one', 'STREAMS', stream, '>');
    await redis.xdel(stream, `${start}-0`);
    await redis.xadd(stream, `${start + 1}-0`, 'order', 'kind');
    await redis.xadd(stream, `${start + 2}-0`, 'kind', '');
    for (const count of ['client', 'server'] as const) {
      const reading = await new StreamSource({ client, stream, group: 'workers', count }).read();
      expect(reading.kinds).toEqual([
        expect.objectContaining({ kind: 'unknown', depth: 3, oldestAge: (reading.asOf - start) / 1000 }),
      ]);
    }
  });

  it('an id from the future is of age 0', async () => {
    const stream = await ownStream(redis);
    await redis.xadd(stream, `${Date.now() + 3_600_000}-0`, 'kind', 'a');
    const { kinds } = await new StreamSource({ client, stream, group: 'workers' }).read();
    expect(kinds).toEqual([{ kind: 'a', depth: 1, held: 0, oldestAge: 0 }]);
  });

  it('counts where the lag of Redis is null', async () => {
    const stream = await ownStream(redis);
    const ids = await Promise.all(['a', 'b', 'c'].map((kind) => redis.xadd(stream, '*', 'kind', kind)));
    await redis.xdel(stream, ids[1] as string);
    const reading = await new StreamSource({ client, stream, group: 'workers' }).read();
    expect(reading.lag).toBeNull();
    expect(Object.keys(kindsOf(reading))).toEqual(['a', 'c']);
  });

  it('says what is missing', async () => {
    const stream = `backlog-test-${randomUUID()}`;
    const none = new StreamSource({ client, stream, group: 'workers' });
    await expect(none.read()).rejects.toThrow(ConfigurationError);
    await expect(none.read()).rejects.toThrow(`there is no stream "${stream}"`);
    const existing = await ownStream(redis);
    const other = new StreamSource({ client, stream: existing, group: 'others' });
    await expect(other.read()).rejects.toThrow(`stream "${existing}" has no group "others"`);
  });
});

it('12,000 entries cost 12 pages and at most 6 other commands', async () => {
  // "which at 12,000 entries costs 12 round trips every 15 seconds and nothing else"
  const stream = await ownStream(redis);
  await fill(redis, stream, 'render_tickets', 12_000, 1);
  const client = counting(redis);
  const reading = await new StreamSource({ client, stream, group: 'workers' }).read();
  expect(reading.kinds[0]?.depth).toBe(12_000);
  expect(client.commands.filter((command) => command === 'XRANGE')).toHaveLength(12);
  expect(client.commands.filter((command) => command !== 'XRANGE').length).toBeLessThanOrEqual(6);
});

it('what arrives while it counts belongs to the next reading', async () => {
  const stream = await ownStream(redis);
  await fill(redis, stream, 'a', 1000, 1);
  const source = new StreamSource({
    client: {
      async call(command, ...args) {
        if (command === 'XRANGE') await redis.xadd(stream, '*', 'kind', 'late');
        return redis.call(command, ...args);
      },
    },
    stream,
    group: 'workers',
  });
  expect((await source.read()).kinds.map(({ kind, depth }) => [kind, depth])).toEqual([['a', 1000]]);
});

it('what is delivered while it counts is not counted twice', async () => {
  const stream = await ownStream(redis);
  await fill(redis, stream, 'a', 1500, 1);
  await redis.xreadgroup('GROUP', 'workers', 'one', 'COUNT', 10, 'STREAMS', stream, '>');
  const source = new StreamSource({
    client: {
      async call(command, ...args) {
        if (command === 'XPENDING')
          await redis.xreadgroup('GROUP', 'workers', 'one', 'COUNT', 500, 'STREAMS', stream, '>');
        return redis.call(command, ...args);
      },
    },
    stream,
    group: 'workers',
  });
  expect((await source.read()).kinds).toEqual([expect.objectContaining({ depth: 1500, held: 10 })]);
});

it('ten thousand kinds are ten thousand numbers', async () => {
  const stream = await ownStream(redis);
  await redis.eval(
    `for i = 1, 10000 do redis.call('XADD', KEYS[1], '*', 'kind', 'kind-' .. i) end`,
    1,
    stream,
  );
  const { kinds } = await new StreamSource({ client: redis, stream, group: 'workers' }).read();
  expect(kinds).toHaveLength(10_000);
  expect(new Set(kinds.map(({ depth }) => depth))).toEqual(new Set([1]));
});

it('reads over a client that pipelines by itself, and over one that others use meanwhile', async () => {
  const stream = await ownStream(redis);
  await fill(redis, stream, 'a', 2500, 1);
  const client = new Redis(process.env['REDIS_URL'] ?? '', { enableAutoPipelining: true });
  const source = new StreamSource({ client, stream, group: 'workers' });
  const [one, two] = await Promise.all([source.read(), source.read(), client.get('x'), client.strlen('y')]);
  expect([one.kinds[0]?.depth, two.kinds[0]?.depth]).toEqual([2500, 2500]);
  client.disconnect();
});

it('a server that goes away in the middle of paging is an error', async () => {
  const stream = await ownStream(redis);
  await fill(redis, stream, 'a', 5000, 1);
  const doomed = ioredis();
  let pages = 0;
  const source = new StreamSource({
    client: {
      call(command, ...args) {
        if (command === 'XRANGE' && ++pages === 3) doomed.disconnect();
        return doomed.call(command, ...args);
      },
    },
    stream,
    group: 'workers',
  });
  await expect(source.read()).rejects.toThrow(/closed/i);
});

it('a reading that is ended rejects, and asks for no more', async () => {
  const stream = await ownStream(redis);
  await fill(redis, stream, 'a', 5000, 1);
  const client = counting(redis);
  const ending = new AbortController();
  const source = new StreamSource({
    client: {
      call(command, ...args) {
        if (command === 'XRANGE') ending.abort();
        return client.call(command, ...args);
      },
    },
    stream,
    group: 'workers',
  });
  await expect(source.read(ending.signal)).rejects.toThrow(AbortedError);
  expect(client.commands.filter((command) => command === 'XRANGE')).toHaveLength(1);
});

it.for([
  [{ client: {} }, 'client must be a client of ioredis'],
  [{ stream: '' }, 'stream must be text that is not empty, not ""'],
  [{ count: 'both' }, 'count must be client or server, not "both"'],
  [{ streams: 'x' }, 'StreamSource has no option "streams"'],
] as const)('refuses %o', ([wrong, words]) => {
  const options = { client: redis, stream: 's', group: 'g', ...wrong } as unknown as ConstructorParameters<
    typeof StreamSource
  >[0];
  expect(() => new StreamSource(options)).toThrow(words);
});
