import type { Redis } from 'ioredis';
import { beforeAll, expect, it, vi } from 'vitest';
import { main } from '../src/cli/main.ts';
import { fill, ioredis, ownStream } from './redis.ts';
import { surroundings } from './surroundings.ts';

let redis: Redis;
beforeAll(() => {
  redis = ioredis();
});

const env = (): Record<string, string | undefined> => ({ REDIS_URL: process.env['REDIS_URL'] });

it('watch shows the three numbers of each kind in 80 columns, and ends with 1 when a job is too old', async () => {
  const stream = await ownStream(redis);
  await fill(redis, stream, 'render_tickets', 300, Date.now() - 61_000);
  await fill(redis, stream, `a-kind-of-${'x'.repeat(40)}`, 2, Date.now());
  const around = surroundings(env());
  const code = await main(
    ['watch', '--stream', stream, '--group', 'workers', '--readings', '2', '--interval', '100ms'],
    around,
  );
  expect(code).toBe(1);
  const lines = around.out().split('\n');
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  expect(
    lines.filter((line) => /^render_tickets\s+300\s+█+\s+1m0[1-4]s\s+█+\s+(\?|0\/s\s+▁)$/.test(line)),
  ).toHaveLength(2);
  expect(around.out()).toContain('dead: 0   lag as Redis says: 302');
  expect(around.out()).toContain('nothing to say');
});

it('counts what is completed from outside, by kind, and not what was given up', async () => {
  const stream = await ownStream(redis);
  await fill(redis, stream, 'a', 20, Date.now() - 1000);
  const around = surroundings(env());
  const running = main(
    ['watch', '--stream', stream, '--group', 'workers', '--interval', '300ms', '--json'],
    around,
  );
  const said = (): { kinds: { kind: string; completed: number; depth: number }[]; shape?: string }[] =>
    around
      .out()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  await vi.waitFor(() => expect(said()).toHaveLength(1));
  const [[, entries]] = (await redis.xreadgroup(
    ...(['GROUP', 'workers', 'one', 'COUNT', 8, 'STREAMS', stream, '>'] as const),
  )) as [[string, [string][]]];
  await redis
    .multi()
    .xadd(`${stream}:dead`, '*', 'kind', 'a')
    .xack(stream, 'workers', ...entries.map(([id]) => id))
    .exec();
  await fill(redis, stream, 'b', 3, Date.now());
  await vi.waitFor(
    () =>
      expect(said().at(-1)?.kinds).toMatchObject([
        { kind: 'a', depth: 12, completed: 7, sentence: expect.stringContaining('given up') },
        { kind: 'b', depth: 3, completed: 0 },
      ]),
    5000,
  );
  around.interrupt();
  expect(await running).toBe(0);
});

it('ends with 2 when it cannot be read, and says why, without a password', async () => {
  const stream = await ownStream(redis);
  const url = 'redis://user:hush-hush@127.0.0.1:9';
  const around = surroundings({ REDIS_URL: url });
  expect(await main(['watch', '--stream', stream, '--group', 'workers', '--readings', '1'], around)).toBe(2);
  expect(around.err()).toContain('Redis cannot be reached');
  expect(around.err()).toContain('ECONNREFUSED');
  expect(around.err()).not.toContain('hush');
  const other = surroundings(env());
  expect(
    await main(['watch', '--stream', stream, '--group', 'none', '--readings', '1', '--json'], other),
  ).toBe(2);
  expect(JSON.parse(other.out())).toEqual({ error: expect.stringContaining('has no group "none"') });
});
