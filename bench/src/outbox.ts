import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '@acemq/amqp';
import { topology } from '@acemq/core';
import { type OutboxRecord, OutboxRelay, record } from '@acemq/outbox';
import { PgOutboxStore } from '@acemq/outbox/pg';
import { type ConfirmChannel, connect as connectRaw } from 'amqplib';
import pg from 'pg';

/**
 * Compares one relay on PostgreSQL with raw confirmed, persistent, mandatory publishing (amqplib, 500 outstanding) of the
 * same bodies and headers into the same queue, and times an idle outbox from the return of COMMIT to the broker's confirm.
 * Medians of the rounds; raw is run twice a round, and how far its two figures lie apart is the noise floor.
 *
 * usage: node dist/outbox.js [records] [rounds]     AMQP_URL and POSTGRES_URL say where
 */
const amqp = process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';
const postgres = process.env['POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test';
const records = Number(process.argv[2] ?? 20_000);
const rounds = Number(process.argv[3] ?? 5);
const OUTSTANDING = 500;
/** With one record out at a time it takes long. */
const IN_STRICT_ORDER = 2000;
const table = `bench_outbox_${process.pid}`;

const pool = new pg.Pool({ connectionString: postgres });
pool.on('error', () => {});
const mq = await connect(amqp, { name: 'bench' });
const store = new PgOutboxStore(pool, { table });
await store.migrate();
const raw = await connectRaw(amqp);

for (const type of ['quorum', 'classic'] as const) {
  for (const destinations of [1, 100]) await compare(type, destinations);
}
await latency();

await pool.query(
  `drop table ${['', '_lanes', '_relays', '_rests', '_migrations'].map((end) => table + end).join(', ')}`,
);
await mq.close();
await raw.close();
await pool.end();

async function compare(type: 'quorum' | 'classic', destinations: number): Promise<void> {
  const queue = `bench-outbox-${randomUUID().slice(0, 8)}`;
  const exchange = `${queue}.events`;
  await mq.declare(topology().exchange(exchange, 'topic').queue(queue, { type }).bind(queue, exchange, '#'));
  const samples: Record<'raw' | 'again' | 'relay' | 'strict', number[]> = {
    raw: [],
    again: [],
    relay: [],
    strict: [],
  };
  for (let round = 0; round < rounds; round += 1) {
    const made = Array.from({ length: records }, (_, index) =>
      record(mq, {
        exchange,
        routingKey: `key.${index % destinations}`,
        payload: { number: index, text: 'x'.repeat(200) },
      }),
    );
    for (const side of ['raw', 'again'] as const) {
      const channel = await raw.createConfirmChannel();
      samples[side].push(await rate(() => publishAll(channel, made)));
      await channel.close();
      await purge(queue);
    }
    samples.relay.push(await relayRate(made, false));
    await purge(queue);
    if (destinations === 1) samples.strict.push(await relayRate(made.slice(0, IN_STRICT_ORDER), true));
    await purge(queue);
  }
  const [first, again, ours] = [median(samples.raw), median(samples.again), median(samples.relay)];
  console.log(
    `${type.padEnd(8)} ${String(destinations).padStart(3)} destinations: raw ${first.toFixed(0)}/s (again ${again.toFixed(0)}/s), relay ${ours.toFixed(0)}/s, ${(ours / Math.max(first, again)).toFixed(2)} of raw`,
  );
  if (samples.strict.length > 0)
    console.log(`${''.padEnd(8)} in strict order: ${median(samples.strict).toFixed(0)}/s`);
  await mq.deleteQueue(queue);
  await mq.deleteExchange(exchange);
}

async function relayRate(made: readonly OutboxRecord[], strictOrder: boolean): Promise<number> {
  await pool.query(`truncate ${table}`);
  const client = await pool.connect();
  await client.query('begin');
  for (const one of made) await store.add(one, { tx: client });
  await client.query('commit');
  client.release();
  await pool.query(`analyze ${table}`);
  const relay = new OutboxRelay(mq, store, { keep: false, strictOrder });
  const measured = await rate(() => relay.sweep(), made.length);
  await relay.close();
  return measured;
}

async function purge(queue: string): Promise<void> {
  const channel = await raw.createChannel();
  await channel.purgeQueue(queue);
  await channel.close();
}

function publishAll(channel: ConfirmChannel, made: readonly OutboxRecord[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let next = 0;
    let confirmed = 0;
    const more = (): void => {
      while (next < made.length && next - confirmed < OUTSTANDING) {
        const one = made[next++] as OutboxRecord;
        const { body } = one;
        channel.publish(
          one.exchange,
          one.routingKey,
          Buffer.from(body.buffer, body.byteOffset, body.byteLength),
          {
            contentType: one.contentType,
            persistent: true,
            mandatory: true,
            messageId: one.id,
            headers: { ...one.headers },
          },
          (error) => {
            if (error) return reject(error);
            confirmed += 1;
            if (confirmed === made.length) resolve();
            else more();
          },
        );
      }
    };
    more();
  });
}

async function latency(): Promise<void> {
  const queue = `bench-outbox-${randomUUID().slice(0, 8)}`;
  await mq.declare(topology().queue(queue, { type: 'quorum' }));
  const confirmed = new Map<string, (at: number) => void>();
  const relay = new OutboxRelay(
    {
      publishRaw: async (exchange, routingKey, message) => {
        const answer = await mq.publishRaw(exchange, routingKey, message);
        confirmed.get(message.messageId ?? '')?.(performance.now());
        return answer;
      },
    },
    // Another store on the same table, as in another process: only NOTIFY wakes the relay.
    new PgOutboxStore(pool, { table }),
    { keep: false },
  );
  relay.start();
  await sleep(1000);
  const waits: number[] = [];
  const client = await pool.connect();
  for (let one = 0; one < 200; one += 1) {
    const made = record(mq, { routingKey: queue, payload: { number: one } });
    const answered = new Promise<number>((resolve) => confirmed.set(made.id, resolve));
    await client.query('begin');
    await store.add(made, { tx: client });
    await client.query('commit');
    const committed = performance.now();
    waits.push((await answered) - committed);
    await sleep(120);
  }
  client.release();
  await relay.close();
  const sorted = [...waits].sort((a, b) => a - b);
  console.log(
    `idle: COMMIT to confirm, 200 times: median ${median(waits).toFixed(1)} ms, 95% ${sorted[189]?.toFixed(1)} ms, most ${sorted.at(-1)?.toFixed(1)} ms`,
  );
  await mq.deleteQueue(queue);
}

async function rate(work: () => Promise<unknown>, count: number = records): Promise<number> {
  const began = performance.now();
  await work();
  return count / ((performance.now() - began) / 1000);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}
