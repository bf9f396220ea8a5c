import { METRICS } from './catalogue.ts';
import { LabelPaths } from './label-paths.ts';
import { keyOf, type LabelPair, sortedLabels } from './metric-key.ts';
import type { Labels } from './observer.ts';

/** One metric with one set of labels, and what is kept of it. */
export interface Series<Value> {
  readonly metric: string;
  /** Its labels, in the order of their names. */
  readonly labels: readonly LabelPair[];
  /** What {@link metricKey} makes of the two. */
  readonly key: string;
  readonly value: Value;
}

/** What stands for the values that no longer get a series of their own. */
const OTHER = 'other';

const CLOSED_VALUES: ReadonlyMap<string, Readonly<Record<string, readonly string[]>>> = new Map(
  METRICS.map((definition) => [definition.name, definition.values]),
);

/** All the series of one metric, found by their labels. */
export class SeriesOfMetric<Value> {
  readonly #metric: string;
  readonly #limit: number;
  readonly #create: () => Value;
  readonly #onFull: (metric: string) => void;
  readonly #byKey: Map<string, Series<Value>> = new Map();
  readonly #byFrozenLabels: WeakMap<Labels, Series<Value>> = new WeakMap();
  readonly #byPath: LabelPaths<Series<Value>> = new LabelPaths();
  #own = 0;

  constructor(metric: string, limit: number, create: () => Value, onFull: (metric: string) => void) {
    this.#metric = metric;
    this.#limit = limit;
    this.#create = create;
    this.#onFull = onFull;
  }

  /**
   * Where a sample with these labels goes: known by the object itself where it cannot change, by its values
   * otherwise.
   */
  of(labels: Labels): Series<Value> {
    const known = this.#byFrozenLabels.get(labels);
    if (known !== undefined) return known;
    const series = this.#byPath.find(labels) ?? this.#bySorting(labels);
    if (Object.isFrozen(labels)) this.#byFrozenLabels.set(labels, series);
    return series;
  }

  all(): Iterable<Series<Value>> {
    return this.#byKey.values();
  }

  #bySorting(labels: Labels): Series<Value> {
    const sorted = sortedLabels(labels);
    const key = keyOf(this.#metric, sorted);
    let series = this.#byKey.get(key);
    if (series === undefined) {
      if (this.#own >= this.#limit) return this.#rest(sorted);
      this.#own += 1;
      series = this.#add(key, sorted);
    }
    this.#byPath.learn(labels, series);
    return series;
  }

  /**
   * The series of what has no place left. A label with a closed list of values keeps its value, so that a
   * failure is still counted as one.
   */
  #rest(sorted: readonly LabelPair[]): Series<Value> {
    this.#onFull(this.#metric);
    const closed = CLOSED_VALUES.get(this.#metric) ?? {};
    const labels = sorted.map(([name, value]): LabelPair => {
      const allowed = Object.hasOwn(closed, name) ? closed[name] : undefined;
      return Object.freeze([name, allowed?.includes(value) ? value : OTHER] as const);
    });
    const key = keyOf(this.#metric, labels);
    return this.#byKey.get(key) ?? this.#add(key, labels);
  }

  #add(key: string, labels: readonly LabelPair[]): Series<Value> {
    const series = Object.freeze({
      metric: this.#metric,
      labels: Object.freeze(labels),
      key,
      value: this.#create(),
    });
    this.#byKey.set(key, series);
    return series;
  }
}
