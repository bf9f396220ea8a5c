import {
  OUTCOME_ACKED,
  OUTCOME_DEAD_LETTERED,
  OUTCOME_IN_PROGRESS,
  OUTCOME_PARKED,
  OUTCOME_REJECTED,
  OUTCOME_RETRIED,
} from '@acemq/core';
import {
  ATTR_ERROR_TYPE,
  ATTR_OUTBOX_LAG,
  ATTRIBUTE_CONVENTIONS,
  DEFAULT_SYSTEM,
  ERROR_OUTCOMES,
  EVENT_DEAD_LETTERED,
  EVENT_RETRIED,
  INSTRUMENTATION_NAME,
  OPERATION_TYPES,
  SPAN_EVENTS,
  SPANS,
  TRACE_HEADERS,
} from '@acemq/otel';

const EXCEPTION = 'exception';

/** What a handler does, the outcome on the span of its delivery, and the events there, in order. */
const SETTLEMENTS: readonly (readonly [when: string, outcome: string, ...events: string[]])[] = [
  ['the handler accepts', OUTCOME_ACKED],
  ['the handler asks for a retry with an error and one is left', OUTCOME_RETRIED, EXCEPTION, EVENT_RETRIED],
  ['the handler throws and a retry is left', OUTCOME_RETRIED, EXCEPTION, EVENT_RETRIED],
  ['the handler rejects with an error', OUTCOME_REJECTED, EXCEPTION, EVENT_DEAD_LETTERED],
  [
    'the handler asks for a retry with an error and none is left',
    OUTCOME_DEAD_LETTERED,
    EXCEPTION,
    EVENT_DEAD_LETTERED,
  ],
  ['the handler throws and no retry is left', OUTCOME_DEAD_LETTERED, EXCEPTION, EVENT_DEAD_LETTERED],
  ['the message is too old for another attempt', OUTCOME_DEAD_LETTERED, EXCEPTION, EVENT_DEAD_LETTERED],
  ['the handler throws a fatal error', OUTCOME_DEAD_LETTERED, EXCEPTION, EVENT_DEAD_LETTERED],
  ['the handler returns something else', OUTCOME_DEAD_LETTERED, EVENT_DEAD_LETTERED],
  ['the handler parks', OUTCOME_PARKED],
  ['the handler says that somebody else is at it', OUTCOME_IN_PROGRESS],
];

/** Spans, their attributes, events and colours. */
export function tracingFixtures(): object {
  return {
    scope: INSTRUMENTATION_NAME,
    system: DEFAULT_SYSTEM,
    headers: TRACE_HEADERS,
    spans: SPANS,
    errorOutcomes: ERROR_OUTCOMES,
    settlements: SETTLEMENTS.map(([when, outcome, ...events]) => ({
      when,
      outcome,
      events,
      error: ERROR_OUTCOMES.includes(outcome),
    })),
    events: SPAN_EVENTS,
    attributesOfTheCurrentSpan: [ATTR_OUTBOX_LAG],
    conventions: ATTRIBUTE_CONVENTIONS,
    operationTypes: OPERATION_TYPES,
    errorType: ATTR_ERROR_TYPE,
  };
}
