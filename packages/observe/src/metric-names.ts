/**
 * The sixteen metrics, by the names that every AceMQ library uses: an alert rule written for one reads
 * another. What each counts, its unit and its labels are in {@link METRICS}.
 */
export const METRIC_PUBLISH_TOTAL = 'acemq.publish.total';
export const METRIC_PUBLISH_DURATION = 'acemq.publish.duration';
export const METRIC_CONSUME_TOTAL = 'acemq.consume.total';
export const METRIC_CONSUME_DURATION = 'acemq.consume.duration';
export const METRIC_CONSUME_ATTEMPTS = 'acemq.consume.attempts';
export const METRIC_CONSUME_IN_FLIGHT = 'acemq.consume.in.flight';
export const METRIC_RETRIED_TOTAL = 'acemq.messages.retried.total';
export const METRIC_DEAD_LETTERED_TOTAL = 'acemq.messages.dead.lettered.total';
export const METRIC_SET_ASIDE_FAILED = 'acemq.messages.set.aside.failed';
export const METRIC_RUNG_MISSING = 'acemq.retry.rung.missing';
export const METRIC_REQUEST_TOTAL = 'acemq.request.total';
export const METRIC_REQUEST_DURATION = 'acemq.request.duration';
export const METRIC_OUTBOX_TOTAL = 'acemq.outbox.total';
export const METRIC_OUTBOX_LAG = 'acemq.outbox.lag';
export const METRIC_PIPELINE_RUN_TOTAL = 'acemq.pipeline.run.total';
export const METRIC_PIPELINE_RUN_DURATION = 'acemq.pipeline.run.duration';
