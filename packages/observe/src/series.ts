import { LabelPaths } from './label-paths.ts';
import type { MetricKind } from './metric-definition.ts';
import { keyOf, type LabelPair, sortedLabels } from './metric-key.ts';
import type { Labels } from './observer.ts';
import { type FullMetric, fullMetric, replacements, valuesByLabel } from './series-limit.ts';

/** One metric with one set of labels, and what is kept of it. */
export interface Series<Value> {
  readonly metric: string;
  /** Its labels, in the order of their names. */
  readonly labels: readonly LabelPair[];
  /** What {@link metricKey} makes of the two. */
  readonly key: string;
  readonly value: Value;
}

/** What {@link SeriesOfMetric} is made of. */
export interface SeriesOptions<Value> {
  readonly metric: string;
  readonly kind: MetricKind;
  /** How many label sets get a series of their own: a whole number of at least 1. */
  readonly maxSeries: number;
  /**
   * Makes what is kept of a new series. Where it throws there is no series, and it is asked again the next
   * time.
   */
  readonly create: (labels: readonly LabelPair[]) => Value;
  /** Called once, when the first label set finds no room. */
  readonly onFull: (full: FullMetric) => void;
}

/**
 * All the series of one metric, found by their labels: what an {@link Observer} that keeps something for each
 * label set is built on. The limit of {@link MetricsOptions.maxSeries} holds here.
 *
 * Past it the label with the most values so far reads `other` in a new label set. Where those are
 * `maxSeries` too, every label but `outcome` and `queue` does, for `maxSeries` series more; what is new then,
 * has no label but these two, or is of a gauge, is left out. So there are never more than three times
 * `maxSeries` series, whatever comes.
 */
export class SeriesOfMetric<Value> {
  readonly #options: SeriesOptions<Value>;
  readonly #byKey: Map<string, Series<Value>> = new Map();
  /** `null` is what was left out. */
  readonly #byFrozenLabels: WeakMap<Labels, Series<Value> | null> = new WeakMap();
  readonly #byPath: LabelPaths<Series<Value>> = new LabelPaths();
  /** How many there are as they came, with one label replaced, and with all. */
  readonly #counts: [number, number, number] = [0, 0, 0];
  /** How many values each label had when the first label set found no room. */
  #widths: ReadonlyMap<string, number> | undefined;

  constructor(options: SeriesOptions<Value>) {
    this.#options = options;
  }

  /**
   * Where a sample with these labels goes: known by the object itself where it cannot change, by its values
   * otherwise. `undefined` where the sample is left out.
   *
   * @throws what {@link SeriesOptions.create} throws.
   */
  of(labels: Labels): Series<Value> | undefined {
    const known = this.#byFrozenLabels.get(labels);
    if (known !== undefined) return known === null ? undefined : known;
    const series = this.#byPath.find(labels) ?? this.#bySorting(labels);
    if (Object.isFrozen(labels)) this.#byFrozenLabels.set(labels, series ?? null);
    return series;
  }

  all(): Iterable<Series<Value>> {
    return this.#byKey.values();
  }

  #bySorting(labels: Labels): Series<Value> | undefined {
    const sorted = sortedLabels(labels);
    const own = this.#findOrAdd(sorted, 0);
    if (own === undefined) return this.#rest(sorted);
    this.#byPath.learn(labels, own);
    return own;
  }

  /** The series of what has no place of its own. */
  #rest(sorted: readonly LabelPair[]): Series<Value> | undefined {
    const { kind, metric, maxSeries, onFull } = this.#options;
    const mayReplace = kind !== 'gauge';
    let widths = this.#widths;
    if (widths === undefined) {
      widths = valuesByLabel([...this.#byKey.values()].map(({ labels }) => labels));
      this.#widths = widths;
      onFull(fullMetric(metric, maxSeries, sorted, widths, mayReplace));
    }
    if (!mayReplace) return undefined;
    const [first, second] = replacements(sorted, widths);
    if (first === undefined) return undefined;
    const series = this.#findOrAdd(first, 1);
    return series === undefined && second !== undefined ? this.#findOrAdd(second, 2) : series;
  }

  #findOrAdd(labels: readonly LabelPair[], count: 0 | 1 | 2): Series<Value> | undefined {
    const { metric, maxSeries, create } = this.#options;
    const key = keyOf(metric, labels);
    const known = this.#byKey.get(key);
    if (known !== undefined || this.#counts[count] >= maxSeries) return known;
    const series = Object.freeze({ metric, labels: Object.freeze(labels), key, value: create(labels) });
    this.#byKey.set(key, series);
    this.#counts[count] += 1;
    return series;
  }
}
