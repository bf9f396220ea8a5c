import { ConfigurationError, type Logger } from '@acemq/core';
import { Distribution, type DurationSummary } from './duration-summary.ts';
import type { Labels, Observer } from './observer.ts';
import { type Series, SeriesOfMetric } from './series.ts';

/** How many label sets a metric may have before new ones are counted together. */
export const DEFAULT_MAX_SERIES = 10_000;

/** Options of {@link Metrics}. */
export interface MetricsOptions {
  /**
   * How many label sets one metric may have. A new one past that is counted under `other`: its open labels
   * (such as `routing.key`) all read `other`, and its closed ones (such as `outcome`) keep their value. A
   * whole number of at least 1; 10,000 by default.
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
 * Memory is bounded by `maxSeries` for each metric. A sample is cheapest where its labels object is frozen
 * and was seen before (one look-up), and needs sorting only for labels that were never seen.
 */
export class Metrics implements Observer {
  readonly #maxSeries: number;
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #counters: Map<string, SeriesOfMetric<Held>> = new Map();
  readonly #gauges: Map<string, SeriesOfMetric<Held>> = new Map();
  readonly #distributions: Map<string, SeriesOfMetric<Distribution>> = new Map();
  readonly #full: Set<string> = new Set();

  /**
   * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when `maxSeries` is not a whole number of at least 1.
   */
  constructor(options: MetricsOptions = {}) {
    const maxSeries = options.maxSeries ?? DEFAULT_MAX_SERIES;
    if (!Number.isSafeInteger(maxSeries) || maxSeries < 1) {
      throw new ConfigurationError(
        `maxSeries is ${String(maxSeries)}; a whole number of at least 1 is allowed`,
      );
    }
    this.#maxSeries = maxSeries;
    this.#logger = options.logger ?? console;
  }

  /**
   * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when `delta` is negative or not finite: a counter only
   * grows.
   */
  count(metric: string, delta: number, labels: Labels): void {
    if (!(delta >= 0 && delta < Number.POSITIVE_INFINITY)) {
      throw new ConfigurationError(`${metric} was counted by ${String(delta)}; 0 and more is allowed`);
    }
    this.#of(this.#counters, metric, held).of(labels).value.number += delta;
  }

  /**
   * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when `value` is not finite: the total could not be
   * read again.
   */
  observe(metric: string, value: number, labels: Labels): void {
    if (!Number.isFinite(value)) throw notFinite(metric, value);
    this.#of(this.#distributions, metric, distribution).of(labels).value.add(value);
  }

  /** @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when `value` is not finite. */
  gauge(metric: string, value: number, labels: Labels): void {
    if (!Number.isFinite(value)) throw notFinite(metric, value);
    this.#of(this.#gauges, metric, held).of(labels).value.number = value;
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
    kind: Map<string, SeriesOfMetric<Value>>,
    metric: string,
    create: () => Value,
  ): SeriesOfMetric<Value> {
    let found = kind.get(metric);
    if (found === undefined) {
      found = new SeriesOfMetric(metric, this.#maxSeries, create, this.#warnOnce);
      kind.set(metric, found);
    }
    return found;
  }

  readonly #warnOnce = (metric: string): void => {
    if (this.#full.has(metric)) return;
    this.#full.add(metric);
    this.#logger.warn(`${metric} has ${this.#maxSeries} label sets; new ones are counted under "other"`, {
      metric,
      maxSeries: this.#maxSeries,
    });
  };
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

function notFinite(metric: string, value: number): ConfigurationError {
  return new ConfigurationError(`${metric} was given ${String(value)}; a finite number is allowed`);
}
