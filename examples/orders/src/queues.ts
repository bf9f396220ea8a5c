import {
  deadLetterQueueName,
  exponential,
  parkedQueueName,
  RetryLadder,
  type RetryPolicy,
  type TopologyBuilder,
  topology,
} from '@acemq/core';

/**
 * Four deliveries. The first wait, 200 ms, is the consumer's; the next two, 400 ms and 800 ms, are the broker's, because
 * the threshold is lowered from its 30 s: a demo should not take minutes to show a rung.
 */
export const RETRIES: RetryPolicy = exponential(4, '200ms', '2s').waitInBrokerFrom('400ms');

/** The queues of one run, by what they are for. */
export interface RunQueues {
  /** Where orders arrive. */
  readonly source: string;
  /** Where orders wait for their next attempt. */
  readonly rungs: readonly string[];
  readonly deadLetters: string;
  readonly parked: string;
  /** The same as a topology, to be declared and, at the end, removed. */
  readonly topology: TopologyBuilder;
}

/** The queues of a run whose orders arrive in `source`. */
export function queuesOf(source: string): RunQueues {
  return Object.freeze({
    source,
    rungs: RetryLadder.for(source, RETRIES).queues,
    deadLetters: deadLetterQueueName(source),
    parked: parkedQueueName(source),
    topology: topology().queue(source, { retry: RETRIES }),
  });
}
