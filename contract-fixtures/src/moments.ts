import {
  METRIC_CONSUME_ATTEMPTS,
  METRIC_CONSUME_DURATION,
  METRIC_CONSUME_IN_FLIGHT,
  METRIC_CONSUME_TOTAL,
  METRIC_DEAD_LETTERED_TOTAL,
  METRIC_PUBLISH_DURATION,
  METRIC_PUBLISH_TOTAL,
  METRIC_RETRIED_TOTAL,
  METRIC_RUNG_MISSING,
  METRIC_SET_ASIDE_FAILED,
  TAG_EXCHANGE,
  TAG_OUTCOME,
  TAG_QUEUE,
  TAG_ROUTING_KEY,
  TAG_RUNG,
  TAG_TARGET,
  TAG_WHERE,
} from '@acemq/observe';
import { type Moment, type Move, moment } from './moment.ts';

const QUEUE = 'orders';
const queue = Object.freeze({ [TAG_QUEUE]: QUEUE });

function published(outcome: string, routingKey: string = QUEUE): readonly Move[] {
  const labels = { [TAG_EXCHANGE]: '', [TAG_ROUTING_KEY]: routingKey, [TAG_OUTCOME]: outcome };
  return [
    { metric: METRIC_PUBLISH_TOTAL, labels, counted: 1 },
    { metric: METRIC_PUBLISH_DURATION, labels, counted: 1 },
  ];
}

/** Deliveries that arrived, by their attempts, and how many of them are still there. */
function arrived(attempts: readonly number[], inFlight: number): readonly Move[] {
  const total = attempts.reduce((sum, attempt) => sum + attempt, 0);
  return [
    { metric: METRIC_CONSUME_ATTEMPTS, labels: queue, counted: attempts.length, total },
    { metric: METRIC_CONSUME_IN_FLIGHT, labels: queue, gauge: inFlight },
  ];
}

type Handled = readonly [attempt: number, outcome: string];

/** Deliveries that were decoded and handled, each with its attempt and its outcome. */
function handled(...deliveries: readonly Handled[]): readonly Move[] {
  return [
    ...arrived(
      deliveries.map(([attempt]) => attempt),
      0,
    ),
    ...deliveries.flatMap(([, outcome]): Move[] => {
      const labels = { ...queue, [TAG_OUTCOME]: outcome };
      return [
        { metric: METRIC_CONSUME_TOTAL, labels, counted: 1 },
        { metric: METRIC_CONSUME_DURATION, labels, counted: 1 },
      ];
    }),
  ];
}

function setAside(outcome: string): readonly Move[] {
  return [{ metric: METRIC_DEAD_LETTERED_TOTAL, labels: { ...queue, [TAG_OUTCOME]: outcome }, counted: 1 }];
}

function setAsideFailed(target: string): readonly Move[] {
  return [{ metric: METRIC_SET_ASIDE_FAILED, labels: { ...queue, [TAG_TARGET]: target }, counted: 1 }];
}

function retried(where: string): readonly Move[] {
  return [{ metric: METRIC_RETRIED_TOTAL, labels: { ...queue, [TAG_WHERE]: where }, counted: 1 }];
}

const RETRIED_ONCE: readonly Move[] = handled([1, 'retried'], [2, 'acked']);
const GIVEN_UP: readonly Move[] = [...handled([1, 'dead_lettered']), ...setAside('dead_lettered')];

const of = (when: string, ...moves: readonly (readonly Move[])[]): Moment =>
  moment('connection', when, ...moves);

/**
 * When each number of a connection moves, as cases: a queue `orders`, one message, and what happens to it. Messages to
 * consume are published raw, so that they count nothing themselves.
 */
export const CONNECTION_MOMENTS: readonly Moment[] = [
  of('a send is confirmed', published('confirmed')),
  of('a mandatory send reaches no queue', published('unroutable', 'nowhere')),
  of('a payload cannot be encoded', published('failed')),
  of('a publish interceptor throws', published('failed')),
  of('a send while the broker blocks', published('refused')),
  of('a raw publish is confirmed'),
  of('a handler is at work', arrived([1], 1)),
  of('the handler accepts', handled([1, 'acked'])),
  of('the handler asks for a retry that waits here, then accepts', RETRIED_ONCE, retried('consumer')),
  of('the handler asks for a retry that waits in the broker, then accepts', RETRIED_ONCE, retried('broker')),
  of('the rung of a retry is missing', RETRIED_ONCE, retried('consumer'), [
    { metric: METRIC_RUNG_MISSING, labels: { ...queue, [TAG_RUNG]: `${QUEUE}.retry.40s` }, counted: 1 },
  ]),
  of(
    'a retry that waited here is not taken by its queue and comes again as it was, then the handler accepts',
    handled([1, 'retried'], [1, 'acked']),
    retried('requeued'),
  ),
  of('the handler rejects', handled([1, 'rejected']), setAside('dead_lettered')),
  of('the handler asks for a retry and no attempt is left', GIVEN_UP),
  of('the message is too old for another attempt', GIVEN_UP),
  of('the handler throws a fatal error', GIVEN_UP),
  of('the handler answers with something else', GIVEN_UP),
  of('the handler parks', handled([1, 'parked']), setAside('parked')),
  of('the body cannot be decoded', arrived([1], 0), setAside('parked'), [
    { metric: METRIC_CONSUME_TOTAL, labels: { ...queue, [TAG_OUTCOME]: 'parked' }, counted: 1 },
  ]),
  of('the handler says that somebody else is at it, then accepts', handled([1, 'in_progress'], [1, 'acked'])),
  of(
    'the dead-letter queue is not there',
    handled([1, 'rejected']),
    setAside('dead_lettered'),
    setAsideFailed(`${QUEUE}.dlq`),
  ),
  of(
    'the parked queue is not there',
    handled([1, 'parked']),
    setAside('parked'),
    setAsideFailed(`${QUEUE}.parked`),
  ),
];
