import {
  OUTCOME_ACKED,
  OUTCOME_DEAD_LETTERED,
  OUTCOME_IN_PROGRESS,
  OUTCOME_PARKED,
  OUTCOME_REJECTED,
  OUTCOME_RETRIED,
  type SpanKind,
} from '@acemq/core';
import {
  OUTCOME_ANSWERED,
  OUTCOME_CONFIRMED,
  OUTCOME_FAILED,
  OUTCOME_REFUSED,
  OUTCOME_TIMED_OUT,
  OUTCOME_UNROUTABLE,
} from '@acemq/observe';
import {
  ATTR_ATTEMPT,
  ATTR_CONVERSATION_ID,
  ATTR_DESTINATION,
  ATTR_MESSAGE_ID,
  ATTR_MESSAGE_TYPE,
  ATTR_OPERATION,
  ATTR_OUTCOME,
  ATTR_PIPELINE,
  ATTR_REASON,
  ATTR_RETRY_DELAY,
  ATTR_ROUTING_KEY,
  ATTR_RUN_AGE,
  ATTR_RUN_OUTCOME,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
  ATTR_STEP,
  ATTR_SYSTEM,
  EVENT_DEAD_LETTERED,
  EVENT_OUTBOX_PUBLISH_FAILED,
  EVENT_PIPELINE_RUN_FINISHED,
  EVENT_RETRIED,
  SPAN_PROCESS_SUFFIX,
  SPAN_PUBLISH_SUFFIX,
  SPAN_QUEUE_WAIT,
  SPAN_REQUEST_SUFFIX,
} from './names.ts';

/** What a span that an outcome ended looks like: untouched, or red with this as its description. */
export type SpanStatus = 'unset' | 'the outcome' | 'the message of the error';

/** One kind of span. */
export interface SpanDefinition {
  /** `<destination>` stands for the exchange, the routing key where there is none, or what the caller says. */
  readonly name: string;
  readonly kind: SpanKind;
  /** Whose child it is: of the span that is current, or of the one that the message's own headers name. */
  readonly parent: 'current' | 'headers';
  /** What it always has. */
  readonly attributes: readonly string[];
  /** What it has besides, by the outcome. */
  readonly byOutcome: Readonly<Record<string, readonly string[]>>;
  /** What it has besides under the semantic conventions, where it is known. */
  readonly conventional: readonly string[];
  /** The outcomes that it may end with, and what colour each gives it. */
  readonly outcomes: Readonly<Record<string, SpanStatus>>;
}

/** One event. */
export interface SpanEventDefinition {
  readonly name: string;
  readonly attributes: readonly string[];
}

const MESSAGE: readonly string[] = [
  ATTR_SYSTEM,
  ATTR_DESTINATION,
  ATTR_OPERATION,
  ATTR_MESSAGE_ID,
  ATTR_CONVERSATION_ID,
  ATTR_MESSAGE_TYPE,
];
const SERVER: readonly string[] = [ATTR_SERVER_ADDRESS, ATTR_SERVER_PORT];

/** Every span that tracing opens. */
export const SPANS: readonly SpanDefinition[] = [
  {
    name: `<destination>${SPAN_PUBLISH_SUFFIX}`,
    kind: 'producer',
    parent: 'current',
    attributes: [...MESSAGE, ATTR_ROUTING_KEY, ATTR_OUTCOME],
    byOutcome: { [OUTCOME_UNROUTABLE]: [ATTR_REASON] },
    conventional: SERVER,
    outcomes: {
      [OUTCOME_CONFIRMED]: 'unset',
      [OUTCOME_UNROUTABLE]: 'the outcome',
      [OUTCOME_REFUSED]: 'the message of the error',
      [OUTCOME_FAILED]: 'the outcome',
    },
  },
  {
    name: `<queue>${SPAN_PROCESS_SUFFIX}`,
    kind: 'consumer',
    parent: 'headers',
    attributes: [...MESSAGE, ATTR_ATTEMPT, ATTR_OUTCOME],
    byOutcome: {},
    conventional: SERVER,
    outcomes: {
      [OUTCOME_ACKED]: 'unset',
      [OUTCOME_RETRIED]: 'unset',
      [OUTCOME_REJECTED]: 'unset',
      [OUTCOME_DEAD_LETTERED]: 'the outcome',
      [OUTCOME_PARKED]: 'unset',
      [OUTCOME_IN_PROGRESS]: 'unset',
    },
  },
  {
    name: `<destination>${SPAN_REQUEST_SUFFIX}`,
    kind: 'client',
    parent: 'current',
    attributes: [...MESSAGE, ATTR_OUTCOME],
    byOutcome: {},
    conventional: [],
    outcomes: {
      [OUTCOME_ANSWERED]: 'unset',
      [OUTCOME_TIMED_OUT]: 'the message of the error',
      [OUTCOME_FAILED]: 'the outcome',
    },
  },
  {
    name: SPAN_QUEUE_WAIT,
    kind: 'internal',
    parent: 'headers',
    attributes: MESSAGE,
    byOutcome: {},
    conventional: SERVER,
    outcomes: {},
  },
];

/** Every event. It stands on the span that is current, and is dropped where none records. */
export const SPAN_EVENTS: readonly SpanEventDefinition[] = [
  { name: EVENT_RETRIED, attributes: [ATTR_DESTINATION, ATTR_RETRY_DELAY, ATTR_ATTEMPT] },
  { name: EVENT_DEAD_LETTERED, attributes: [ATTR_DESTINATION, ATTR_REASON, ATTR_ATTEMPT] },
  { name: EVENT_OUTBOX_PUBLISH_FAILED, attributes: [ATTR_DESTINATION, ATTR_REASON] },
  {
    name: EVENT_PIPELINE_RUN_FINISHED,
    attributes: [ATTR_PIPELINE, ATTR_STEP, ATTR_RUN_OUTCOME, ATTR_RUN_AGE],
  },
];
