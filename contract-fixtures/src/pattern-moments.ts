import {
  METRIC_OUTBOX_LAG,
  METRIC_OUTBOX_TOTAL,
  METRIC_PIPELINE_RUN_DURATION,
  METRIC_PIPELINE_RUN_TOTAL,
  METRIC_REQUEST_DURATION,
  METRIC_REQUEST_TOTAL,
  TAG_EXCHANGE,
  TAG_OUTCOME,
  TAG_PIPELINE,
  TAG_ROUTING_KEY,
  TAG_STEP,
} from '@acemq/observe';
import { type Moment, type Move, moment } from './moment.ts';

const QUEUE = 'orders';

/** `lag` is in seconds. */
function relayed(lag: number): readonly Move[] {
  const labels = { [TAG_EXCHANGE]: '', [TAG_ROUTING_KEY]: QUEUE, [TAG_OUTCOME]: 'published' };
  return [
    { metric: METRIC_OUTBOX_TOTAL, labels, counted: 1 },
    { metric: METRIC_OUTBOX_LAG, labels, counted: 1, total: lag },
  ];
}

const NOT_RELAYED: readonly Move[] = [
  {
    metric: METRIC_OUTBOX_TOTAL,
    labels: { [TAG_EXCHANGE]: '', [TAG_ROUTING_KEY]: QUEUE, [TAG_OUTCOME]: 'failed' },
    counted: 1,
  },
];

function asked(outcome: string, routingKey: string, duration?: number): readonly Move[] {
  const labels = { [TAG_ROUTING_KEY]: routingKey, [TAG_OUTCOME]: outcome };
  return [
    { metric: METRIC_REQUEST_TOTAL, labels, counted: 1 },
    {
      metric: METRIC_REQUEST_DURATION,
      labels,
      counted: 1,
      ...(duration === undefined ? {} : { total: duration }),
    },
  ];
}

/** `age` is in seconds. */
function ended(pipeline: string, step: string, outcome: string, age: number): readonly Move[] {
  const labels = { [TAG_PIPELINE]: pipeline, [TAG_STEP]: step, [TAG_OUTCOME]: outcome };
  return [
    { metric: METRIC_PIPELINE_RUN_TOTAL, labels, counted: 1 },
    { metric: METRIC_PIPELINE_RUN_DURATION, labels, counted: 1, total: age },
  ];
}

/**
 * When the numbers of an outbox, of requests and of pipelines move. Only theirs are compared: what they publish and consume
 * counts as any other message does, but for what a relay sends, which is no publish of the application.
 */
export const PATTERN_MOMENTS: readonly Moment[] = [
  moment('outbox', 'a relay publishes a record that was committed an hour before', relayed(3_600)),
  moment('outbox', 'a relay publishes a record that was committed later, by its clock', relayed(0)),
  moment('outbox', 'the broker refuses a record', NOT_RELAYED),
  moment('request', 'a reply comes', asked('answered', QUEUE)),
  moment('request', 'a reply comes that says that the responder failed', asked('answered', QUEUE)),
  moment('request', 'no reply comes within 3 s', asked('timed_out', QUEUE, 3)),
  moment('request', 'an ask reaches no queue', asked('failed', 'nowhere')),
  moment(
    'pipeline',
    'the last step of a run of 2.5 s hands its answer on',
    ended('onboarding', 'two', 'completed', 2.5),
  ),
  moment(
    'pipeline',
    'a step ends a run of 2.5 s with a step to go',
    ended('onboarding', 'one', 'ended_early', 2.5),
  ),
  moment(
    'pipeline',
    'a run that began later, by the clock of its last step, is through',
    ended('onboarding', 'two', 'completed', 0),
  ),
  moment('pipeline', 'a step fails for good'),
];
