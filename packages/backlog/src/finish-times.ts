/** When each busy thread will be done: a binary heap, the earliest on top. */
export class FinishTimes {
  readonly #times: Float64Array;
  #size = 0;

  constructor(threads: number) {
    this.#times = new Float64Array(threads);
  }

  get size(): number {
    return this.#size;
  }

  /** When the next thread is done; never, where none is busy. */
  get next(): number {
    return this.#size === 0 ? Number.POSITIVE_INFINITY : (this.#times[0] as number);
  }

  add(time: number): void {
    const times = this.#times;
    let at = this.#size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = times[parent] as number;
      if (above <= time) break;
      times[at] = above;
      at = parent;
    }
    times[at] = time;
  }

  removeNext(): void {
    const times = this.#times;
    const last = times[--this.#size] as number;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#size) break;
      if (child + 1 < this.#size && (times[child + 1] as number) < (times[child] as number)) child += 1;
      if ((times[child] as number) >= last) break;
      times[at] = times[child] as number;
      at = child;
    }
    times[at] = last;
  }
}
