import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, it, onTestFinished, vi } from 'vitest';
import { enqueue, StreamSource, StreamWorker } from '../src/index.ts';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A Redis of the test's own, which writes what it holds to disk, and can be killed and started again. */
async function ownRedis(): Promise<{ readonly port: number; kill(): Promise<void>; start(): void }> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'backlog-redis-'));
  let server: ChildProcess;
  const start = (): void => {
    const settings = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
    server = spawn('redis-server', [...settings, '--appendonly', 'yes', '--appendfsync', 'always']);
  };
  const kill = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const gone = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await gone;
  };
  start();
  onTestFinished(async () => {
    await kill();
    rmSync(folder, { recursive: true });
  });
  return { port, kill, start };
}

it('a server that is killed under a worker and a producer loses no job and repeats only what was at work', {
  timeout: 60_000,
}, async () => {
  const server = await ownRedis();
  const connect = (): Redis => {
    const client = new Redis(server.port, '127.0.0.1', { maxRetriesPerRequest: null });
    client.on('error', () => {});
    onTestFinished(() => client.disconnect());
    return client;
  };
  const client = connect();
  const stream = 'jobs';
  const worked = new Map<string, number>();
  const worker = new StreamWorker({
    client,
    blockingClient: connect(),
    stream,
    group: 'workers',
    consumer: 'one',
    reclaimAfter: '1s',
    handlers: {
      a: async ({ id }) => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        worked.set(id, (worked.get(id) ?? 0) + 1);
      },
    },
    logger: { info: () => {}, warn: () => {} },
  });
  await worker.start();
  const ids: string[] = [];
  for (let made = 0; made < 600; made++) {
    if (made === 300) {
      await server.kill();
      setTimeout(() => server.start(), 500);
    }
    ids.push(await enqueue({ client, stream, kind: 'a' }));
  }
  await vi.waitFor(() => expect(ids.filter((id) => !worked.has(id))).toEqual([]), 30_000);
  const repeated = [...worked.values()].filter((times) => times > 1).length;
  expect(repeated).toBeLessThanOrEqual(11);
  const source = new StreamSource({ client, stream, group: 'workers' });
  await vi.waitFor(async () => expect((await source.read()).kinds).toEqual([]), 10_000);
  await worker.close();
});
