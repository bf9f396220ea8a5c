import type { Connection } from '@acemq/amqp';
import type { TopologyBuilder } from '@acemq/core';
import { messageOf } from './message-of.ts';

/**
 * Deletes every queue of a topology. The exchanges stay: `acemq.retry` and `acemq.dlx` belong to every service of the
 * broker. Never rejects; `say` is told what could not be removed.
 */
export async function removeQueues(
  mq: Connection,
  { topology }: { readonly topology: TopologyBuilder },
  say: (text: string) => void,
): Promise<void> {
  const names = topology.plan().queues.map((queue) => queue.name);
  try {
    for (const name of names) await mq.deleteQueue(name);
  } catch (error) {
    say(`these queues could not all be removed: ${names.join(', ')} (${messageOf(error)})`);
  }
}
