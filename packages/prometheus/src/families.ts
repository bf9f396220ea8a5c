import { ConfigurationError } from '@acemq/core';
import { type LabelPair, type Labels, type MetricKind, SeriesOfMetric } from '@acemq/observe';
import type { LabelledCollector } from './client.ts';
import { type ChildOf, collectorFor } from './collectors.ts';
import { checkLabels, type ExposedMetric, exposedMetric } from './exposed-metric.ts';
import type { ObserverSettings } from './observer-options.ts';

interface Family<Child> {
  readonly name: string;
  readonly collector: LabelledCollector<Child>;
  readonly series: SeriesOfMetric<Child>;
}

/** Which metric of one observer has which name in the registry. */
export class NamesInUse {
  readonly #metricOf: Map<string, string> = new Map();

  /** @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when another metric has the name. */
  take({ name, kind, metric }: ExposedMetric): void {
    const own = `the ${kind} ${metric}`;
    const holder = this.#metricOf.get(name) ?? own;
    if (holder !== own) {
      throw new ConfigurationError(`${own} would be ${name} in the registry, which is ${holder}`);
    }
    this.#metricOf.set(name, own);
  }
}

/** All metrics of one kind, each opened in the registry by its first sample. */
export class Families<Kind extends MetricKind> {
  readonly #kind: Kind;
  readonly #settings: ObserverSettings;
  readonly #names: NamesInUse;
  readonly #byMetric: Map<string, Family<ChildOf[Kind]>> = new Map();

  constructor(kind: Kind, settings: ObserverSettings, names: NamesInUse) {
    this.#kind = kind;
    this.#settings = settings;
    this.#names = names;
  }

  /** Where a sample is written, or `undefined` where it is left out. */
  child(metric: string, labels: Labels): ChildOf[Kind] | undefined {
    let family = this.#byMetric.get(metric);
    // A registry may be cleared while this observer lives, and its collectors are read by nobody then.
    if (family === undefined || this.#settings.registry.getSingleMetric(family.name) !== family.collector) {
      family = this.#open(metric, labels);
    }
    return family.series.of(labels)?.value;
  }

  #open(metric: string, labels: Labels): Family<ChildOf[Kind]> {
    const { maxSeries, onFull } = this.#settings;
    const kind = this.#kind;
    const exposed = { ...exposedMetric(metric, kind, Object.keys(labels), this.#settings), kind };
    checkLabels(exposed, Object.keys(labels).sort());
    this.#names.take(exposed);
    const collector = collectorFor(exposed, this.#settings);
    const create = (pairs: readonly LabelPair[]): ChildOf[Kind] => childOf(exposed, collector, pairs);
    const series = new SeriesOfMetric({ metric, kind, maxSeries, onFull, create });
    const family = { name: exposed.name, collector, series };
    this.#byMetric.set(metric, family);
    return family;
  }
}

function childOf<Child>(
  exposed: ExposedMetric,
  collector: LabelledCollector<Child>,
  pairs: readonly LabelPair[],
): Child {
  checkLabels(
    exposed,
    pairs.map(([name]) => name),
  );
  // Filled name by name, which the client reads faster than an object made of entries.
  const labels: Record<string, string> = {};
  for (const [index, [, value]] of pairs.entries()) {
    const name = exposed.labelNames[index]; // Both lists are in the order of the library's names.
    if (name !== undefined) labels[name] = value;
  }
  return collector.labels(labels);
}
