// The handler's side: what it is given and what it answers.
export { accept, inProgress, isAck, park, reject, retry } from './ack.ts';
export type { Accept, Ack, InProgress, Park, Reject, Retry } from './ack.ts';
export type { Handler, Message } from './message.ts';

// How often, how far apart and where a message is tried again.
export { exponential, fixed, none, RetryPolicy } from './retry-policy.ts';
export type { Wait } from './retry-policy.ts';
export { RetryLadder, Rung } from './retry-ladder.ts';
export type { RetryLadderOptions } from './retry-ladder.ts';
export { DEFAULT_BROKER_WAIT_THRESHOLD, LONGEST_DELAY, waitsInBroker } from './broker-wait.ts';
export { milliseconds, renderDelay } from './duration.ts';
export type { Duration, DurationLimits, DurationUnit } from './duration.ts';

// Exchanges, queues and bindings, and what they are called.
export { topology } from './topology.ts';
export type { ExchangeOptions, QueueOptions, TopologyBuilder } from './topology.ts';
export { consumerPlan, declaredBy, declarePlan } from './topology-plan.ts';
export type {
  DeclaredBy,
  DeclaredTopology,
  PlannedBinding,
  PlannedExchange,
  PlannedQueue,
  QueueType,
  TopologyPlan,
} from './topology-plan.ts';
export {
  checkName,
  checkQueueName,
  checkRoutingKey,
  DEAD_LETTER_EXCHANGE,
  DEFAULT_CLIENT_NAME,
  deadLetterQueueName,
  defaultOrigin,
  isShortText,
  isWellFormed,
  LONGEST_NAME,
  parkedQueueName,
  RETRY_EXCHANGE,
  retryQueueName,
} from './naming.ts';

// What a message says about itself.
export {
  ageOf,
  causing,
  createEnvelope,
  nextAttempt,
  randomId,
  withEnvelope,
  withError,
} from './envelope.ts';
export type { Envelope, EnvelopeDefaults, EnvelopeFields } from './envelope.ts';
export { readEnvelope } from './envelope-reader.ts';
export type { IncomingMessage } from './envelope-reader.ts';
export { copyHeaders, envelopeHeaders, essentialHeaders, writeHeaders } from './envelope-writer.ts';
export {
  checkApplicationHeaders,
  HEADER_ATTEMPT,
  HEADER_CAUSATION,
  HEADER_CLAIM,
  HEADER_CORRELATION,
  HEADER_ERROR,
  HEADER_FIRST_SEEN,
  HEADER_ID,
  HEADER_ORIGIN,
  HEADER_REPLAY_COUNT,
  HEADER_REPLAYED_AT,
  HEADER_REPLAYED_FROM,
  HEADER_REPLY_ERROR,
  HEADER_REPLY_TO,
  HEADER_ROUTE,
  HEADER_ROUTE_ID,
  HEADER_ROUTE_POSITION,
  HEADER_ROUTING_SLIP,
  HEADER_TYPE,
  HEADER_VERSION,
  isReservedHeader,
  NO_HEADERS,
  readCount,
  readText,
  RESERVED_PREFIX,
} from './headers.ts';
export type { HeaderTable, HeaderValue } from './headers.ts';

// What becomes of a delivery.
export { IN_PROGRESS_DELAY, isDeadLettered, isParked, LONGEST_REASON } from './settlement.ts';
export { settle, settleUndecodable } from './settlement.ts';
export type { Settlement } from './settlement.ts';
export { describeError } from './error-text.ts';
export { cutText } from './cut-text.ts';
export {
  OUTCOME_ACKED,
  OUTCOME_DEAD_LETTERED,
  OUTCOME_IN_PROGRESS,
  OUTCOME_PARKED,
  OUTCOME_REJECTED,
  OUTCOME_RETRIED,
} from './outcomes.ts';
export type { DeliveryOutcome } from './outcomes.ts';

// What goes wrong.
export {
  AbortedError,
  AceMQError,
  BatchPublishError,
  BrokerRefusedError,
  ConfigurationError,
  ConnectError,
  ConnectionClosedError,
  ConnectionLostError,
  DecodeError,
  EncodeError,
  FatalError,
  isFatal,
  PublishError,
  PublishingPausedError,
  REPLY_ACCESS_REFUSED,
  REPLY_CONTENT_TOO_LARGE,
  REPLY_NOT_FOUND,
  REPLY_PRECONDITION_FAILED,
  REPLY_RESOURCE_LOCKED,
  ReplayError,
  RequestTimeoutError,
  ResponderError,
  TimeoutError,
  TopologyError,
  UnsupportedError,
} from './errors.ts';
export type { Difference, ErrorCode, ErrorDetails, PublishErrorCode, PublishErrorDetails } from './errors.ts';
export { checkOptions } from './options.ts';
export { shown } from './shown.ts';

// What adapters are written against.
export type { Codec } from './codec.ts';
export { checkIncoming, checkOutgoing, describeIssues } from './schema.ts';
export type { SchemaIssue, SchemaResult, StandardSchema } from './schema.ts';
export type {
  ConsumeContext,
  ConsumeInterceptor,
  ConsumeNext,
  Interceptable,
  PublishContext,
  PublishInterceptor,
  PublishNext,
} from './interceptors.ts';
export type { RawAnswer, RawMessage, RawPublisher, RawVerdict } from './raw-publisher.ts';
export type { EncodedPayload, MessageRecorder, RecordOptions } from './message-recorder.ts';
export type { AttributeValue, Span, SpanKind, SpanOptions, Tracing } from './tracing.ts';
export { guardLogger } from './guarded-logger.ts';
export type { Logger } from './logger.ts';

// Answering over HTTP, on any server.
export { httpHandler } from './http-handler.ts';
export type {
  HttpAnswer,
  HttpHandler,
  HttpHandlerOptions,
  NodeRequest,
  NodeResponse,
} from './http-handler.ts';

// What a transport is.
export { systemClock } from './system-clock.ts';
export type { Clock, Timer } from './clock.ts';
export { checkMessage } from './checked-message.ts';
export { checkShortText } from './short-text.ts';
export type {
  BrokerEndpoint,
  ConsumeEvents,
  ConsumeSpec,
  DeclareTarget,
  Delivery,
  DialRequest,
  ExchangeSpec,
  ExchangeType,
  Link,
  LinkEvents,
  Outbound,
  PublishChannel,
  PublishChannelEvents,
  PublishListener,
  PublishVerdict,
  QueueReader,
  QueueSpec,
  QueueState,
  Subscription,
  Transport,
} from './transport.ts';
