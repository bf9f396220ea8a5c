import { checkOptions, type Logger } from '@acemq/core';
import { Distribution, type DurationSummary } from './duration-summary.ts';
import type { MetricKind } from './metric-definition.ts';
import type { Labels, Observer } from './observer.ts';
import { checkDelta, checkGauge, checkSample } from './sample.ts';
import { type Series, SeriesOfMetric } from './series.ts';
import { checkMaxSeries, type FullMetric, warnOfFull } from './series-limit.ts';

/** How many label sets a metric may have before new ones are counted together. */
export const DEFAULT_MAX_SERIES = 10_000;

/** Options of {@link Metrics}. */
export interface MetricsOptions {
  /**
   * How many label sets one metric may have. In a new one past that, the label with the most values so far
   * (in practice `routing.key`) reads `other`; never `outcome`, and never `queue`. A gauge past it is left
   * out, and so is what has no label that may be replaced. Where replacing one label brings as many series
   * again, all that may be replaced read `other`, so that a metric never has more than three times this many.
   * A whole number of at least 1; 10,000 by default.
   */
  readonly maxSeries?: number;
  /** Gets one warning per metric that reaches `maxSeries`. `console` by default. */
  readonly logger?: Pick<Logger, 'warn'>;
}

/** The series that {@link prometheusText} reads, each list sorted by key. */
export interface SeriesByKind {
  readonly counters: readonly Series<number>[];
  readonly gauges: readonly Series<number>[];
  readonly distributions: readonly Series<DurationSummary>[];
}

interface Held {
  number: number;
}

/**
 * Keeps the numbers in memory: enough for a scrape, a test, or a signal handler that prints them.
 *
 * Memory is bounded by {@link MetricsOptions.maxSeries} for each metric. A sample is cheapest where its labels object is frozen
 * and was seen before (one look-up), and needs sorting only for labels that were never seen.
 */
export class Metrics implements Observer {
  readonly #maxSeries: number;
  readonly #onFull: (full: FullMetric) => void;
  readonly #counters: Map<string, SeriesOfMetric<Held>> = new Map();
  readonly #gauges: Map<string, SeriesOfMetric<Held>> = new Map();
  readonly #distributions: Map<string, SeriesOfMetric<Distribution>> = new Map();

  /**
   * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when `maxSeries` is not a whole number of at least 1, for a
   * logger without `warn`, and for an option that nobody reads.
   */
  constructor(options: MetricsOptions = {}) {
    checkOptions(options, ['maxSeries', 'logger'], 'Metrics');
    this.#maxSeries = checkMaxSeries(options.maxSeries, DEFAULT_MAX_SERIES);
    this.#onFull = warnOfFull(options.logger ?? console);
  }

  /**
   * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when `delta` is negative or not finite: a counter only
   * grows.
   */
  count(metric: string, delta: number, labels: Labels): void {
    checkDelta(metric, delta);
    const series = this.#of(this.#counters, metric, 'counter', held).of(labels);
    if (series !== undefined) series.value.number += delta;
  }

  /**
   * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when `value` is not finite: the total could not be
   * read again.
   */
  observe(metric: string, value: number, labels: Labels): void {
    checkSample(metric, value);
    this.#of(this.#distributions, metric, 'distribution', distribution).of(labels)?.value.add(value);
  }

  /**
   * `NaN` says that the number is not known at the moment.
   *
   * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when `value` is infinite, or no number.
   */
  gauge(metric: string, value: number, labels: Labels): void {
    checkGauge(metric, value);
    const series = this.#of(this.#gauges, metric, 'gauge', held).of(labels);
    if (series !== undefined) series.value.number = value;
  }

  /**
   * Every counter by its {@link metricKey}, in the order of the keys. A copy: later samples do not change it.
   */
  get counts(): ReadonlyMap<string, number> {
    return byKey(this.series().counters);
  }

  /** Every gauge by its {@link metricKey}, in the order of the keys. A copy. */
  get gauges(): ReadonlyMap<string, number> {
    return byKey(this.series().gauges);
  }

  /** Every distribution by its {@link metricKey}, in the order of the keys. A copy. */
  get durations(): ReadonlyMap<string, DurationSummary> {
    return byKey(this.series().distributions);
  }

  /** A copy of every series with its labels as pairs, so that an exporter need not read them out of a key. */
  series(): SeriesByKind {
    return Object.freeze({
      counters: copies(this.#counters, numberOf),
      gauges: copies(this.#gauges, numberOf),
      distributions: copies(this.#distributions, summaryOf),
    });
  }

  /**
   * One line a series: counters, then gauges, then distributions, each in the order of their keys.
   * `nothing recorded yet` where there is none.
   */
  toString(): string {
    const { counters, gauges, distributions } = this.series();
    const lines = [
      ...[...counters, ...gauges].map(({ key, value }) => `${key} ${value}`),
      ...distributions.map(({ key, value }) => `${key} count=${value.count} mean=${value.mean.toFixed(4)}s`),
    ];
    return lines.length === 0 ? 'nothing recorded yet' : lines.join('\n');
  }

  #of<Value>(
    all: Map<string, SeriesOfMetric<Value>>,
    metric: string,
    kind: MetricKind,
    create: () => Value,
  ): SeriesOfMetric<Value> {
    let found = all.get(metric);
    if (found === undefined) {
      found = new SeriesOfMetric({ metric, kind, maxSeries: this.#maxSeries, create, onFull: this.#onFull });
      all.set(metric, found);
    }
    return found;
  }
}

// What `console.log(metrics)` prints on Node; nothing of Node is imported for it.
Object.defineProperty(Metrics.prototype, Symbol.for('nodejs.util.inspect.custom'), {
  value(this: Metrics): string {
    return this.toString();
  },
});

const held = (): Held => ({ number: 0 });
const distribution = (): Distribution => new Distribution();
const numberOf = (value: Held): number => value.number;
const summaryOf = (value: Distribution): DurationSummary => value.summary();

function copies<Value, Copy>(
  kind: ReadonlyMap<string, SeriesOfMetric<Value>>,
  copy: (value: Value) => Copy,
): readonly Series<Copy>[] {
  const all: Series<Copy>[] = [];
  for (const metric of kind.values()) {
    for (const { key, labels, metric: name, value } of metric.all()) {
      all.push(Object.freeze({ metric: name, labels, key, value: copy(value) }));
    }
  }
  return Object.freeze(all.sort((a, b) => (a.key < b.key ? -1 : 1)));
}

function byKey<Value>(series: readonly Series<Value>[]): ReadonlyMap<string, Value> {
  return new Map(series.map(({ key, value }) => [key, value]));
}
