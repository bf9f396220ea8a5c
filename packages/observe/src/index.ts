// Being told the numbers.
export { guardObserver } from './guard.ts';
export { isNullObserver, NullObserver } from './observer.ts';
export { observers } from './observers.ts';
export type { Labels, Observer } from './observer.ts';
export type { ObserversOptions } from './observers.ts';

// Keeping them in memory, and printing them.
export { DEFAULT_MAX_SERIES, Metrics } from './metrics.ts';
export { metricKey } from './metric-key.ts';
export { metricsHandler } from './metrics-handler.ts';
export { PROMETHEUS_CONTENT_TYPE, prometheusText } from './prometheus-text.ts';
export type { DurationSummary } from './duration-summary.ts';
export type { LabelPair } from './metric-key.ts';
export type { MetricsHandlerOptions } from './metrics-handler.ts';
export type { MetricsOptions, SeriesByKind } from './metrics.ts';
export type { Series } from './series.ts';

// Writing an observer that keeps something for each label set.
export { checkDelta, checkGauge, checkSample } from './sample.ts';
export { SeriesOfMetric } from './series.ts';
export { checkMaxSeries, warnOfFull } from './series-limit.ts';
export { prometheusName } from './prometheus-text.ts';
export type { SeriesOptions } from './series.ts';
export type { FullMetric } from './series-limit.ts';

// What is counted.
export { DEFAULT_ATTEMPT_BUCKETS, DEFAULT_DURATION_BUCKETS } from './buckets.ts';
export { METRICS } from './catalogue.ts';
export {
  BACKLOG_METRICS,
  METRIC_BACKLOG_ERRORS,
  METRIC_BACKLOG_READ_TIMESTAMP,
  METRIC_JOBS_COMPLETED,
  METRIC_JOBS_DEAD_LENGTH,
  METRIC_JOBS_DEPTH,
  METRIC_JOBS_OLDEST_AGE,
  METRIC_JOBS_WAITING_RETRY,
  TAG_KIND,
} from './backlog-metrics.ts';
export {
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
export type { MetricDefinition, MetricKind, MetricUnit } from './metric-definition.ts';

// By which labels, and their values.
export {
  TAG_EXCHANGE,
  TAG_MESSAGE_TYPE,
  TAG_OUTCOME,
  TAG_PIPELINE,
  TAG_QUEUE,
  TAG_ROUTING_KEY,
  TAG_RUNG,
  TAG_STEP,
  TAG_TARGET,
  TAG_TRANSPORT,
  TAG_WHERE,
} from './tag-names.ts';
export {
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
export type {
  OutboxOutcome,
  PipelineOutcome,
  PublishOutcome,
  RequestOutcome,
  RetryPlace,
} from './outcomes.ts';
