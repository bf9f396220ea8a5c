import {
  OUTCOME_ACKED,
  OUTCOME_DEAD_LETTERED,
  OUTCOME_IN_PROGRESS,
  OUTCOME_PARKED,
  OUTCOME_REJECTED,
  OUTCOME_RETRIED,
} from '@acemq/core';
import {
  METRIC_CONSUME_ATTEMPTS,
  METRIC_CONSUME_DURATION,
  METRIC_CONSUME_IN_FLIGHT,
  METRIC_CONSUME_TOTAL,
  METRIC_DEAD_LETTERED_TOTAL,
  METRIC_OUTBOX_LAG,
  METRIC_OUTBOX_TOTAL,
  METRIC_PIPELINE_RUN_DURATION,
  METRIC_PIPELINE_RUN_TOTAL,
  METRIC_PUBLISH_DURATION,
  METRIC_PUBLISH_TOTAL,
  METRIC_REQUEST_DURATION,
  METRIC_REQUEST_TOTAL,
  METRIC_RETRIED_TOTAL,
  METRIC_RUNG_MISSING,
  METRIC_SET_ASIDE_FAILED,
} from './metric-names.ts';
import {
  OUTCOME_ANSWERED,
  OUTCOME_COMPLETED,
  OUTCOME_CONFIRMED,
  OUTCOME_ENDED_EARLY,
  OUTCOME_FAILED,
  OUTCOME_PUBLISHED,
  OUTCOME_REFUSED,
  OUTCOME_TIMED_OUT,
  OUTCOME_UNROUTABLE,
  WHERE_BROKER,
  WHERE_CONSUMER,
  WHERE_REQUEUED,
} from './outcomes.ts';
import {
  TAG_EXCHANGE,
  TAG_OUTCOME,
  TAG_PIPELINE,
  TAG_QUEUE,
  TAG_ROUTING_KEY,
  TAG_RUNG,
  TAG_STEP,
  TAG_TARGET,
  TAG_WHERE,
} from './tag-names.ts';

/** Which method of an {@link Observer} a metric arrives by: `count`, `gauge` or `observe`. */
export type MetricKind = 'counter' | 'gauge' | 'distribution';

/** What a value of the metric is a number of. */
export type MetricUnit =
  | 'attempts'
  | 'deliveries'
  | 'messages'
  | 'publishes'
  | 'records'
  | 'requests'
  | 'retries'
  | 'runs'
  | 'seconds';

/** One metric, as data. */
export interface MetricDefinition {
  readonly name: string;
  readonly kind: MetricKind;
  readonly unit: MetricUnit;
  /** The names of its labels, all of which every sample has, sorted. */
  readonly labels: readonly string[];
  /**
   * The allowed values of each label that has a closed list of them; a label that is not here may say
   * anything.
   */
  readonly values: Readonly<Record<string, readonly string[]>>;
  /** One line that says what it counts. */
  readonly help: string;
}

const ENDINGS_OF = Object.freeze({
  publish: Object.freeze([OUTCOME_CONFIRMED, OUTCOME_UNROUTABLE, OUTCOME_FAILED, OUTCOME_REFUSED]),
  delivery: Object.freeze([
    OUTCOME_ACKED,
    OUTCOME_RETRIED,
    OUTCOME_REJECTED,
    OUTCOME_DEAD_LETTERED,
    OUTCOME_PARKED,
    OUTCOME_IN_PROGRESS,
  ]),
  setAside: Object.freeze([OUTCOME_DEAD_LETTERED, OUTCOME_PARKED]),
  request: Object.freeze([OUTCOME_ANSWERED, OUTCOME_TIMED_OUT, OUTCOME_FAILED]),
  record: Object.freeze([OUTCOME_PUBLISHED, OUTCOME_FAILED]),
  run: Object.freeze([OUTCOME_COMPLETED, OUTCOME_ENDED_EARLY]),
});

function metric(
  name: string,
  kind: MetricKind,
  unit: MetricUnit,
  labels: readonly string[],
  values: Readonly<Record<string, readonly string[]>>,
  help: string,
): MetricDefinition {
  return Object.freeze({
    name,
    kind,
    unit,
    labels: Object.freeze([...labels].sort()),
    values: Object.freeze(values),
    help,
  });
}

/**
 * Every metric that the library writes, in the order of a message's way: published, consumed, set aside,
 * relayed.
 */
export const METRICS: readonly MetricDefinition[] = Object.freeze([
  metric(
    METRIC_PUBLISH_TOTAL,
    'counter',
    'publishes',
    [TAG_EXCHANGE, TAG_ROUTING_KEY, TAG_OUTCOME],
    { [TAG_OUTCOME]: ENDINGS_OF.publish },
    'Messages that the application published, by how the publish ended.',
  ),
  metric(
    METRIC_PUBLISH_DURATION,
    'distribution',
    'seconds',
    [TAG_EXCHANGE, TAG_ROUTING_KEY, TAG_OUTCOME],
    { [TAG_OUTCOME]: ENDINGS_OF.publish },
    "Time from the call of a publish to the broker's answer, its interceptors and encoding included.",
  ),
  metric(
    METRIC_CONSUME_TOTAL,
    'counter',
    'deliveries',
    [TAG_QUEUE, TAG_OUTCOME],
    { [TAG_OUTCOME]: ENDINGS_OF.delivery },
    'Deliveries, by what the consumer decided about each.',
  ),
  metric(
    METRIC_CONSUME_DURATION,
    'distribution',
    'seconds',
    [TAG_QUEUE, TAG_OUTCOME],
    { [TAG_OUTCOME]: ENDINGS_OF.delivery },
    'Time that the interceptors and the handler took over a delivery, without any wait for a retry.',
  ),
  metric(
    METRIC_CONSUME_ATTEMPTS,
    'distribution',
    'attempts',
    [TAG_QUEUE],
    {},
    'Attempt number of each delivery when it arrived; 1 is the first.',
  ),
  metric(
    METRIC_CONSUME_IN_FLIGHT,
    'gauge',
    'messages',
    [TAG_QUEUE],
    {},
    'Messages that are being handled, or wait here for their retry, on one connection.',
  ),
  metric(
    METRIC_RETRIED_TOTAL,
    'counter',
    'messages',
    [TAG_QUEUE, TAG_WHERE],
    { [TAG_WHERE]: Object.freeze([WHERE_CONSUMER, WHERE_BROKER, WHERE_REQUEUED]) },
    'Messages placed for another attempt, by where they wait.',
  ),
  metric(
    METRIC_DEAD_LETTERED_TOTAL,
    'counter',
    'messages',
    [TAG_QUEUE, TAG_OUTCOME],
    { [TAG_OUTCOME]: ENDINGS_OF.setAside },
    'Messages that a queue gave up on: dead-lettered, rejected ones included, or parked.',
  ),
  metric(
    METRIC_SET_ASIDE_FAILED,
    'counter',
    'messages',
    [TAG_QUEUE, TAG_TARGET],
    {},
    "Messages that could not be placed in the dead-letter or parked queue, and were left to the broker's own dead-lettering.",
  ),
  metric(
    METRIC_RUNG_MISSING,
    'counter',
    'retries',
    [TAG_QUEUE, TAG_RUNG],
    {},
    'Retries whose rung queue was not there, so that they wait in the consumer, where a restart cuts the wait short.',
  ),
  metric(
    METRIC_REQUEST_TOTAL,
    'counter',
    'requests',
    [TAG_ROUTING_KEY, TAG_OUTCOME],
    { [TAG_OUTCOME]: ENDINGS_OF.request },
    'Requests made, by how each ended for the caller.',
  ),
  metric(
    METRIC_REQUEST_DURATION,
    'distribution',
    'seconds',
    [TAG_ROUTING_KEY, TAG_OUTCOME],
    { [TAG_OUTCOME]: ENDINGS_OF.request },
    'Time from a request to its reply, or to the end of the wait for one.',
  ),
  metric(
    METRIC_OUTBOX_TOTAL,
    'counter',
    'records',
    [TAG_EXCHANGE, TAG_ROUTING_KEY, TAG_OUTCOME],
    { [TAG_OUTCOME]: ENDINGS_OF.record },
    'Outbox records that a relay published, or failed to.',
  ),
  metric(
    METRIC_OUTBOX_LAG,
    'distribution',
    'seconds',
    [TAG_EXCHANGE, TAG_ROUTING_KEY, TAG_OUTCOME],
    { [TAG_OUTCOME]: Object.freeze([OUTCOME_PUBLISHED]) },
    "Time from an outbox record's commit to its publish.",
  ),
  metric(
    METRIC_PIPELINE_RUN_TOTAL,
    'counter',
    'runs',
    [TAG_PIPELINE, TAG_STEP, TAG_OUTCOME],
    { [TAG_OUTCOME]: ENDINGS_OF.run },
    'Runs of a pipeline that ended, by the step that ended them.',
  ),
  metric(
    METRIC_PIPELINE_RUN_DURATION,
    'distribution',
    'seconds',
    [TAG_PIPELINE, TAG_STEP, TAG_OUTCOME],
    { [TAG_OUTCOME]: ENDINGS_OF.run },
    "Age of a pipeline's message when its run ended.",
  ),
]);
