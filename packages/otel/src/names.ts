/** The scope of every span and metric: the same name in every language of the family. */
export const INSTRUMENTATION_NAME = 'org.acemq.amqp';

/** What `messaging.system` says unless told otherwise. */
export const DEFAULT_SYSTEM = 'rabbitmq';

/** What follows the destination in the name of a span. */
export const SPAN_PUBLISH_SUFFIX = ' publish';
export const SPAN_PROCESS_SUFFIX = ' process';
export const SPAN_REQUEST_SUFFIX = ' request';
/** The name of the optional span for the time before the handler. */
export const SPAN_QUEUE_WAIT = 'queue.wait';

export const ATTR_SYSTEM = 'messaging.system';
/** The exchange, the routing key where there is none, or the queue. */
export const ATTR_DESTINATION = 'messaging.destination.name';
/** `publish`, `process` or `request`. */
export const ATTR_OPERATION = 'messaging.operation';
export const ATTR_MESSAGE_ID = 'messaging.message.id';
/** The correlation id. */
export const ATTR_CONVERSATION_ID = 'messaging.message.conversation_id';
/** On publish spans only. */
export const ATTR_ROUTING_KEY = 'messaging.rabbitmq.destination.routing_key';
export const ATTR_MESSAGE_TYPE = 'messaging.acemq.message_type';
/** On process spans only: a whole number from 1. */
export const ATTR_ATTEMPT = 'messaging.acemq.attempt';
export const ATTR_OUTCOME = 'messaging.acemq.outcome';
export const ATTR_REASON = 'messaging.acemq.reason';
/** The host of the broker; only under the semantic conventions, as the two that follow. */
export const ATTR_SERVER_ADDRESS = 'server.address';
export const ATTR_SERVER_PORT = 'server.port';
/** On a span that failed: the name of the error, or the outcome where there was none. */
export const ATTR_ERROR_TYPE = 'error.type';
/** Whole milliseconds. */
export const ATTR_OUTBOX_LAG = 'messaging.acemq.outbox_lag_ms';
/** Whole milliseconds. */
export const ATTR_RETRY_DELAY = 'messaging.acemq.retry_delay_ms';
/** Whole milliseconds. */
export const ATTR_RUN_AGE = 'messaging.acemq.run_age_ms';
/** These three are on `pipeline.run_finished`, without a namespace. */
export const ATTR_PIPELINE = 'pipeline';
export const ATTR_STEP = 'step';
export const ATTR_RUN_OUTCOME = 'outcome';

export const EVENT_RETRIED = 'message.retried';
export const EVENT_DEAD_LETTERED = 'message.dead_lettered';
export const EVENT_OUTBOX_PUBLISH_FAILED = 'outbox.publish_failed';
export const EVENT_PIPELINE_RUN_FINISHED = 'pipeline.run_finished';

/** The outcomes that mark a span failed by themselves. Others are red only through an exception. */
export const ERROR_OUTCOMES: readonly string[] = Object.freeze(['unroutable', 'failed', 'dead_lettered']);
