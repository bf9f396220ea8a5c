import { LANES } from './destination-hash.ts';
import type { Lease } from './store.ts';

/** Part of a lease that must be left for a record to be published under it. */
const SAFETY = 4;

/** The lanes that a relay has, and for how long. */
export class LanesHeld {
  readonly #lease: number;
  #held: ReadonlySet<number> = new Set();
  #leaving: ReadonlySet<number> = new Set();
  #until = Number.NEGATIVE_INFINITY;
  #renewAt = Number.NEGATIVE_INFINITY;

  /** @param lease - Milliseconds. */
  constructor(lease: number) {
    this.#lease = lease;
  }

  /** Those that may be published. */
  get mine(): ReadonlySet<number> {
    return new Set([...this.#held].filter((lane) => !this.#leaving.has(lane)));
  }

  /** Those that are to be given up once nothing of them is out. */
  get leaving(): ReadonlySet<number> {
    return this.#leaving;
  }

  /** When the lease is to be renewed, in elapsed milliseconds. */
  get renewAt(): number {
    return this.#renewAt;
  }

  /** When publishing must have stopped: with a quarter of the lease left, somebody may soon have taken it over. */
  get publishUntil(): number {
    return this.#until - this.#lease / SAFETY;
  }

  /**
   * Takes note of a lease that was asked for at `asked`: the store counted from then on or later. Returns whether there
   * are lanes that were not there before.
   */
  renewed(lease: Lease, asked: number, interval: number): boolean {
    const held = new Set(lease.lanes);
    const gained = lease.lanes.some((lane) => !this.#held.has(lane) || this.lapsed(asked));
    const share = Math.ceil(LANES / Math.max(1, lease.relays));
    const staying = lease.lanes.filter((lane) => !this.#leaving.has(lane));
    this.#leaving = new Set([
      ...[...this.#leaving].filter((lane) => held.has(lane)),
      ...staying.slice(share),
    ]);
    this.#held = held;
    this.#until = asked + this.#lease;
    // With less than its share it asks more often, since somebody may be giving lanes up for it.
    const wait = held.size < share ? Math.min(interval, this.#lease / 3) : this.#lease / 3;
    this.#renewAt = asked + wait;
    return gained;
  }

  /** Those that were leaving are given up. */
  gaveUp(): void {
    this.#held = this.mine;
    this.#leaving = new Set();
  }

  /** All lanes are given up. */
  left(): void {
    this.#held = new Set();
    this.#leaving = new Set();
    this.#until = Number.NEGATIVE_INFINITY;
    this.#renewAt = Number.NEGATIVE_INFINITY;
  }

  /** Whether somebody else may have had the lanes since the last renewal. */
  lapsed(now: number): boolean {
    return now >= this.#until;
  }
}
