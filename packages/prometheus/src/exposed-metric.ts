import { ConfigurationError } from '@acemq/core';
import {
  BACKLOG_METRICS,
  METRICS,
  type MetricDefinition,
  type MetricKind,
  prometheusName,
} from '@acemq/observe';
import type { ObserverSettings } from './observer-options.ts';

const CATALOGUE: ReadonlyMap<string, MetricDefinition> = new Map(
  METRICS.map((definition) => [definition.name, definition]),
);

const HELP: ReadonlyMap<string, string> = new Map(
  [...METRICS, ...BACKLOG_METRICS].map(({ name, help }) => [name, help]),
);

/** What a metric is in the registry. */
export interface ExposedMetric {
  /** As the library calls it. */
  readonly metric: string;
  readonly kind: MetricKind;
  /** As Prometheus calls it. */
  readonly name: string;
  readonly help: string;
  /** The names of its labels, as the library calls them, sorted. */
  readonly labels: readonly string[];
  /** The same as Prometheus calls them, in the same order. */
  readonly labelNames: readonly string[];
  /** Of a distribution. */
  readonly buckets: readonly number[];
}

/** The library's own metrics, which are known before any sample comes. */
export function catalogueMetrics(settings: ObserverSettings): readonly ExposedMetric[] {
  return METRICS.map(({ name, kind, labels }) => exposedMetric(name, kind, labels, settings));
}

/**
 * A metric of the library has the labels of its catalogue, any other those of its first sample.
 *
 * @param labels - Of the first sample.
 * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when two of its labels would have one name, or one
 * has a name that Prometheus has for itself: two underscores first, or `le` in a distribution.
 */
export function exposedMetric(
  metric: string,
  kind: MetricKind,
  labels: readonly string[],
  { prefix, buckets, attemptBuckets }: ObserverSettings,
): ExposedMetric {
  const known = CATALOGUE.get(metric);
  const names = known?.labels ?? [...labels].sort();
  const labelNames = names.map(prometheusName);
  const twice = labelNames.find((name, index) => labelNames.indexOf(name) !== index);
  if (twice !== undefined) {
    throw new ConfigurationError(`${metric} has two labels that Prometheus would call ${twice}`);
  }
  const reserved = labelNames.find(
    (name) => name.startsWith('__') || (kind === 'distribution' && name === 'le'),
  );
  if (reserved !== undefined) {
    throw new ConfigurationError(`${metric} has a label ${reserved}, a name that Prometheus has for itself`);
  }
  return {
    metric,
    kind,
    name: prefix + prometheusName(metric),
    help: HELP.get(metric) ?? `The ${kind} ${metric}, as the application reports it.`,
    labels: names,
    labelNames,
    buckets: known?.unit === 'attempts' ? attemptBuckets : buckets,
  };
}

/**
 * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when a sample has other labels than its metric.
 */
export function checkLabels({ metric, labels }: ExposedMetric, given: readonly string[]): void {
  if (isSame(labels, given)) return;
  const whose = CATALOGUE.has(metric)
    ? 'this is a bug in the @acemq package that wrote it, not in the application'
    : 'all samples of a metric must have the same labels';
  throw new ConfigurationError(
    `${metric} has the labels ${list(labels)}, and a sample came with ${list(given)}: ${whose}`,
  );
}

export function isSame<Item>(one: readonly Item[], other: readonly Item[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}

/** As an error message prints a list. */
export function list(items: readonly (string | number)[]): string {
  return items.length === 0 ? 'none' : items.join(', ');
}
