import { Metrics } from '@acemq/observe';
import { consumeAcemq, openAcemq, publishBatch, publishEach } from './acemq.ts';
import { cpuTimePerMessage } from './cpu-time.ts';
import { consumeRaw, openRaw, publishRaw } from './raw.ts';
import { onQueueOfItsOwn } from './stage.ts';
import { type Measurement, type Task, WARM_UP } from './workload.ts';

/** Measures one side at one job, in this process. */
export function measureBesideRaw(task: Task): Promise<Measurement> {
  return onQueueOfItsOwn(task.url, async (queue, stage) => {
    const work = await prepare(task, queue);
    const fill = await stage.createConfirmChannel();
    if (task.job === 'consume') await publishRaw(fill, queue, WARM_UP, true);
    await work(WARM_UP);
    if (task.job === 'publish') await fill.purgeQueue(queue);
    else await publishRaw(fill, queue, task.messages, true);
    return { microseconds: await cpuTimePerMessage(task.messages, () => work(task.messages)) };
  });
}

/** What is measured, as a function of how many messages. */
async function prepare(
  { side, job, url }: Task,
  queue: string,
): Promise<(messages: number) => Promise<void>> {
  if (side.startsWith('acemq')) {
    const mq = await openAcemq(url, side === 'acemq-metrics' ? new Metrics() : undefined);
    if (job === 'consume') return (messages) => consumeAcemq(mq, queue, messages);
    const publish = side === 'acemq-send' ? publishEach : publishBatch;
    return (messages) => publish(mq, queue, messages);
  }
  const connection = await openRaw(url);
  if (job === 'publish') {
    const channel = await connection.createConfirmChannel();
    return (messages) => publishRaw(channel, queue, messages, side !== 'headerless');
  }
  return async (messages) => {
    const channel = await connection.createChannel();
    await consumeRaw(channel, queue, messages);
    await channel.close();
  };
}
