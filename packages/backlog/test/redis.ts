import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll } from 'vitest';
import type { RedisCaller, RedisClient } from '../src/index.ts';

const url = (): string => process.env['REDIS_URL'] ?? '';

const ended: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

/** A connection of ioredis. */
export function ioredis(): Redis {
  const client = new Redis(url());
  client.on('error', () => {});
  ended.push(async () => client.disconnect());
  return client;
}

/** A connection of node-redis. */
export async function nodeRedis(RESP: 2 | 3 = 2): Promise<RedisClient> {
  const client = createClient({ url: url(), RESP });
  client.on('error', () => {});
  await client.connect();
  ended.push(async () => {
    if (client.isOpen) client.destroy();
  });
  return client;
}

/** A stream of one's own, with its dead stream and a group `workers`; both are removed at the end. */
export async function ownStream(redis: Redis): Promise<string> {
  const stream = `backlog-test-${randomUUID()}`;
  await redis.xgroup('CREATE', stream, 'workers', '0', 'MKSTREAM');
  ended.push(() => redis.del(stream, `${stream}:dead`));
  return stream;
}

/** Adds entries with these ids `first … first + count - 1` (as `<ms>-0`), all of one kind. */
export async function fill(
  redis: Redis,
  stream: string,
  kind: string,
  count: number,
  first: number,
): Promise<void> {
  const script = `for i = 0, ARGV[2] - 1 do
    redis.call('XADD', KEYS[1], string.format('%.0f-0', ARGV[3] + i), 'kind', ARGV[1], 'order', '4711')
  end`;
  const chunk = 50_000;
  for (let at = 0; at < count; at += chunk) {
    await redis.eval(script, 1, stream, kind, Math.min(chunk, count - at), first + at);
  }
}

/** A client that keeps the names of the commands that it was asked for. */
export function counting(client: Redis): RedisCaller & { readonly commands: string[] } {
  const commands: string[] = [];
  return {
    commands,
    call(command, ...args) {
      commands.push(command);
      return client.call(command, ...args);
    },
  };
}
