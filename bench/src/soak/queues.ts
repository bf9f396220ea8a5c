import { exponential, type QueueType, type RetryPolicy, type TopologyBuilder, topology } from '@acemq/core';

/** A queue of the run. */
export interface SoakQueue {
  readonly name: string;
  readonly type: QueueType;
}

export const EXCHANGE: string = 'soak-events';

/** The queues, each bound by its own name. */
export const QUEUES: readonly SoakQueue[] = Object.freeze([
  { name: 'soak.orders', type: 'quorum' },
  { name: 'soak.payments', type: 'classic' },
]);

/** Waits of 100 ms and 500 ms in the consumer, of 2.5 s and 3 s in rungs. */
export const RETRIES: RetryPolicy = exponential(5, '100ms', 5, '3s').waitInBrokerFrom('1s');

/** Everything that the run declares. */
export function soakTopology(): TopologyBuilder {
  const builder = topology().exchange(EXCHANGE, 'topic');
  for (const { name, type } of QUEUES) {
    builder.queue(name, { type, retry: RETRIES }).bind(name, EXCHANGE, name);
  }
  return builder;
}

/** The queue that a message goes to, by name. */
export function queueOf(number: number): string {
  return (QUEUES[(number >>> 1) % QUEUES.length] as SoakQueue).name;
}

/** Whether messages wait there for their retry. */
export function isRung(queue: string): boolean {
  return queue.includes('.retry.');
}
