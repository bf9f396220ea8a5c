/** The rule `jobs_oldest_age_seconds > 60, for: 1m`, without a Prometheus. */
export class AgeAlert {
  readonly #threshold: number;
  readonly #holds: number;
  #above: number | undefined;

  /** Both in seconds. */
  constructor(threshold: number, holds: number) {
    this.#threshold = threshold;
    this.#holds = holds;
  }

  /** Whether it fires, given the age at that time. */
  fires(time: number, age: number): boolean {
    if (age <= this.#threshold) this.#above = undefined;
    else this.#above ??= time;
    return this.#above !== undefined && time - this.#above >= this.#holds;
  }
}
