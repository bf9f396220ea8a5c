import { placeOf, type Step } from './fate.ts';
import type { Outcome } from './journal.ts';

/** What is known of a send, by its code in the ledger. No send, and one without an outcome, come first. */
const SENT: readonly (Outcome | undefined)[] = [
  undefined,
  undefined,
  'confirmed',
  'uncertain',
  'unwritten',
  'nacked',
  'unexpected',
];
const STARTED = 1;
/** A count of ends that is full; nobody asks how far past it a number went. */
const MOST = 255;

/** What is known of every message, by its number. Five bytes each, so that a run of a day fits. */
export class Ledger {
  #outcomes = new Uint8Array(1024);
  #arrived = new Uint8Array(1024);
  #handled = new Uint8Array(1024);
  #deadLettered = new Uint8Array(1024);
  #parked = new Uint8Array(1024);
  #size = 0;

  /** A send of this number was begun. */
  started(number: number): void {
    this.#grow(number);
    this.#outcomes[number] = STARTED;
  }

  /** A send of this number was settled. */
  settled(number: number, outcome: Outcome): void {
    this.#grow(number);
    this.#outcomes[number] = SENT.indexOf(outcome);
  }

  /** A handler has seen it. */
  worked(number: number, step: Step): void {
    this.#grow(number);
    this.#arrived[number] = 1;
    if (step === 'accept') count(this.#handled, number);
  }

  /** It was found in a set-aside queue. */
  setAside(number: number, where: 'dlq' | 'parked'): void {
    this.#grow(number);
    this.#arrived[number] = 1;
    count(where === 'dlq' ? this.#deadLettered : this.#parked, number);
  }

  /** What the numbers say. */
  account(): Account {
    const account = {
      sent: { confirmed: 0, uncertain: 0, unwritten: 0, nacked: 0, unexpected: 0 },
      ended: { handled: 0, dlq: 0, parked: 0 },
      uncertainArrived: 0,
      duplicates: 0,
      unsettled: [] as number[],
      lost: [] as number[],
      unfinished: [] as number[],
      misplaced: [] as number[],
      ghosts: [] as number[],
    };
    for (let number = 0; number < this.#size; number += 1) {
      const code = this.#outcomes[number] ?? 0;
      const outcome = SENT[code];
      const arrived = this.#arrived[number] === 1;
      const ends = {
        handled: this.#handled[number] ?? 0,
        dlq: this.#deadLettered[number] ?? 0,
        parked: this.#parked[number] ?? 0,
      };
      const total = ends.handled + ends.dlq + ends.parked;
      if (code === STARTED) account.unsettled.push(number);
      if (outcome !== undefined) account.sent[outcome] += 1;
      if (arrived && outcome === 'unwritten') account.ghosts.push(number);
      if (arrived && outcome === 'uncertain') account.uncertainArrived += 1;
      if (total === 0) {
        if (outcome === 'confirmed') account.lost.push(number);
        else if (arrived) account.unfinished.push(number);
        continue;
      }
      const place = placeOf(number);
      account.ended[place] += 1;
      if (ends[place] !== total) account.misplaced.push(number);
      account.duplicates += total - 1;
    }
    return account;
  }

  #grow(number: number): void {
    if (number < this.#size) return;
    this.#size = number + 1;
    if (this.#size <= this.#outcomes.length) return;
    const length = 2 ** Math.ceil(Math.log2(this.#size));
    this.#outcomes = grown(this.#outcomes, length);
    this.#arrived = grown(this.#arrived, length);
    this.#handled = grown(this.#handled, length);
    this.#deadLettered = grown(this.#deadLettered, length);
    this.#parked = grown(this.#parked, length);
  }
}

/** The result of a run, by number. */
export interface Account {
  /** How many sends had which outcome. */
  readonly sent: Readonly<Record<Outcome, number>>;
  /** How many messages ended where, each counted once. */
  readonly ended: { readonly handled: number; readonly dlq: number; readonly parked: number };
  /** How many of those that "may or may not have arrived" did. */
  readonly uncertainArrived: number;
  /** Ends beyond the first of each number. */
  readonly duplicates: number;
  /** Sends without an outcome. */
  readonly unsettled: readonly number[];
  /** Confirmed, and neither handled nor set aside. */
  readonly lost: readonly number[];
  /** Not confirmed, seen by a handler, and neither handled nor set aside. */
  readonly unfinished: readonly number[];
  /** Ended where its handler did not send it. */
  readonly misplaced: readonly number[];
  /** Said to be unwritten, and arrived. */
  readonly ghosts: readonly number[];
}

function count(counts: Uint8Array, number: number): void {
  counts[number] = Math.min(MOST, (counts[number] ?? 0) + 1);
}

function grown(array: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length);
  larger.set(array);
  return larger;
}
