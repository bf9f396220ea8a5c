import { type Connection, connect } from '@acemq/amqp';
import { accept, deadLetterQueueName, fixed, parkedQueueName, topology } from '@acemq/core';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { idempotent, idempotentTransaction, type SqlInbox } from '../src/index.ts';
import { postgresInbox } from '../src/pg.ts';
import { deferred } from './deferred.ts';
import { keepingLogger, ownName } from './messages.ts';

const PATIENCE = { timeout: 20_000, interval: 50 };
const table = ownName('consumed');
const exchange = ownName('events');
const queues: string[] = [];

let pool: pg.Pool;
let inbox: SqlInbox<pg.PoolClient>;
let mq: Connection;
/** What became of the deliveries of each queue. */
const outcomes: { readonly queue: string; readonly outcome: string }[] = [];
const settled = (queue: string, outcome: string): number =>
  outcomes.filter((one) => one.queue === queue && one.outcome === outcome).length;

beforeAll(async () => {
  pool = new pg.Pool({ connectionString: process.env['POSTGRES_URL'] });
  pool.on('error', () => undefined);
  inbox = postgresInbox(pool, { table, cleanEvery: false, logger: keepingLogger() });
  await inbox.migrate();
  await pool.query(`create table ${table}_effects (queue text not null, id text not null)`);
  mq = await connect(process.env['AMQP_URL'] ?? '', {
    name: 'inbox tests',
    logger: keepingLogger(),
  });
  mq.interceptConsume((context, next) => {
    context.whenSettled(({ outcome }) => outcomes.push({ queue: context.queue, outcome }));
    return next();
  });
});

afterAll(async () => {
  for (const queue of queues) {
    for (const one of [queue, deadLetterQueueName(queue), parkedQueueName(queue)]) await mq.deleteQueue(one);
  }
  await mq.deleteExchange(exchange);
  await mq.close();
  await inbox.close();
  await pool.query(`drop table ${table}, ${table}_effects, ${table}_migrations`);
  await pool.end();
});

async function newQueues(count: number): Promise<string[]> {
  const made = Array.from({ length: count }, () => ownName('q'));
  queues.push(...made);
  const all = topology().exchange(exchange, 'fanout');
  for (const queue of made) all.queue(queue, { retry: fixed(20, '50ms') }).bind(queue, exchange, '');
  await mq.declare(all);
  return made;
}

const effectsOf = async (queue: string): Promise<string[]> =>
  (await pool.query(`select id from ${table}_effects where queue = $1 order by id`, [queue])).rows.map(
    ({ id }) => id,
  );

test('two queues that each get a copy of an event, sent twice, have one effect each', {
  timeout: 60_000,
}, async () => {
  const both = await newQueues(2);
  const ids = Array.from({ length: 50 }, (_, index) => `event-${String(index).padStart(2, '0')}`);
  for (const queue of both) {
    const handler = idempotentTransaction(async (message, tx) => {
      await tx.connection.query(`insert into ${table}_effects values ($1, $2)`, [
        message.queue,
        message.envelope.id,
      ]);
      return accept();
    }, inbox);
    await mq.consume(queue, handler, { concurrency: 4, retry: fixed(20, '50ms') });
  }
  const events = mq.publisher({ exchange });
  await Promise.all([...ids, ...ids].map((id) => events.send({}, { id })));
  for (const queue of both) {
    await vi.waitFor(() => expect(settled(queue, 'acked')).toBe(100), PATIENCE);
    expect(await effectsOf(queue)).toEqual(ids);
  }
});

test('a repeat that comes while the first is at work comes back later, and spends no attempt', {
  timeout: 60_000,
}, async () => {
  const [queue = ''] = await newQueues(1);
  const [began, go] = [deferred(), deferred()];
  const attempts: number[] = [];
  let runs = 0;
  const once = idempotent(async () => {
    runs += 1;
    began.resolve();
    await go.promise;
    return accept();
  }, inbox);
  await mq.consume(
    queue,
    async (message) => {
      attempts.push(message.envelope.attempt);
      return once(message);
    },
    { concurrency: 2 },
  );
  const publisher = mq.publisher({ routingKey: queue });
  await publisher.send({}, { id: 'same' });
  await began.promise;
  await publisher.send({}, { id: 'same' });
  await vi.waitFor(() => expect(settled(queue, 'in_progress')).toBe(1), PATIENCE);
  go.resolve();
  await vi.waitFor(() => expect(settled(queue, 'acked')).toBe(2), PATIENCE);
  expect(runs).toBe(1);
  expect(attempts).toEqual([1, 1, 1]);
});

test('a database connection that is cut in the midst of the work is a retry, and the effect happens once', async () => {
  const [queue = ''] = await newQueues(1);
  const attempts: number[] = [];
  const handler = idempotentTransaction(async (message, tx) => {
    attempts.push(message.envelope.attempt);
    await tx.connection.query(`insert into ${table}_effects values ($1, $2)`, [
      message.queue,
      message.envelope.id,
    ]);
    if (message.envelope.attempt === 1) {
      const { rows } = await tx.connection.query('select pg_backend_pid() as pid');
      await pool.query('select pg_terminate_backend($1)', [rows[0].pid]);
    }
    return accept();
  }, inbox);
  await mq.consume(queue, handler, { retry: fixed(3, '50ms') });
  await mq.publisher({ routingKey: queue }).send({}, { id: 'cut' });
  await vi.waitFor(async () => expect(await effectsOf(queue)).toEqual(['cut']), PATIENCE);
  expect(attempts).toEqual([1, 2]);
});

test('a message without a usable key is dead-lettered at once', async () => {
  const [queue = ''] = await newQueues(1);
  const handler = idempotent(() => accept(), inbox, { key: () => '' });
  await mq.consume(queue, handler, { retry: fixed(3, '50ms') });
  await mq.publisher({ routingKey: queue }).send({});
  await vi.waitFor(async () => expect(await mq.messageCount(deadLetterQueueName(queue))).toBe(1), PATIENCE);
});
