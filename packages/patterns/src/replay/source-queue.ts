import { deadLetterQueueName, parkedQueueName } from '@acemq/core';

/** The queue whose `.dlq` or `.parked` this is; undefined where the name is of another kind. */
export function sourceQueueOf(queue: string): string | undefined {
  const source = queue.slice(0, Math.max(0, queue.lastIndexOf('.')));
  if (source === '') return undefined;
  return [deadLetterQueueName(source), parkedQueueName(source)].includes(queue) ? source : undefined;
}
