import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type RedisClient, StreamSource } from '@acemq/backlog';
import { Redis } from 'ioredis';
import { createClient } from 'redis';

/**
 * What one reading of a Redis stream costs: the CPU of this process, the time until it is there, the heap above an empty
 * reading, the longest pause of the event loop. For both clients, and for counting inside Redis.
 *
 * usage: node dist/backlog.js [rounds]     REDIS_URL says which Redis
 */
const url = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379';
const rounds = Math.max(1, Number(process.argv[2] ?? 3));
const SIZES = [0, 12_000, 500_000, 1_000_000] as const;
const PENDING = 12_000;

interface Cost {
  readonly cpu: number;
  readonly wall: number;
  readonly heap: number;
  readonly pause: number;
}

const ioredis = new Redis(url);
const nodeRedis = createClient({ url });
await nodeRedis.connect();
const streams = new Map<string, string>();
try {
  for (const size of SIZES) streams.set(`${size} not delivered`, await filled(size, false));
  streams.set(`${PENDING} in work`, await filled(PENDING, true));
  const sides: readonly (readonly [string, RedisClient, 'client' | 'server'])[] = [
    ['ioredis', ioredis, 'client'],
    ['redis', nodeRedis, 'client'],
    ['ioredis, count: server', ioredis, 'server'],
  ];
  console.log(`One reading, median of ${rounds} rounds, Node ${process.version}\n`);
  for (const [side, client, count] of sides) {
    console.log(
      `${side.padEnd(24)}${'CPU ms'.padStart(10)}${'wall ms'.padStart(10)}${'heap MB'.padStart(10)}${'pause ms'.padStart(10)}`,
    );
    let empty = 0;
    for (const [name, stream] of streams) {
      const costs: Cost[] = [];
      for (let round = 0; round < rounds; round += 1) costs.push(await costOf(client, stream, count));
      const median = (of: keyof Cost): number =>
        costs.map((cost) => cost[of]).sort((a, b) => a - b)[Math.floor(costs.length / 2)] ?? 0;
      if (name.startsWith('0 ')) empty = median('heap');
      const cells = [median('cpu'), median('wall'), (median('heap') - empty) / 2 ** 20, median('pause')];
      console.log(`  ${name.padEnd(22)}${cells.map((cell) => cell.toFixed(0).padStart(10)).join('')}`);
    }
    console.log('');
  }
} finally {
  await ioredis.del(...streams.values());
  ioredis.disconnect();
  nodeRedis.destroy();
}

/** A stream with so many entries and a group that was given none of them, or all. */
async function filled(entries: number, delivered: boolean): Promise<string> {
  const stream = `backlog-bench-${randomUUID()}`;
  await ioredis.xgroup('CREATE', stream, 'workers', '0', 'MKSTREAM');
  const chunk = 50_000;
  for (let at = 0; at < entries; at += chunk) {
    await ioredis.eval(
      `for i = 1, ARGV[1] do redis.call('XADD', KEYS[1], '*', 'kind', 'render_tickets', 'order', '4711') end`,
      1,
      stream,
      Math.min(chunk, entries - at),
    );
  }
  if (delivered) {
    await ioredis.xreadgroup('GROUP', 'workers', 'one', 'COUNT', entries, 'STREAMS', stream, '>');
  }
  return stream;
}

async function costOf(client: RedisClient, stream: string, count: 'client' | 'server'): Promise<Cost> {
  const source = new StreamSource({ client, stream, group: 'workers', count });
  let heap = 0;
  const sampling = setInterval(() => {
    heap = Math.max(heap, process.memoryUsage().heapUsed);
  }, 10);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const began = performance.now();
  const before = process.cpuUsage();
  await source.read();
  const { user, system } = process.cpuUsage(before);
  const wall = performance.now() - began;
  delay.disable();
  clearInterval(sampling);
  heap = Math.max(heap, process.memoryUsage().heapUsed);
  return { cpu: (user + system) / 1000, wall, heap, pause: Math.max(0, delay.max / 1e6 - 5) };
}
