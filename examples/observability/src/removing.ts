import type { Connection } from '@acemq/amqp';
import { DEAD_LETTER_EXCHANGE, RETRY_EXCHANGE } from '@acemq/core';
import type { Names } from './names.ts';

/** Removes what the run declared; the two exchanges that all services share stay. */
export async function removeAll(mq: Connection, { topology }: Names): Promise<void> {
  const { queues, exchanges } = topology.plan();
  for (const { name } of queues) await mq.deleteQueue(name);
  for (const { name } of exchanges) {
    if (name !== DEAD_LETTER_EXCHANGE && name !== RETRY_EXCHANGE) await mq.deleteExchange(name);
  }
}
