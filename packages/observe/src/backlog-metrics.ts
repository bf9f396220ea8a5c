import { type MetricDefinition, metric } from './metric-definition.ts';

/** The names of the numbers of a backlog, as they stand on a dashboard. */
export const METRIC_JOBS_DEPTH = 'jobs_depth';
export const METRIC_JOBS_OLDEST_AGE = 'jobs_oldest_age_seconds';
export const METRIC_JOBS_COMPLETED = 'jobs_completed_total';
export const METRIC_JOBS_DEAD_LENGTH = 'jobs_dead_length';
export const METRIC_JOBS_WAITING_RETRY = 'jobs_waiting_retry';
export const METRIC_BACKLOG_ERRORS = 'jobs_backlog_errors_total';
export const METRIC_BACKLOG_READ_TIMESTAMP = 'jobs_backlog_read_timestamp_seconds';

/** The label that says which kind of job it is. */
export const TAG_KIND = 'kind';

/**
 * Every metric of a backlog, as `@acemq/backlog` writes them: beside those of the family, and not among them. Their names
 * are written as they are read.
 */
export const BACKLOG_METRICS: readonly MetricDefinition[] = Object.freeze([
  metric(
    METRIC_JOBS_DEPTH,
    'gauge',
    'jobs',
    [TAG_KIND],
    {},
    'Jobs that are not finished, those in work included.',
  ),
  metric(
    METRIC_JOBS_OLDEST_AGE,
    'gauge',
    'seconds',
    [TAG_KIND],
    {},
    'Time since the oldest job that is not finished was added.',
  ),
  metric(METRIC_JOBS_COMPLETED, 'counter', 'jobs', [TAG_KIND], {}, 'Jobs that were completed.'),
  metric(
    METRIC_JOBS_DEAD_LENGTH,
    'gauge',
    'jobs',
    [],
    {},
    'Jobs that were given up and are kept for somebody to look at.',
  ),
  metric(
    METRIC_JOBS_WAITING_RETRY,
    'gauge',
    'jobs',
    [TAG_KIND],
    {},
    'Jobs that wait to be tried again, which the depth does not count.',
  ),
  metric(METRIC_BACKLOG_ERRORS, 'counter', 'errors', [], {}, 'Readings of the backlog that failed.'),
  metric(
    METRIC_BACKLOG_READ_TIMESTAMP,
    'gauge',
    'seconds',
    [],
    {},
    'When the last good reading was taken, in seconds since the epoch.',
  ),
]);
