import { OUTCOME_ACKED, OUTCOME_DEAD_LETTERED, OUTCOME_PARKED, OUTCOME_REJECTED } from '@acemq/core';
import {
  METRIC_CONSUME_TOTAL,
  METRIC_DEAD_LETTERED_TOTAL,
  METRIC_PUBLISH_TOTAL,
  METRIC_RETRIED_TOTAL,
  type Metrics,
  metricKey,
  OUTCOME_CONFIRMED,
  TAG_EXCHANGE,
  TAG_OUTCOME,
  TAG_QUEUE,
  TAG_ROUTING_KEY,
  TAG_WHERE,
  WHERE_BROKER,
  WHERE_CONSUMER,
  WHERE_REQUEUED,
} from '@acemq/observe';

/** How far a run is, as the library counted it. */
export interface Tally {
  /** Sent by the publisher and confirmed. What was published raw is not a publish to the metrics. */
  readonly sent: number;
  readonly handled: number;
  /** Retries, not orders, by where they waited. */
  readonly retried: { readonly consumer: number; readonly broker: number; readonly requeued: number };
  readonly deadLettered: number;
  /** Of those, what the handler refused; the rest ran out of attempts. */
  readonly rejected: number;
  readonly parked: number;
}

/** Reads the numbers of one queue. */
export function tallyOf(metrics: Metrics, queue: string): Tally {
  const { counts } = metrics;
  const count = (metric: string, labels: Record<string, string>): number =>
    counts.get(metricKey(metric, labels)) ?? 0;
  const retried = (where: string): number =>
    count(METRIC_RETRIED_TOTAL, { [TAG_QUEUE]: queue, [TAG_WHERE]: where });
  const ends = (outcome: string): number =>
    count(METRIC_CONSUME_TOTAL, { [TAG_QUEUE]: queue, [TAG_OUTCOME]: outcome });
  const setAside = (outcome: string): number =>
    count(METRIC_DEAD_LETTERED_TOTAL, { [TAG_QUEUE]: queue, [TAG_OUTCOME]: outcome });
  return {
    sent: count(METRIC_PUBLISH_TOTAL, {
      [TAG_EXCHANGE]: '',
      [TAG_ROUTING_KEY]: queue,
      [TAG_OUTCOME]: OUTCOME_CONFIRMED,
    }),
    handled: ends(OUTCOME_ACKED),
    retried: {
      consumer: retried(WHERE_CONSUMER),
      broker: retried(WHERE_BROKER),
      requeued: retried(WHERE_REQUEUED),
    },
    deadLettered: setAside(OUTCOME_DEAD_LETTERED),
    rejected: ends(OUTCOME_REJECTED),
    parked: setAside(OUTCOME_PARKED),
  };
}

/** Orders that have come to their end. */
export function ended(tally: Tally): number {
  return tally.handled + tally.deadLettered + tally.parked;
}
