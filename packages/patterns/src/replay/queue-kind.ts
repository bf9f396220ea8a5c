import type { Connection } from '@acemq/amqp';
import { BrokerRefusedError, REPLY_NOT_FOUND, topology, UnsupportedError } from '@acemq/core';

/** What kind of queue it is; `unknown` where the broker does not say. */
export type QueueKind = 'classic' | 'quorum' | 'unknown';

/**
 * Tells the kind of a queue without changing it: one that is there is offered to the broker as a classic one, and the broker
 * names what it minds. It names one thing only, so that a queue with a length limit, say, stays unknown.
 *
 * Rejects with `BrokerRefusedError` (404) when it is not there, and with `UnsupportedError` for a stream, from which nothing
 * can be taken.
 */
export async function queueKind(mq: Connection, queue: string): Promise<QueueKind> {
  const plan = await mq.plan(topology().queue(queue, { type: 'classic' }));
  const [item] = plan.items;
  if (item?.state === 'create') {
    throw new BrokerRefusedError(REPLY_NOT_FOUND, `NOT_FOUND - no queue '${queue}'`, {
      what: 'there is nothing to read',
    });
  }
  if (item?.state === 'present') return 'classic';
  const type = item?.differences.find(({ argument }) => argument === 'x-queue-type')?.found;
  if (type === 'stream') {
    throw new UnsupportedError(
      `${JSON.stringify(queue)} is a stream: its messages can be read, and not taken out`,
    );
  }
  return type === 'quorum' ? 'quorum' : 'unknown';
}

/** What a message itself shows: only a quorum queue counts how often it came back. */
export function isOfQuorum(headers: Readonly<Record<string, unknown>>): boolean {
  return Object.hasOwn(headers, 'x-delivery-count');
}
