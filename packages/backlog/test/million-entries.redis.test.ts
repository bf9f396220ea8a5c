import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { beforeAll, expect, it } from 'vitest';
import { type RedisClient, StreamSource } from '../src/index.ts';
import { fill, ioredis, nodeRedis, ownStream } from './redis.ts';

const MILLION = 1_000_000;

let redis: Redis;
let whole: string;
let half: string;
let empty: string;

beforeAll(async () => {
  redis = ioredis();
  [whole, half, empty] = await Promise.all([ownStream(redis), ownStream(redis), ownStream(redis)]);
  await fill(redis, whole, 'render_tickets', MILLION, 1);
  await fill(redis, half, 'render_tickets', MILLION / 2, 1);
}, 120_000);

interface Cost {
  readonly depth: number | null;
  /** Milliseconds of this process. */
  readonly cpu: number;
  /** Bytes, at the highest. */
  readonly heap: number;
  /** Milliseconds, the longest. */
  readonly pause: number;
}

async function costOf(client: RedisClient, stream: string): Promise<Cost> {
  const source = new StreamSource({ client, stream, group: 'workers' });
  let heap = 0;
  let reading = true;
  const delay = monitorEventLoopDelay({ resolution: 5 });
  const sampled = (async (): Promise<void> => {
    while (reading) {
      heap = Math.max(heap, process.memoryUsage().heapUsed);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  await nextTurn();
  delay.enable();
  const before = process.cpuUsage();
  const { kinds } = await source.read();
  const { user, system } = process.cpuUsage(before);
  delay.disable();
  reading = false;
  await sampled;
  return {
    depth: kinds[0]?.depth ?? 0,
    cpu: (user + system) / 1000,
    heap,
    // The histogram counts the whole time between two of its ticks, which are 5 ms apart.
    pause: delay.max / 1e6 - 5,
  };
}

it.for<[string, () => RedisClient | Promise<RedisClient>]>([
  ['ioredis', ioredis],
  ['redis', () => nodeRedis()],
])(
  'a million entries are read in linear time, in little memory, without a pause: %s',
  {
    timeout: 180_000,
  },
  async ([name, connect]) => {
    const client = await connect();
    await costOf(client, half);
    // Another process on this machine may spoil a turn: one of three must hold.
    for (let turn = 1; ; turn += 1) {
      const nothing = await costOf(client, empty);
      const some = await costOf(client, half);
      const all = await costOf(client, whole);
      const above = (all.heap - nothing.heap) / 2 ** 20;
      console.log(
        `${name}: a million entries took ${Math.round(all.cpu)} ms of CPU, half of them ${Math.round(some.cpu)} ms; ` +
          `${Math.round(above)} MB above an empty reading; longest pause ${Math.round(all.pause)} ms`,
      );
      expect([some.depth, all.depth]).toEqual([MILLION / 2, MILLION]);
      if (turn < 3 && (all.cpu / some.cpu > 2.2 || above >= 100 || all.pause >= 50)) continue;
      expect(all.cpu / some.cpu).toBeLessThanOrEqual(2.2);
      expect(above).toBeLessThan(100);
      expect(all.pause).toBeLessThan(50);
      return;
    }
  },
);
