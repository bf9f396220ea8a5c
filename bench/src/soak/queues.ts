import { exponential, type QueueType, type RetryPolicy, type TopologyBuilder, topology } from '@acemq/core';

/** A queue of the run and the policy of its consumers. */
export interface SoakQueue {
  readonly name: string;
  readonly type: QueueType;
  readonly retry: RetryPolicy;
}

export const EXCHANGE: string = 'soak-events';

/**
 * The queues, each bound by its own name. The quorum queue has no rungs: RabbitMQ hands a message that
 * expired in a rung to its queue without waiting for an answer, and a quorum queue has no leader to take it
 * in the first second after its only node was started. A run that stops its node would lose those messages,
 * whatever the library does.
 */
export const QUEUES: readonly SoakQueue[] = Object.freeze([
  // Waits of 100 ms and 500 ms in the consumer, of 2.5 s and 5 s in rungs.
  { name: 'soak.orders', type: 'classic', retry: exponential(5, '100ms', 5, '5s').waitInBrokerFrom('1s') },
  // Waits of 100 ms to 1 s, all in the consumer.
  { name: 'soak.payments', type: 'quorum', retry: exponential(5, '100ms', 3, '1s') },
]);

/** Everything that the run declares. */
export function soakTopology(): TopologyBuilder {
  const builder = topology().exchange(EXCHANGE, 'topic');
  for (const { name, type, retry } of QUEUES) {
    builder.queue(name, { type, retry }).bind(name, EXCHANGE, name);
  }
  return builder;
}

/** The queue that a message goes to, by name. */
export function queueOf(number: number): string {
  return (QUEUES[(number >>> 1) % QUEUES.length] as SoakQueue).name;
}
