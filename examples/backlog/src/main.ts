import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { DONE, NOT_BEGUN, WRONG } from './exit-codes.ts';
import { night } from './night.ts';
import { HEADING, line, outcome } from './report.ts';

const USAGE = `Usage: backlog [--scale N]

Runs the second sale on a Redis stream: 3,000 renders in 10 minutes, of 4 s each, on one
worker of 8 threads; two more are started when the oldest job has been older than a minute
for a minute.

  --scale N   so many seconds of the night take one second (30)

REDIS_URL says where Redis is; else it is redis://127.0.0.1:6379.
`;

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(USAGE);
    return DONE;
  }
  const scale = args.length === 0 ? 30 : args.length === 2 && args[0] === '--scale' ? Number(args[1]) : 0;
  if (!(scale >= 1 && scale <= 60)) {
    process.stderr.write(`backlog: --scale must be a number from 1 to 60\n\n${USAGE}`);
    return NOT_BEGUN;
  }
  const redis = new Redis(process.env['REDIS_URL'] || 'redis://127.0.0.1:6379', {
    lazyConnect: true,
    retryStrategy: () => null,
  });
  redis.on('error', () => {});
  try {
    await redis.connect();
  } catch (error) {
    process.stderr.write(`backlog: Redis cannot be reached: ${error}\n`);
    return NOT_BEGUN;
  }
  const stopping = new AbortController();
  process.once('SIGINT', () => stopping.abort());
  process.once('SIGTERM', () => stopping.abort());
  try {
    process.stdout.write(HEADING);
    const panels = await night({
      redis,
      stream: `jobs-${randomUUID()}`,
      scale,
      show: (panel) => process.stdout.write(line(panel)),
      signal: stopping.signal,
    });
    const { text, isRight } = outcome(panels);
    process.stdout.write(`\n${text}`);
    return isRight ? DONE : WRONG;
  } finally {
    redis.disconnect();
  }
}

process.exitCode = await main(process.argv.slice(2));
