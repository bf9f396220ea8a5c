import type { Redis } from 'ioredis';
import { beforeAll, expect, it } from 'vitest';
import { type RedisClient, StreamSource } from '../src/index.ts';
import { redisCall } from '../src/redis-calls.ts';
import { fill, ioredis, nodeRedis, ownStream } from './redis.ts';

let redis: Redis;
beforeAll(() => {
  redis = ioredis();
});

// Six commands take the picture, three pages are read, and one asks for what is in work.
const MOMENTS = [1, 2, 3, 5, 6, 7, 8, 9, 10];

it.for<[string, () => RedisClient | Promise<RedisClient>]>([
  ['ioredis', ioredis],
  ['redis', () => nodeRedis()],
])('a connection that is cut in the middle of a reading never makes it wrong: %s', async ([, connect]) => {
  const stream = await ownStream(redis);
  await fill(redis, stream, 'a', 3000, 1);
  await redis.xreadgroup('GROUP', 'workers', 'one', 'COUNT', 300, 'STREAMS', stream, '>');
  const call = redisCall(await connect());
  for (const moment of MOMENTS) {
    const id = String(await call('CLIENT', 'ID'));
    let calls = 0;
    const source = new StreamSource({
      client: {
        call(command, ...args) {
          calls += 1;
          if (calls === moment) redis.call('CLIENT', 'KILL', 'ID', id).catch(() => {});
          return call(command, ...args);
        },
      },
      stream,
      group: 'workers',
    });
    const reading = await source.read().catch(() => undefined);
    // An error is an answer.
    if (reading !== undefined)
      expect(reading.kinds).toEqual([expect.objectContaining({ depth: 3000, held: 300 })]);
  }
  const after = new StreamSource({ client: { call }, stream, group: 'workers' });
  expect((await after.read()).kinds[0]?.depth).toBe(3000);
});
