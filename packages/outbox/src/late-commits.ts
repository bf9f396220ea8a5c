import type { Writers } from './store.ts';

/** How long a transaction may be open where the store cannot tell, before its records wait for the full look. */
const LONGEST_UNSEEN = 60_000;

interface Mark {
  readonly upTo: number;
  readonly running: ReadonlySet<string>;
  readonly at: number;
}

/**
 * A sequence number is given out before the transaction commits, so behind the place that a scan has reached a record may
 * still turn up. This finds the lowest place up to which that is over: everybody has ended who was writing when the scan
 * was there. From it on a scan looks again, and not from the beginning, where it would walk over what is published.
 */
export class LateCommits {
  #floor = 0;
  #marks: Mark[] = [];

  /** No record turns up any more at or before this place. */
  get floor(): number {
    return this.#floor;
  }

  /**
   * Takes notice of who is writing, asked after the scan had reached `reached`, at the time `now` (elapsed
   * milliseconds). Returns the place that becomes the floor once everything behind the old one has been looked through
   * again; hand it to {@link settle}.
   */
  note(reached: number, writers: Writers | undefined, now: number): number {
    if (writers === undefined) return this.#byTime(reached, now);
    const running = new Set(writers.running);
    let settled = this.#floor;
    if (!writers.unsure) {
      if (running.size === 0) {
        this.#marks = [];
        return Math.max(settled, reached);
      }
      while (this.#marks[0] !== undefined && !meet(this.#marks[0].running, running)) {
        settled = Math.max(settled, this.#marks[0].upTo);
        this.#marks.shift();
      }
    }
    // One open mark at a time is enough: the next is set when it has come true.
    if (this.#marks.length === 0) this.#marks.push({ upTo: reached, running, at: now });
    return settled;
  }

  settle(place: number): void {
    this.#floor = Math.max(this.#floor, place);
  }

  /** Everything is to be looked through again: there are lanes whose records were not read so far. */
  restart(): void {
    this.#floor = 0;
    this.#marks = [];
  }

  #byTime(reached: number, now: number): number {
    let settled = this.#floor;
    while (this.#marks[0] !== undefined && now - this.#marks[0].at >= LONGEST_UNSEEN) {
      settled = Math.max(settled, this.#marks[0].upTo);
      this.#marks.shift();
    }
    const last = this.#marks.at(-1);
    if (last === undefined || now - last.at >= 1000)
      this.#marks.push({ upTo: reached, running: new Set(), at: now });
    return settled;
  }
}

function meet(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  for (const one of some) if (others.has(one)) return true;
  return false;
}
