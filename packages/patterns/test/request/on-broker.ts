import { randomUUID } from 'node:crypto';
import { type Connection, type ConnectOptions, connect } from '@acemq/amqp';
import { deadLetterQueueName, parkedQueueName, topology } from '@acemq/core';
import { onTestFinished } from 'vitest';
import { SILENT } from './setting.ts';

/** Where RabbitMQ is. */
export const amqpUrl = (): string => process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';

/** A connection that is closed when the test ends. */
export async function onBroker(options: ConnectOptions = {}, url: string = amqpUrl()): Promise<Connection> {
  const mq = await connect(url, { logger: SILENT, reconnect: { initial: 10, max: 100 }, ...options });
  onTestFinished(async () => {
    await mq.close({ timeout: 0 });
  });
  return mq;
}

/** A queue of this test's own, which is deleted with its companions when the test ends. */
export async function queueOn(mq: Connection, type: 'classic' | 'quorum' = 'quorum'): Promise<string> {
  const queue = `sums-${randomUUID().slice(0, 8)}`;
  await mq.declare(topology().queue(queue, { type }));
  deleteLater(mq, queue);
  return queue;
}

/** Deletes a queue and its companions when the test ends. */
export function deleteLater(mq: Connection, queue: string): void {
  onTestFinished(async () => {
    for (const name of [queue, deadLetterQueueName(queue), parkedQueueName(queue)])
      await mq.deleteQueue(name);
  });
}
