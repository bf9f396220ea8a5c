import type { Connection } from '@acemq/amqp';
import { ConnectionLostError, type Delivery, type QueueReader } from '@acemq/core';
import { pause } from '../pause.ts';
import { type Letter, letterOf } from './letter.ts';
import { isOfQuorum, type QueueKind, queueKind } from './queue-kind.ts';
import type { Progress, SiftSettings } from './sift-options.ts';

/** What is to become of a letter: it is taken, left out, or has come back to a run that took it before. */
export type Choice = 'take' | 'skip' | 'back';

/** What became of one that was taken: it is gone from the queue, it is held until the end, or it is in the queue again. */
export type Taken = 'gone' | 'held' | 'returned';

/** Why it ended. */
export type SiftReason =
  /** There was nothing left but what is held. */
  | 'drained'
  /** As many as were asked for. */
  | 'limit'
  /** The time was over. */
  | 'deadline'
  /** Its signal was aborted. */
  | 'aborted';

/** How it went. */
export interface SiftEnd {
  readonly taken: number;
  readonly skipped: number;
  readonly cameBack: number;
  readonly reason: SiftReason;
  readonly kind: QueueKind;
}

/** What is done with the letters. */
export interface SiftWork {
  choose(letter: Letter): Choice | Promise<Choice>;
  /** Does what is done with one. `isOurs` says whether the broker has not taken it back meanwhile. */
  take(letter: Letter, delivery: Delivery, isOurs: () => boolean, walk: Sifting): Taken | Promise<Taken>;
  /** The link was lost: what was held is in the queue again, and comes again. What it throws ends the walk. */
  again?(): void;
}

/** Milliseconds between attempts to read while the link is down. */
const LINK_DOWN_PAUSE = 1_000;

/** Milliseconds that a rate may be behind and still be made up for: timers are late, by more than a fast rate leaves. */
const MOST_LATE = 100;

/** Milliseconds between two reports of progress. */
const REPORT_EVERY = 250;

/**
 * Takes the messages of a queue one after the other, and holds what stays there unacknowledged until the end: put back at
 * once it would be read again for ever. Then all that is held is put back, in its order.
 */
export class Sifting {
  readonly #mq: Connection;
  readonly #queue: string;
  readonly #settings: SiftSettings;
  readonly #work: SiftWork;
  readonly #out = new Set<Promise<void>>();
  readonly #end: number;
  /** How many of each kind are held. */
  #held = { take: 0, skip: 0, back: 0 };
  #gone = 0;
  #total = 0;
  #kind: QueueKind = 'unknown';
  #reader: QueueReader | undefined;
  #failure: { readonly error: unknown } | undefined;
  #waiting: string | undefined;
  #nextTake: number | undefined;
  #reportAt = 0;

  constructor(mq: Connection, queue: string, settings: SiftSettings, work: SiftWork) {
    this.#mq = mq;
    this.#queue = queue;
    this.#settings = settings;
    this.#work = work;
    this.#end =
      settings.timeout === undefined ? Number.POSITIVE_INFINITY : mq.clock.elapsed() + settings.timeout;
  }

  /** How many are gone from the queue by now. */
  get gone(): number {
    return this.#gone;
  }

  /** Whether it is to end, so that nothing is to be waited for any more. */
  get isEnding(): boolean {
    const { signal } = this.#settings;
    return signal?.aborted === true || this.#mq.clock.elapsed() >= this.#end || this.#failure !== undefined;
  }

  /** Says on what it waits, in the next report; undefined when it goes on. */
  set waiting(reason: string | undefined) {
    this.#waiting = reason;
    if (reason !== undefined) this.#report(true);
  }

  /** Waits, and no longer than until it is to end. */
  async pause(ms: number): Promise<void> {
    const { clock } = this.#mq;
    await pause(clock, Math.max(0, Math.min(ms, this.#end - clock.elapsed())), this.#settings.signal);
  }

  /** Rejects with what `choose` or `take` rejected with first, when everything has been put back. */
  async run(): Promise<SiftEnd> {
    this.#kind = await queueKind(this.#mq, this.#queue);
    this.#total = await this.#mq.messageCount(this.#queue);
    let reason: SiftReason = 'drained';
    try {
      reason = await this.#read();
    } catch (error) {
      this.#failure ??= { error };
    }
    await Promise.all(this.#out);
    const end = this.#ended(reason);
    this.#waiting = undefined;
    this.#report(true);
    // All at once: one by one, thousands would keep the broker busy for many seconds.
    await this.#reader?.release();
    if (this.#failure !== undefined) throw this.#failure.error;
    return end;
  }

  async #read(): Promise<SiftReason> {
    const { limit, window, signal } = this.#settings;
    for (;;) {
      if (this.#failure !== undefined) return 'drained';
      if (signal?.aborted === true) return 'aborted';
      if (this.#mq.clock.elapsed() >= this.#end) return 'deadline';
      const begun = this.#gone + this.#out.size + this.#held.take;
      if (begun >= limit) {
        if (this.#out.size === 0) return 'limit';
        await Promise.race(this.#out);
        continue;
      }
      if (this.#out.size >= window) {
        await Promise.race(this.#out);
        continue;
      }
      const delivery = await this.#pull();
      if (delivery === 'again') continue;
      if (delivery !== undefined) {
        await this.#sift(delivery);
      } else if (this.#out.size > 0) {
        // One of them may come back.
        await Promise.all(this.#out);
      } else if (this.#reader?.open === true) {
        return 'drained';
      }
    }
  }

  async #pull(): Promise<Delivery | undefined | 'again'> {
    try {
      if (this.#reader?.open !== true) await this.#open();
      const delivery = await this.#reader?.pull();
      this.#waiting = undefined;
      return delivery;
    } catch (error) {
      if (!(error instanceof ConnectionLostError)) throw error;
      this.waiting = error.message;
      await this.pause(LINK_DOWN_PAUSE);
      return 'again';
    }
  }

  async #open(): Promise<void> {
    const isFirst = this.#reader === undefined;
    this.#reader = await this.#mq.openReader(this.#queue);
    if (isFirst) return;
    this.#held = { take: 0, skip: 0, back: 0 };
    try {
      this.#work.again?.();
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  async #sift(delivery: Delivery): Promise<void> {
    const letter = letterOf(delivery, this.#mq.clock.now());
    if (this.#kind === 'unknown' && isOfQuorum(letter.headers)) this.#kind = 'quorum';
    const reader = this.#reader;
    const choice = await this.#work.choose(letter);
    if (choice !== 'take') {
      this.#hold(reader, choice);
      return;
    }
    await this.#keepToRate();
    const isOurs = (): boolean => reader?.open === true;
    const taken = this.#work.take(letter, delivery, isOurs, this);
    if (!(taken instanceof Promise)) {
      this.#took(reader, taken);
      return;
    }
    const task = taken.then(
      (how) => this.#took(reader, how),
      (error: unknown) => {
        this.#failure ??= { error };
        delivery.nack(true);
      },
    );
    this.#out.add(task);
    void task.then(() => this.#out.delete(task));
  }

  #took(reader: QueueReader | undefined, how: Taken): void {
    if (how === 'held') this.#hold(reader, 'take');
    if (how === 'gone') this.#gone += 1;
    this.#report(false);
  }

  /** It stays out until the reader is released. One that came over a link that is gone is in the queue again. */
  #hold(reader: QueueReader | undefined, choice: Choice): void {
    if (reader === this.#reader) this.#held[choice] += 1;
    this.#report(false);
  }

  async #keepToRate(): Promise<void> {
    const { rate } = this.#settings;
    if (rate === undefined) return;
    const { clock } = this.#mq;
    const now = clock.elapsed();
    this.#nextTake ??= now;
    if (this.#nextTake > now) await this.pause(this.#nextTake - now);
    this.#nextTake = Math.max(this.#nextTake, now - MOST_LATE) + 1000 / rate;
  }

  #ended(reason: SiftReason): SiftEnd {
    return {
      taken: this.#gone + this.#held.take,
      skipped: this.#held.skip,
      cameBack: this.#held.back,
      reason,
      kind: this.#kind,
    };
  }

  #report(now: boolean): void {
    const { onProgress } = this.#settings;
    if (onProgress === undefined) return;
    const elapsed = this.#mq.clock.elapsed();
    if (!now && elapsed < this.#reportAt) return;
    this.#reportAt = elapsed + REPORT_EVERY;
    const { taken, skipped, cameBack } = this.#ended('drained');
    const progress: Progress = { taken, skipped, cameBack, total: this.#total, waiting: this.#waiting };
    try {
      onProgress(Object.freeze(progress));
    } catch (error) {
      this.#failure ??= { error };
    }
  }
}
