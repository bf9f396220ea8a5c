import type { Clock } from '@acemq/core';
import { ALL_LANES, maskOf } from './destination-hash.ts';
import type { Dispatcher } from './dispatcher.ts';
import { LateCommits } from './late-commits.ts';
import type { Outgoing } from './outgoing.ts';
import type { OutboxLedger, OwedKey } from './store.ts';

/** How many bytes of bodies are held before no more are read. One record is read whatever its size. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Records behind the scan that one statement looks through. */
const LOOK = 1000;

/** Milliseconds between two looks behind the scan. */
const LOOK_EVERY = 50;

/** Milliseconds between two looks at everything that is owed, whatever was seen before. */
const FULL_LOOK_EVERY = 60_000;

/** A look that took long is not repeated before this many times as long has passed. */
const LOOK_SHARE = 20;

/** What a {@link Reader} is made with. */
export interface ReaderParts {
  readonly ledger: OutboxLedger;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  /** How many records are read at once, and held. */
  readonly batch: number;
}

/**
 * Reads owed records for a dispatcher. A scan goes on in sequence order from the place that it has reached, so that it
 * does not walk over what was published before; behind it, looks find what was committed late. A destination that rests is
 * left out of the scan, and read by itself when its rest is over.
 */
export class Reader {
  readonly #parts: ReaderParts;
  readonly #late = new LateCommits();
  #lanes = 0n;
  #cursor = 0;
  #back = Number.POSITIVE_INFINITY;
  #exhausted = false;
  #lookDue = Number.NEGATIVE_INFINITY;
  #fullLookDue = Number.NEGATIVE_INFINITY;
  #looked = false;
  #wakes = 0;

  constructor(parts: ReaderParts) {
    this.#parts = parts;
  }

  /** Whether the scan has found the end, and nothing has woken it since. */
  get isExhausted(): boolean {
    return this.#exhausted;
  }

  /** Whether there is room for more records. */
  get hasRoom(): boolean {
    const { dispatcher, batch } = this.#parts;
    return dispatcher.waiting < batch && dispatcher.bytes < MOST_BYTES;
  }

  /** These lanes are to be read from now on. With new ones among them, everything is looked through again. */
  take(lanes: ReadonlySet<number>, gained: boolean): void {
    this.#lanes = lanes.size === 64 ? ALL_LANES : maskOf(lanes);
    if (gained) this.lookAgain();
  }

  /** There may be something new. */
  wake(): void {
    this.#wakes += 1;
    this.#exhausted = false;
    this.#looked = false;
  }

  /** When the next look behind the scan is due. */
  get nextLook(): number {
    if (this.#lanes === 0n) return Number.POSITIVE_INFINITY;
    const isSettled = this.#looked || this.#cursor <= this.#late.floor;
    return isSettled ? this.#fullLookDue : Math.min(this.#lookDue, this.#fullLookDue);
  }

  /** Everything is looked through once more. */
  lookAgain(): void {
    this.#late.restart();
    this.goBack(0);
  }

  /** The scan is to go on from behind this place. */
  goBack(after: number): void {
    this.#back = Math.min(this.#back, after);
    this.wake();
  }

  /** Reads once. Resolves to whether to read again at once. */
  async step(): Promise<boolean> {
    if (this.#lanes === 0n) {
      this.#exhausted = true;
      return false;
    }
    const { dispatcher, clock } = this.#parts;
    const apart = this.hasRoom ? dispatcher.nextApart(clock.elapsed()) : undefined;
    if (apart !== undefined) {
      await this.#readApart(apart);
      return true;
    }
    if (await this.#lookIfDue()) return true;
    if (this.#exhausted || !this.hasRoom) return false;
    await this.#scan();
    return !this.#exhausted;
  }

  async #scan(): Promise<void> {
    const { dispatcher, ledger, batch } = this.#parts;
    this.#turnBack();
    const wakes = this.#wakes;
    const keys = await ledger.owed({
      after: this.#cursor,
      lanes: this.#lanes,
      without: dispatcher.apart,
      limit: batch,
    });
    const reached = await this.#fetch(keys);
    if (reached !== undefined) this.#cursor = reached;
    // What came after the statement had begun is not in its answer.
    if (reached === keys.at(-1)?.seq && keys.length < batch && wakes === this.#wakes) this.#exhausted = true;
    this.#turnBack();
  }

  async #readApart(destination: Outgoing): Promise<void> {
    const { ledger, batch } = this.#parts;
    const after = destination.readFrom ?? 0;
    const limit = destination.probing ? 1 : batch;
    const upTo = this.#cursor;
    const keys = await ledger.owed({ after, upTo, only: destination.hash, lanes: this.#lanes, limit });
    if (destination.readFrom === undefined) return; // Its lane went to somebody else meanwhile.
    const from = destination.readFrom;
    const reached = await this.#fetch(keys, destination);
    if (destination.readFrom === undefined || destination.readFrom < from) return;
    if (reached === keys.at(-1)?.seq && keys.length < limit) destination.readFrom = undefined;
    else if (reached !== undefined) destination.readFrom = reached;
    if (destination.readFrom === undefined) this.wake();
  }

  /** Fetches as many as there is room for. Resolves to the last sequence number of those. */
  async #fetch(keys: readonly OwedKey[], destination?: Outgoing): Promise<number | undefined> {
    const { dispatcher, ledger, clock } = this.#parts;
    const wanted: number[] = [];
    let bytes = dispatcher.bytes;
    let reached: number | undefined;
    for (const { seq, size } of keys) {
      if (!dispatcher.knows(seq)) {
        if (wanted.length > 0 && bytes + size > MOST_BYTES) break;
        bytes += size;
        wanted.push(seq);
      }
      reached = seq;
    }
    if (wanted.length > 0) {
      const records = await ledger.fetch(wanted);
      dispatcher.add(records, clock.elapsed(), destination);
    }
    return reached;
  }

  /** Looks behind the scan. Resolves to whether something was found there. */
  async #lookIfDue(): Promise<boolean> {
    const { ledger, clock } = this.#parts;
    const began = clock.elapsed();
    const wakes = this.#wakes;
    const full = began >= this.#fullLookDue;
    if (!full && (this.#looked || this.#cursor <= this.#late.floor || began < this.#lookDue)) return false;
    // Whoever is writing is asked first: who has ended by then is seen by the statement that comes after.
    const settled = this.#late.note(this.#cursor, await ledger.writers(), began);
    const found = await this.#look(full ? 0 : this.#late.floor);
    this.#late.settle(settled);
    const took = clock.elapsed() - began;
    this.#lookDue = began + Math.max(LOOK_EVERY, took * LOOK_SHARE);
    if (full) this.#fullLookDue = began + Math.max(FULL_LOOK_EVERY, took * LOOK_SHARE);
    this.#looked = this.#exhausted && wakes === this.#wakes;
    if (found === undefined) return false;
    this.goBack(found - 1);
    return true;
  }

  /** The first record behind the scan that nobody knows. */
  async #look(floor: number): Promise<number | undefined> {
    const { ledger, dispatcher } = this.#parts;
    const upTo = this.#cursor;
    let after = floor;
    for (;;) {
      const keys = await ledger.owed({
        after,
        upTo,
        lanes: this.#lanes,
        without: dispatcher.apart,
        limit: LOOK,
      });
      const found = keys.find(({ seq }) => !dispatcher.knows(seq));
      if (found !== undefined) return found.seq;
      const last = keys.at(-1);
      if (last === undefined || keys.length < LOOK) return undefined;
      after = last.seq;
    }
  }

  #turnBack(): void {
    if (this.#back === Number.POSITIVE_INFINITY) return;
    this.#cursor = Math.min(this.#cursor, this.#back);
    this.#back = Number.POSITIVE_INFINITY;
    this.#exhausted = false;
  }
}
