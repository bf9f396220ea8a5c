import { randomUUID } from 'node:crypto';
import { consumeAcemq, openAcemq, publishBatch, publishEach } from './acemq.ts';
import { consumeRaw, openRaw, publishRaw } from './raw.ts';
import type { Task } from './workload.ts';

/** Messages sent or consumed before the measurement, so that the code is compiled by then. */
const WARM_UP = 5_000;

const task = JSON.parse(process.argv[2] ?? '') as Task;
const queue = `acemq-bench-${randomUUID()}`;
const stage = await openRaw(task.url);
const admin = await stage.createConfirmChannel();
await admin.assertQueue(queue, { durable: true });
try {
  const work = await prepare();
  await work(WARM_UP);
  if (task.job === 'publish') await admin.purgeQueue(queue);
  else await publishRaw(admin, queue, task.messages, true);
  const before = process.cpuUsage();
  await work(task.messages);
  const { user, system } = process.cpuUsage(before);
  process.send?.({ microseconds: (user + system) / task.messages });
} finally {
  await admin.deleteQueue(queue);
  await stage.close();
}
process.exit(0);

/** What is measured, as a function of how many messages. */
async function prepare(): Promise<(messages: number) => Promise<void>> {
  const { side, job, url } = task;
  if (side.startsWith('acemq')) {
    const mq = await openAcemq(url, side === 'acemq-metrics');
    if (job === 'publish') {
      return (messages) =>
        side === 'acemq-send' ? publishEach(mq, queue, messages) : publishBatch(mq, queue, messages);
    }
    await publishRaw(admin, queue, WARM_UP, true);
    return async (messages) => {
      await consumeAcemq(mq, queue, messages);
      await Promise.all(mq.consumers.map((consumer) => consumer.close()));
    };
  }
  const connection = await openRaw(url);
  if (job === 'publish') {
    const channel = await connection.createConfirmChannel();
    return (messages) => publishRaw(channel, queue, messages, side !== 'headerless');
  }
  await publishRaw(admin, queue, WARM_UP, true);
  return async (messages) => {
    const channel = await connection.createChannel();
    await consumeRaw(channel, queue, messages);
    await channel.close();
  };
}
