import { ConfigurationError } from '@acemq/core';
import type { MetricKind } from '@acemq/observe';
import type {
  CollectorSettings,
  CounterChild,
  GaugeChild,
  HistogramChild,
  LabelledCollector,
} from './client.ts';
import { type ExposedMetric, isSame, list } from './exposed-metric.ts';
import type { ObserverSettings } from './observer-options.ts';

/** What a collector has for one label set, by the kind of its metric. */
export interface ChildOf {
  readonly counter: CounterChild;
  readonly gauge: GaugeChild;
  readonly distribution: HistogramChild;
}

const TYPE_OF: Readonly<Record<MetricKind, string>> = {
  counter: 'counter',
  gauge: 'gauge',
  distribution: 'histogram',
};

/** What both clients keep on a collector, though their types do not say so. */
interface Registered {
  readonly type?: unknown;
  readonly labelNames?: readonly string[];
  readonly upperBounds?: readonly number[];
  readonly enableExemplars?: boolean;
}

/**
 * The collector of a metric: the one that the registry has under its name, or a new one.
 *
 * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when what the registry has under that name is something
 * else, which it says.
 */
export function collectorFor<Kind extends MetricKind>(
  exposed: ExposedMetric & { readonly kind: Kind },
  settings: ObserverSettings,
): LabelledCollector<ChildOf[Kind]> {
  const registered = settings.registry.getSingleMetric(exposed.name);
  if (registered !== undefined) checkShared(exposed, registered);
  return (registered ?? newCollector(exposed, settings)) as LabelledCollector<ChildOf[Kind]>;
}

function newCollector(
  exposed: ExposedMetric,
  { client, registry }: ObserverSettings,
): LabelledCollector<ChildOf[MetricKind]> {
  const { kind, name, help, labelNames, buckets } = exposed;
  const settings: CollectorSettings = {
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry as never],
  };
  if (kind === 'counter') return new client.Counter(settings);
  if (kind === 'gauge') return new client.Gauge(settings);
  // A copy, since the client freezes it.
  return new client.Histogram({ ...settings, buckets: [...buckets] });
}

/**
 * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when a metric cannot be written to this collector of its
 * name.
 */
export function checkShared(exposed: ExposedMetric, collector: unknown): void {
  const { type, labelNames = [], upperBounds = [], enableExemplars } = collector as Registered;
  const { metric, name, kind, buckets } = exposed;
  if (type !== TYPE_OF[kind]) {
    throw taken(name, `a ${String(type)}`, `${metric} is a ${TYPE_OF[kind]}`);
  }
  const labels = [...labelNames].sort();
  const own = [...exposed.labelNames].sort();
  if (!isSame(labels, own)) {
    throw taken(name, `a ${type} with the labels ${list(labels)}`, `${metric} has ${list(own)}`);
  }
  if (kind === 'distribution' && !isSame(upperBounds, buckets)) {
    const theirs = `a ${type} with the buckets ${list(upperBounds)}`;
    throw taken(name, theirs, `this observer has ${list(buckets)} for ${metric}`);
  }
  if (enableExemplars === true) {
    throw taken(name, `a ${type} with exemplars`, `${metric} is written without them`);
  }
}

function taken(name: string, theirs: string, ours: string): ConfigurationError {
  return new ConfigurationError(
    `the registry has ${name} as ${theirs}, while ${ours}; a namespace or another registry keeps them apart`,
  );
}
