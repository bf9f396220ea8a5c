/**
 * What is kept of a distribution. There are no percentiles, on purpose: those of several processes cannot be
 * put together, while counts and totals can.
 */
export interface DurationSummary {
  /** How many samples; at least 1. */
  readonly count: number;
  /** Their sum, in the unit of the metric (seconds, but for `acemq.consume.attempts`). */
  readonly total: number;
  /** The smallest sample. */
  readonly fastest: number;
  /** The largest sample. */
  readonly slowest: number;
  /** `total / count`. */
  readonly mean: number;
}

/** The sums from which a {@link DurationSummary} is made on demand, so that a sample allocates nothing. */
export class Distribution {
  #count = 0;
  #total = 0;
  #fastest = Number.POSITIVE_INFINITY;
  #slowest = Number.NEGATIVE_INFINITY;

  add(sample: number): void {
    this.#count += 1;
    this.#total += sample;
    if (sample < this.#fastest) this.#fastest = sample;
    if (sample > this.#slowest) this.#slowest = sample;
  }

  /** Makes sense once a sample was added. */
  summary(): DurationSummary {
    return Object.freeze({
      count: this.#count,
      total: this.#total,
      fastest: this.#fastest,
      slowest: this.#slowest,
      mean: this.#total / this.#count,
    });
  }
}
