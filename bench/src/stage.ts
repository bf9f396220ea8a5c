import { randomUUID } from 'node:crypto';
import type { ChannelModel } from 'amqplib';
import { openRaw } from './raw.ts';

/** Does some work with a durable queue that is there for it alone, over a connection that is not measured. */
export async function onQueueOfItsOwn<T>(
  url: string,
  work: (queue: string, stage: ChannelModel) => Promise<T>,
): Promise<T> {
  const queue = `acemq-bench-${randomUUID()}`;
  const stage = await openRaw(url);
  const admin = await stage.createChannel();
  await admin.assertQueue(queue, { durable: true });
  try {
    return await work(queue, stage);
  } finally {
    await admin.deleteQueue(queue);
    await stage.close();
  }
}
