import { type Clock, cutText, describeError, type RawAnswer, type RawPublisher } from '@acemq/core';
import { hasClosedChannel, meaningOf } from './answer.ts';
import { type BackOff, waitAfter } from './back-off.ts';
import { destinationHash, laneOf } from './destination-hash.ts';
import { ExchangeGate } from './exchange-gate.ts';
import { Outgoing } from './outgoing.ts';
import { messageOf, UNREADABLE } from './raw-message.ts';
import type { Destination, OwedRecord, Refusal, Rest } from './store.ts';
import type { OutboxTelemetry } from './telemetry.ts';

/** In UTF-16 code units: as long as the column. */
const LONGEST_REASON = 1000;

/** What a {@link Dispatcher} is made with. */
export interface DispatcherParts {
  readonly mq: RawPublisher;
  readonly clock: Clock;
  readonly telemetry: OutboxTelemetry;
  readonly window: number;
  readonly outstanding: number;
  readonly maxAttempts: number;
  readonly rest: BackOff;
  readonly outageRest: BackOff;
  readonly published: (record: OwedRecord) => void;
  readonly refused: (destination: Outgoing, refusal: Refusal, rest: number | undefined) => void;
  readonly recovered: (destination: Outgoing) => void;
  readonly failed: (error: unknown, record: OwedRecord, retired: boolean) => void;
  /** A record is known no more and still owed: the scan is to look again from it. */
  readonly lost: (seq: number) => void;
  /** A destination that is read by itself has nothing more out. */
  readonly ready: () => void;
  /** Something was answered. */
  readonly answered: () => void;
}

/** A record on its way, as far as it matters for its answer. */
interface Sent {
  readonly record: OwedRecord;
  readonly destination: Outgoing;
  readonly gate: ExchangeGate;
  /** It was sent to see whether the destination, or the broker, is back. */
  readonly probe: boolean;
  readonly at: number;
}

/** Publishes the records that a relay holds, each destination in order, and decides what an answer means for the next. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #destinations = new Map<string, Outgoing>();
  /** Those with something that waits, the one served longest ago first. */
  readonly #active = new Set<Outgoing>();
  readonly #gates = new Map<string, ExchangeGate>();
  /** What is read, out or answered, until it is written down; and when it was read. */
  readonly #known = new Map<number, number>();
  #lanes: ReadonlySet<number> = new Set();
  #publishUntil = Number.NEGATIVE_INFINITY;
  #out = 0;
  #waiting = 0;
  #bytes = 0;
  #outages = 0;
  #outageUntil = Number.NEGATIVE_INFINITY;
  #lastTaken = Number.NEGATIVE_INFINITY;
  #pumping = false;
  #settled: (() => void)[] = [];
  #stopped = false;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
  }

  /** Records that are out. */
  get out(): number {
    return this.#out;
  }

  /** Records that wait to be published. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Bytes of bodies that are held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** When the rest that an outage has brought ends; in the past without one. */
  get outageUntil(): number {
    return this.#outageUntil;
  }

  knows(seq: number): boolean {
    return this.#known.has(seq);
  }

  /** Destinations that the scan is to leave out. */
  get apart(): number[] {
    const hashes: number[] = [];
    for (const one of this.#destinations.values()) if (one.readFrom !== undefined) hashes.push(one.hash);
    return hashes;
  }

  /** A destination whose rest is over, and whose records are to be read for it alone. */
  nextApart(now: number): Outgoing | undefined {
    for (const one of this.#destinations.values()) {
      if (one.readFrom === undefined || one.restUntil > now || one.waiting > 0 || one.unwritten > 0) continue;
      if (one.out === 0) return one;
    }
    return undefined;
  }

  /** When the next rest of any kind ends, if one is going on. */
  nextEnd(now: number): number {
    let next = this.#outageUntil > now ? this.#outageUntil : Number.POSITIVE_INFINITY;
    for (const one of this.#destinations.values()) {
      if (one.restUntil > now && one.restUntil < next) next = one.restUntil;
    }
    return next;
  }

  /** Which lanes may be published, and until when. What is held of others is forgotten. */
  allow(lanes: ReadonlySet<number>, until: number): void {
    this.#lanes = lanes;
    this.#publishUntil = until;
    for (const [key, one] of this.#destinations) {
      if (lanes.has(laneOf(one.hash))) continue;
      this.#forget(one);
      one.readFrom = undefined;
      if (one.out === 0) this.#destinations.delete(key);
    }
  }

  /** Whether a record of these lanes is out. */
  isOut(lanes: ReadonlySet<number>): boolean {
    for (const one of this.#destinations.values())
      if (one.out > 0 && lanes.has(laneOf(one.hash))) return true;
    return false;
  }

  /** Destinations that rest, as the store has them. */
  rest(rests: readonly Rest[], now: number): void {
    for (const rest of rests) {
      const one = this.#of(rest);
      if (one === undefined || one.refusals > 0) continue;
      one.refusals = rest.refusals;
      one.restUntil = now + Math.max(0, rest.remaining);
      one.probing = true;
      this.#forget(one);
      one.readFrom = 0;
    }
  }

  /**
   * Takes records that were read at `now`. Those of a destination that is read by itself only when they were read for it.
   */
  add(records: readonly OwedRecord[], now: number, readFor?: Outgoing): void {
    for (const record of records) {
      if (this.#known.has(record.seq)) continue;
      const one = this.#of(record);
      if (one === undefined) continue;
      if (one.readFrom !== undefined && one !== readFor) {
        one.readFrom = Math.min(one.readFrom, record.seq - 1);
        continue;
      }
      this.#known.set(record.seq, now);
      this.#enqueue(one, record);
    }
  }

  /** These are written down: read again, they would be found as they are. */
  written(seqs: readonly number[]): void {
    for (const seq of seqs) this.#known.delete(seq);
  }

  /** Publishes nothing from now on. */
  stop(): void {
    this.#stopped = true;
  }

  /** Resolves when nothing is out. */
  settled(): Promise<void> {
    if (this.#out === 0) return Promise.resolve();
    return new Promise((resolve) => this.#settled.push(resolve));
  }

  /** Publishes what may be published. */
  pump(): void {
    if (this.#stopped || this.#waiting === 0) return;
    const now = this.#parts.clock.elapsed();
    if (now >= this.#publishUntil || now < this.#outageUntil) return;
    const most = this.#outages > 0 ? 1 : this.#parts.outstanding;
    // A destination that is served goes to the end, and is seen again in the same loop.
    for (const one of this.#active) {
      if (this.#out >= most) return;
      if (!one.mayLeave(now, this.#parts.window)) continue;
      const gate = this.#gate(one.exchange);
      if (!gate.admits(one)) continue;
      this.#send(one, gate, now);
      this.#active.delete(one);
      if (one.waiting > 0) this.#active.add(one);
    }
  }

  /** Whether anything that is held could leave now, or is out. */
  isBusy(now: number): boolean {
    if (this.#out > 0) return true;
    if (this.#stopped || now >= this.#publishUntil || now < this.#outageUntil) return false;
    for (const one of this.#active) if (one.mayLeave(now, this.#parts.window)) return true;
    return false;
  }

  #send(destination: Outgoing, gate: ExchangeGate, now: number): void {
    const record = destination.take();
    if (record === undefined) return;
    this.#waiting -= 1;
    this.#out += 1;
    destination.out += 1;
    gate.sent(destination);
    const probe = destination.probing || destination.alone || this.#outages > 0;
    const sent: Sent = { record, destination, gate, probe, at: now };
    const message = messageOf(record);
    if (message === undefined) {
      void Promise.resolve().then(() => this.#answer(sent, UNREADABLE));
      return;
    }
    this.#parts.mq.publishRaw(record.exchange, record.routingKey, message).then(
      (answer) => this.#answer(sent, answer),
      // Only what is stored can be at fault: a name that no broker has, for one.
      (error: unknown) => this.#answer(sent, { verdict: 'refused', judged: true, error: error as Error }),
    );
  }

  #answer(sent: Sent, answer: RawAnswer): void {
    const { record, destination, gate } = sent;
    const now = this.#parts.clock.elapsed();
    this.#out -= 1;
    destination.out -= 1;
    gate.answered();
    this.#bytes -= record.body.byteLength;
    const meaning = meaningOf(answer);
    if (meaning === 'taken') this.#taken(sent, now);
    else this.#notTaken(sent, answer, meaning, now);
    if (destination.out === 0) destination.draining = false;
    this.#tidy(destination);
    this.#pumpSoon();
    if (this.#out === 0) for (const resolve of this.#settled.splice(0)) resolve();
    if (destination.readFrom !== undefined && destination.out === 0) this.#parts.ready();
    this.#parts.answered();
  }

  #taken({ record, destination, probe, at }: Sent, now: number): void {
    this.#parts.telemetry.published(destination, record.age + now - (this.#known.get(record.seq) ?? now));
    this.#lastTaken = now;
    if (at >= this.#outageUntil) this.#outages = 0;
    if (probe) {
      destination.alone = false;
      destination.probing = false;
      if (destination.refusals > 0) {
        destination.refusals = 0;
        destination.restUntil = 0;
        if (this.#holds(destination)) this.#parts.recovered(destination);
      }
    }
    this.#parts.published(record);
  }

  #notTaken(
    sent: Sent,
    answer: RawAnswer,
    meaning: Exclude<ReturnType<typeof meaningOf>, 'taken'>,
    now: number,
  ): void {
    const { record, destination } = sent;
    this.#parts.telemetry.failed(destination);
    const retire = meaning === 'refused' && record.attempts + 1 >= this.#parts.maxAttempts;
    let isNews = true;
    if (meaning === 'refused') {
      this.#refused(sent, answer, retire, now);
    } else {
      this.#again(sent);
      destination.probing = true;
      if (meaning === 'suspect') {
        destination.alone = true;
        isNews = false; // The one whose fault it was is about to be found.
      } else if (meaning === 'silent' && this.#lastTaken > sent.at) {
        // Others are answered, so it is this destination, and not the broker.
        destination.restUntil = Math.max(destination.restUntil, now + this.#parts.rest.first);
      } else isNews = this.#outage(sent, now);
    }
    if (isNews) this.#parts.failed(answer.error ?? new Error(answer.verdict), record, retire);
  }

  #refused({ record, destination, probe, at }: Sent, answer: RawAnswer, retire: boolean, now: number): void {
    // The broker is there, if it does not say what one would like.
    if (at >= this.#outageUntil) this.#outages = 0;
    if (hasClosedChannel(answer)) destination.alone = true;
    const reason = cutText(describeError(answer.error), LONGEST_REASON);
    const refusal = { seq: record.seq, reason, retire };
    // Of several that were out together, the first brings the rest.
    const begins = probe || destination.refusals === 0;
    let rest: number | undefined;
    if (begins) {
      destination.refusals += 1;
      rest = waitAfter(destination.refusals, this.#parts.rest);
      destination.restUntil = now + rest;
    }
    destination.probing = true;
    const before = Math.min(record.seq, destination.next?.seq ?? record.seq) - 1;
    this.#forget(destination);
    destination.readFrom = Math.min(destination.readFrom ?? before, before);
    this.#parts.refused(destination, refusal, rest);
  }

  /** To be sent again: by what it holds, or by whoever reads for it. */
  #again({ record, destination }: Sent): void {
    if (!this.#holds(destination)) {
      this.#known.delete(record.seq);
      this.#parts.lost(record.seq);
    } else if (destination.readFrom !== undefined) {
      this.#known.delete(record.seq);
      destination.readFrom = Math.min(destination.readFrom, record.seq - 1);
    } else {
      if (destination.out > 0) destination.draining = true;
      this.#enqueue(destination, record);
    }
  }

  /** One for all that were out when it began. Returns whether this is the one. */
  #outage({ at }: Sent, now: number): boolean {
    if (this.#outages > 0 && at < this.#outageUntil) return false;
    this.#outages += 1;
    this.#outageUntil = now + waitAfter(this.#outages, this.#parts.outageRest);
    return true;
  }

  #enqueue(destination: Outgoing, record: OwedRecord): void {
    destination.add(record);
    this.#active.add(destination);
    this.#waiting += 1;
    this.#bytes += record.body.byteLength;
  }

  #holds({ hash }: Outgoing): boolean {
    return this.#lanes.has(laneOf(hash));
  }

  /** Lets go of what waits for a destination. */
  #forget(destination: Outgoing): void {
    for (const record of destination.drop()) {
      this.#known.delete(record.seq);
      this.#waiting -= 1;
      this.#bytes -= record.body.byteLength;
    }
    this.#active.delete(destination);
    this.#gates.get(destination.exchange)?.forget(destination);
  }

  #of(destination: Destination): Outgoing | undefined {
    const key = `${destination.exchange}\0${destination.routingKey}`;
    const known = this.#destinations.get(key);
    if (known !== undefined) return known;
    const hash = destinationHash(destination.exchange, destination.routingKey);
    if (!this.#lanes.has(laneOf(hash))) return undefined;
    const made = new Outgoing(destination, hash);
    this.#destinations.set(key, made);
    return made;
  }

  #gate(exchange: string): ExchangeGate {
    const known = this.#gates.get(exchange);
    if (known !== undefined) return known;
    const gate = new ExchangeGate();
    this.#gates.set(exchange, gate);
    return gate;
  }

  #tidy(destination: Outgoing): void {
    if (!destination.isIdle && (this.#holds(destination) || destination.out > 0)) return;
    const key = `${destination.exchange}\0${destination.routingKey}`;
    if (this.#destinations.get(key) === destination) this.#destinations.delete(key);
  }

  /** Once for all the answers that came together. */
  #pumpSoon(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    queueMicrotask(() => {
      this.#pumping = false;
      this.pump();
    });
  }
}
