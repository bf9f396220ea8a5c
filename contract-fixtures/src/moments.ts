import {
  METRIC_CONSUME_ATTEMPTS,
  METRIC_CONSUME_DURATION,
  METRIC_CONSUME_TOTAL,
  METRIC_DEAD_LETTERED_TOTAL,
  METRIC_PUBLISH_DURATION,
  METRIC_PUBLISH_TOTAL,
  METRIC_RETRIED_TOTAL,
  METRIC_RUNG_MISSING,
  METRIC_SET_ASIDE_FAILED,
  metricKey,
  TAG_EXCHANGE,
  TAG_OUTCOME,
  TAG_QUEUE,
  TAG_ROUTING_KEY,
  TAG_RUNG,
  TAG_TARGET,
  TAG_WHERE,
} from '@acemq/observe';

/** What happens, and how often each series counts it; a series that is not named does not. */
export interface Moment {
  readonly when: string;
  readonly counted: Readonly<Record<string, number>>;
}

const QUEUE = 'orders';

type Counts = readonly (readonly [metric: string, labels: Readonly<Record<string, string>>, times: number])[];

function moment(when: string, ...counts: readonly Counts[]): Moment {
  const counted = counts
    .flat()
    .map(([metric, labels, times]): [string, number] => [metricKey(metric, labels), times])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return { when, counted: Object.fromEntries(counted) };
}

function published(outcome: string, routingKey: string = QUEUE): Counts {
  const labels = { [TAG_EXCHANGE]: '', [TAG_ROUTING_KEY]: routingKey, [TAG_OUTCOME]: outcome };
  return [
    [METRIC_PUBLISH_TOTAL, labels, 1],
    [METRIC_PUBLISH_DURATION, labels, 1],
  ];
}

/** One delivery that was decoded, by its outcome. */
function handled(...outcomes: readonly string[]): Counts {
  return [
    [METRIC_CONSUME_ATTEMPTS, { [TAG_QUEUE]: QUEUE }, outcomes.length],
    ...outcomes.flatMap((outcome): Counts => {
      const labels = { [TAG_QUEUE]: QUEUE, [TAG_OUTCOME]: outcome };
      return [
        [METRIC_CONSUME_TOTAL, labels, 1],
        [METRIC_CONSUME_DURATION, labels, 1],
      ];
    }),
  ];
}

function setAside(outcome: string): Counts {
  return [[METRIC_DEAD_LETTERED_TOTAL, { [TAG_QUEUE]: QUEUE, [TAG_OUTCOME]: outcome }, 1]];
}

function retried(where: string): Counts {
  return [[METRIC_RETRIED_TOTAL, { [TAG_QUEUE]: QUEUE, [TAG_WHERE]: where }, 1]];
}

/**
 * When each number moves, as cases: a queue `orders`, one message, and what happens to it. Messages to consume
 * are published raw, so that they count nothing themselves.
 */
export const MOMENTS: readonly Moment[] = [
  moment('a send is confirmed', published('confirmed')),
  moment('a mandatory send reaches no queue', published('unroutable', 'nowhere')),
  moment('a payload cannot be encoded', published('failed')),
  moment('a publish interceptor throws', published('failed')),
  moment('a send while the broker blocks', published('refused')),
  moment('a raw publish is confirmed'),
  moment('the handler accepts', handled('acked')),
  moment(
    'the handler asks for a retry that waits here, then accepts',
    handled('retried', 'acked'),
    retried('consumer'),
  ),
  moment(
    'the handler asks for a retry that waits in the broker, then accepts',
    handled('retried', 'acked'),
    retried('broker'),
  ),
  moment('the rung of a retry is missing', handled('retried', 'acked'), retried('consumer'), [
    [METRIC_RUNG_MISSING, { [TAG_QUEUE]: QUEUE, [TAG_RUNG]: `${QUEUE}.retry.40s` }, 1],
  ]),
  moment('the handler rejects', handled('rejected'), setAside('dead_lettered')),
  moment(
    'the handler asks for a retry and no attempt is left',
    handled('dead_lettered'),
    setAside('dead_lettered'),
  ),
  moment('the handler throws a fatal error', handled('dead_lettered'), setAside('dead_lettered')),
  moment('the handler parks', handled('parked'), setAside('parked')),
  moment(
    'the body cannot be decoded',
    [
      [METRIC_CONSUME_ATTEMPTS, { [TAG_QUEUE]: QUEUE }, 1],
      [METRIC_CONSUME_TOTAL, { [TAG_QUEUE]: QUEUE, [TAG_OUTCOME]: 'parked' }, 1],
    ],
    setAside('parked'),
  ),
  moment('the handler says that somebody else is at it, then accepts', handled('in_progress', 'acked')),
  moment('the dead-letter queue is not there', handled('rejected'), setAside('dead_lettered'), [
    [METRIC_SET_ASIDE_FAILED, { [TAG_QUEUE]: QUEUE, [TAG_TARGET]: `${QUEUE}.dlq` }, 1],
  ]),
];
