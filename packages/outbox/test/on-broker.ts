import { randomUUID } from 'node:crypto';
import { type Connection, type ConnectOptions, connect } from '@acemq/amqp';
import { accept, deadLetterQueueName, parkedQueueName, topology } from '@acemq/core';
import { onTestFinished } from 'vitest';
import { SILENT } from './recorder.ts';

/** How long a test waits for what must come, where two busy cores are all there is. */
export const PATIENCE = { timeout: 15_000, interval: 20 } as const;

/** A connection that is closed when the test ends. */
export async function onBroker(
  options: ConnectOptions = {},
  url: string = process.env['AMQP_URL'] ?? '',
): Promise<Connection> {
  const mq = await connect(url, { logger: SILENT, reconnect: { initial: 10, max: 100 }, ...options });
  onTestFinished(async () => {
    await mq.close({ timeout: 0 });
  });
  return mq;
}

/** The name of a queue of this test's own. */
export function queueName(): string {
  return `outbox-${randomUUID().slice(0, 8)}`;
}

/** A durable queue; it is deleted when the test ends. */
export async function queueOn(mq: Connection, name: string = queueName()): Promise<string> {
  await mq.declare(topology().queue(name, { type: 'classic' }));
  return name;
}

/** One delivery. */
export interface Seen {
  readonly id: string;
  readonly body: string;
}

/** Keeps what arrives in a queue, in order. */
export async function seenIn(mq: Connection, queue: string): Promise<Seen[]> {
  const seen: Seen[] = [];
  // A consumer declares them, whether something is set aside or not.
  onTestFinished(async () => {
    for (const name of [queue, deadLetterQueueName(queue), parkedQueueName(queue)])
      await mq.deleteQueue(name);
  });
  await mq.consume(
    queue,
    ({ envelope, payload }) => {
      seen.push({ id: envelope.id, body: JSON.stringify(payload) });
      return accept();
    },
    { prefetch: 500 },
  );
  return seen;
}

/** The ids with repeats left out. */
export function firstOf(seen: readonly Seen[]): string[] {
  return [...new Set(seen.map(({ id }) => id))];
}
