import type { Redis } from 'ioredis';
import { beforeAll, expect, it } from 'vitest';
import { type RedisCaller, StreamSource } from '../src/index.ts';
import { StreamThroughput } from '../src/stream-throughput.ts';
import { fill, ioredis, ownStream } from './redis.ts';

let redis: Redis;
beforeAll(() => {
  redis = ioredis();
});

/** Passes on what is asked, and does something after the answer to the nth command, before anybody sees that answer. */
function doingAfter(count: { left: number }, deed: () => Promise<unknown>): RedisCaller {
  return {
    async call(command, ...args) {
      const answer = await redis.call(command, ...args);
      count.left -= 1;
      if (count.left === 0) await deed();
      return answer;
    },
  };
}

/** The readings, and how many commands the first two took, when a job is given up after command `at` of reading `of`. */
async function watched(of: number, at: number): Promise<{ completed: unknown[]; commands: number }> {
  const stream = await ownStream(redis);
  await fill(redis, stream, 'a', 20, Date.now() - 1000);
  const [[, [[id]]]] = (await redis.xreadgroup(
    ...(['GROUP', 'workers', 'one', 'COUNT', 1, 'STREAMS', stream, '>'] as const),
  )) as [[string, [[string]]]];
  const count = { left: 0 };
  const client = doingAfter(count, () =>
    redis.multi().xadd(`${stream}:dead`, '*', 'kind', 'a').xack(stream, 'workers', id).exec(),
  );
  const source = new StreamThroughput(
    new StreamSource({ client, stream, group: 'workers' }),
    client,
    stream,
    `${stream}:dead`,
    'kind',
  );
  const completed: unknown[] = [];
  let commands = 0;
  for (let reading = 1; reading <= 3; reading++) {
    if (reading === of) count.left = at;
    const before = count.left;
    const [kind] = (await source.read()).kinds;
    if (reading === of) commands = before - count.left;
    completed.push(kind?.completed);
  }
  return { completed, commands };
}

it.for([1, 2])('a job given up at any moment of reading %i is never counted as completed', async (of) => {
  const { commands } = await watched(of, 0);
  expect(commands).toBeGreaterThan(5);
  for (let at = 1; at <= commands; at++) {
    expect((await watched(of, at)).completed, `after command ${at}`).toEqual([0, 0, 0]);
  }
});
