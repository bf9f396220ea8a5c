// Traces.
export { OpenTelemetryTracing } from './opentelemetry-tracing.ts';
export type { OpenTelemetryTracingOptions } from './tracing-options.ts';

// What spans and events are called.
export {
  DEFAULT_SYSTEM,
  ERROR_OUTCOMES,
  EVENT_DEAD_LETTERED,
  EVENT_OUTBOX_PUBLISH_FAILED,
  EVENT_PIPELINE_RUN_FINISHED,
  EVENT_RETRIED,
  INSTRUMENTATION_NAME,
  SPAN_PROCESS_SUFFIX,
  SPAN_PUBLISH_SUFFIX,
  SPAN_QUEUE_WAIT,
  SPAN_REQUEST_SUFFIX,
} from './names.ts';
export { SPAN_EVENTS, SPANS } from './definitions.ts';
export type { SpanDefinition, SpanEventDefinition, SpanStatus } from './definitions.ts';
export { TRACE_HEADERS } from './w3c.ts';

// Their attributes.
export {
  ATTR_ATTEMPT,
  ATTR_CONVERSATION_ID,
  ATTR_DESTINATION,
  ATTR_ERROR_TYPE,
  ATTR_MESSAGE_ID,
  ATTR_MESSAGE_TYPE,
  ATTR_OPERATION,
  ATTR_OUTBOX_LAG,
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
} from './names.ts';
export { ATTRIBUTE_CONVENTIONS, OPERATION_TYPES } from './attribute-conventions.ts';
export type { AttributeMapping, Conventions } from './attribute-conventions.ts';

// Metrics.
export { OpenTelemetryObserver } from './opentelemetry-observer.ts';
export type { OpenTelemetryObserverOptions } from './opentelemetry-observer.ts';
