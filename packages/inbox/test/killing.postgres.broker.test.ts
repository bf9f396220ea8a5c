import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Connection, connect } from '@acemq/amqp';
import { deadLetterQueueName, fixed, parkedQueueName, topology } from '@acemq/core';
import { type BundledProgram, bundled } from '@acemq/fault-node/bundled-program';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { postgresInbox } from '../src/pg.ts';
import type { Form, Step } from './killed-worker.ts';
import { ownName } from './messages.ts';

const table = ownName('killed');
const PATIENCE = { timeout: 20_000, interval: 50 };

let pool: pg.Pool;
let mq: Connection;
let program: BundledProgram;
const workers: ChildProcess[] = [];
const queues: string[] = [];

beforeAll(async () => {
  pool = new pg.Pool({ connectionString: process.env['POSTGRES_URL'] });
  const inbox = postgresInbox(pool, { table, cleanEvery: false });
  await inbox.migrate();
  await inbox.close();
  await pool.query(`create table ${table}_effects (id text not null, pid integer not null)`);
  mq = await connect(process.env['AMQP_URL'] ?? '', { name: 'inbox tests' });
  program = await bundled(new URL('killed-worker.ts', import.meta.url), {
    external: ['pg'],
    within: new URL('../', import.meta.url),
  });
}, 60_000);

afterEach(() => {
  for (const worker of workers.splice(0)) worker.kill('SIGKILL');
});

afterAll(async () => {
  for (const queue of queues) {
    for (const one of [queue, deadLetterQueueName(queue), parkedQueueName(queue)]) await mq.deleteQueue(one);
  }
  await mq.close();
  await pool.query(`drop table ${table}, ${table}_effects, ${table}_migrations`);
  await pool.end();
  await program?.remove();
});

async function newQueue(): Promise<string> {
  const queue = ownName('q');
  queues.push(queue);
  await mq.declare(topology().queue(queue, { retry: fixed(20, '50ms') }));
  return queue;
}

/** Starts a worker, and waits until it says the word. */
async function worker(queue: string, form: Form, step: Step): Promise<ChildProcess> {
  const child = spawn(process.execPath, [program.file, queue, table, form, step], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  workers.push(child);
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await vi.waitFor(() => expect(said).toContain(step === 'never' ? 'consuming' : 'held'), PATIENCE);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  expect(await exited).toEqual([null, 'SIGKILL']);
}

const effectsOf = async (id: string): Promise<number> =>
  (await pool.query(`select id from ${table}_effects where id = $1`, [id])).rows.length;

/** What the table says of the message. */
async function stateOf(queue: string, id: string): Promise<'nothing' | 'claimed' | 'confirmed'> {
  const { rows } = await pool.query(`select owner from ${table} where scope = $1 and message_id = $2`, [
    queue,
    id,
  ]);
  if (rows.length === 0) return 'nothing';
  return rows[0].owner === null ? 'confirmed' : 'claimed';
}

async function waitUntilEmpty(queue: string): Promise<void> {
  await vi.waitFor(async () => expect(await mq.messageCount(queue)).toBe(0), PATIENCE);
}

test.each<[Step, Form, Awaited<ReturnType<typeof stateOf>>, number, number]>([
  // Killed at, form: what the table says then, effects then, effects in the end.
  ['claimed', 'beside the work', 'claimed', 0, 1],
  ['worked', 'beside the work', 'claimed', 1, 2], // The gap that only one transaction closes.
  ['done', 'beside the work', 'confirmed', 1, 1],
  ['claimed', 'in one transaction', 'nothing', 0, 1],
  ['worked', 'in one transaction', 'nothing', 0, 1],
  ['done', 'in one transaction', 'confirmed', 1, 1],
])(
  'a consumer killed when it has %s, with its claim %s: the table says %s, there are %d effects, and %d in the end',
  { timeout: 60_000 },
  async (step, form, state, then, end) => {
    const queue = await newQueue();
    const { id } = await mq.publisher({ routingKey: queue }).send({ order: 'o-1' });
    const first = await worker(queue, form, step);
    expect(await stateOf(queue, id)).toBe(state);
    expect(await effectsOf(id)).toBe(then);
    await kill(first);
    await worker(queue, form, 'never');
    await vi.waitFor(async () => expect(await stateOf(queue, id)).toBe('confirmed'), PATIENCE);
    await waitUntilEmpty(queue);
    expect(await effectsOf(id)).toBe(end);
  },
);

test('a consumer killed five times under load, with every message sent twice, makes one effect each', {
  timeout: 120_000,
}, async () => {
  const queue = await newQueue();
  const ids = Array.from({ length: 300 }, (_, index) => `${queue}-${index}`);
  const publisher = mq.publisher({ routingKey: queue });
  await Promise.all([...ids, ...ids].map((id) => publisher.send({}, { id })));
  const count = async (): Promise<number> =>
    Number(
      (await pool.query(`select count(*) as n from ${table}_effects where id like $1`, [`${queue}-%`]))
        .rows[0].n,
    );
  for (let kills = 1; kills <= 5; kills += 1) {
    const child = await worker(queue, 'in one transaction', 'never');
    await vi.waitFor(async () => expect(await count()).toBeGreaterThanOrEqual(kills * 40), {
      ...PATIENCE,
      interval: 1 + Math.random() * 5,
    });
    await kill(child);
  }
  await worker(queue, 'in one transaction', 'never');
  await vi.waitFor(async () => expect(await count()).toBe(300), PATIENCE);
  await waitUntilEmpty(queue);
  const { rows } = await pool.query(`select id from ${table}_effects where id like $1 group by id`, [
    `${queue}-%`,
  ]);
  expect(rows).toHaveLength(300);
  expect(await count()).toBe(300);
});
