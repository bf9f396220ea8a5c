import {
  ConfigurationError,
  ConnectionClosedError,
  type RawPublisher,
  randomId,
  type Timer,
} from '@acemq/core';
import type { Observer } from '@acemq/observe';
import { waitAfter } from './back-off.ts';
import { Cleaner } from './cleaner.ts';
import { maskOf } from './destination-hash.ts';
import { Dispatcher } from './dispatcher.ts';
import { reportFailure } from './failure-report.ts';
import { LanesHeld } from './lanes-held.ts';
import { Looks } from './looks.ts';
import { OutcomeWriter } from './outcome-writer.ts';
import { Passes } from './passes.ts';
import { Reader } from './reader.ts';
import {
  type RelayFailure,
  type RelayOptions,
  type ResolvedRelayOptions,
  resolveRelayOptions,
} from './relay-options.ts';
import type { OutboxLedger, OutboxStore, OwedDestination, RetiredRecord, WakeLine } from './store.ts';
import { OutboxTelemetry } from './telemetry.ts';

/** What a relay needs of a connection. One of `@acemq/amqp` is such a one. */
export interface RelayConnection extends RawPublisher {
  readonly observer?: Observer | undefined;
}

/** What a relay needs of a store. */
export type RelayStore = OutboxLedger & Pick<OutboxStore, 'watch'>;

/** Milliseconds for which a relay that has just found something looks again by itself, instead of asking to be woken. */
const LINGER = 50;

/** Milliseconds between those looks. */
const LINGER_EVERY = 10;

/**
 * Publishes what is committed in an outbox. Any number of relays may work on one table: each has lanes of its own, and a
 * destination belongs to one of them at any time.
 *
 * A record is published as it was stored, below codecs and interceptors, mandatory and confirmed, and marked when the
 * broker has taken it. It may be published twice (a relay that dies between the two is the usual reason), with the same id
 * and the same bytes.
 */
export class OutboxRelay {
  /** How this relay is called in the table of relays. */
  readonly id: string = randomId();
  readonly #store: RelayStore;
  readonly #options: ResolvedRelayOptions;
  readonly #dispatcher: Dispatcher;
  readonly #reader: Reader;
  readonly #writer: OutcomeWriter;
  readonly #lanes: LanesHeld;
  readonly #looks: Looks;
  readonly #cleaner: Cleaner;
  readonly #passes: Passes = new Passes();
  #started = false;
  #closing = false;
  #running: Promise<void> | undefined;
  #closed: Promise<void> | undefined;
  #line: WakeLine | undefined;
  #asleep = false;
  #unwatch: (() => void) | undefined;
  #wakeUp: (() => void) | undefined;
  #signalled = false;
  #failures = 0;
  #foundAt = Number.NEGATIVE_INFINITY;

  /**
   * @param mq - Publishes the records. Better a connection of its own than the one that serves requests.
   * @param store - Where they are.
   * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for an option that cannot be used.
   */
  constructor(mq: RelayConnection, store: RelayStore, options: RelayOptions = {}) {
    if (typeof mq?.publishRaw !== 'function') {
      throw new ConfigurationError(
        'a relay needs a connection with publishRaw(), such as connect() of @acemq/amqp returns',
      );
    }
    if (typeof store?.lease !== 'function' || typeof store.watch !== 'function') {
      throw new ConfigurationError('a relay needs a store, such as PgOutboxStore of @acemq/outbox/pg');
    }
    const resolved = resolveRelayOptions(options, mq.observer);
    const { clock, outageRest } = resolved;
    this.#store = store;
    this.#options = resolved;
    this.#lanes = new LanesHeld(resolved.lease);
    this.#looks = new Looks(clock, () => this.wake());
    this.#writer = new OutcomeWriter({
      ledger: store,
      relay: this.id,
      clock,
      backOff: outageRest,
      written: (seqs) => this.#dispatcher.written(seqs),
      marked: (count) => this.#passes.count(count),
      failed: (error) => this.#failed(error, { phase: 'mark' }),
      idle: () => this.#signal(),
    });
    this.#dispatcher = new Dispatcher({
      ...resolved,
      mq,
      telemetry: new OutboxTelemetry(resolved.observer),
      published: (record) => this.#writer.published(record),
      refused: (destination, refusal, rest) => this.#writer.refused(destination, refusal, rest),
      recovered: (destination) => this.#writer.recovered(destination),
      failed: (error, { id, exchange, routingKey }, retired) =>
        this.#failed(error, { phase: 'publish', id, exchange, routingKey, retired }),
      lost: (seq) => this.#reader.goBack(seq - 1),
      ready: () => this.#signal(),
      answered: () => this.#answered(),
    });
    this.#reader = new Reader({ ledger: store, dispatcher: this.#dispatcher, clock, batch: resolved.batch });
    this.#cleaner = new Cleaner({
      ledger: store,
      clock,
      keep: resolved.keep,
      failed: (error) => this.#failed(error, { phase: 'clean' }),
    });
  }

  /** Whether it works by itself. */
  get running(): boolean {
    return this.#started && !this.#closing;
  }

  /**
   * Works by itself from now on, until it is closed. A second call does nothing.
   *
   * @throws `ConnectionClosedError` (`ACEMQ_CONNECTION_CLOSED`) after {@link close}.
   */
  start(): void {
    this.#checkOpen();
    if (this.#started) return;
    this.#started = true;
    this.#run();
  }

  /**
   * One pass now: publishes until nothing is due. Resolves to how many records were published and marked meanwhile, 0 when
   * other relays have all the lanes.
   *
   * Rejects, when the pass is over, with the first thing that failed in it; everything that failed is still in the outbox.
   * Calls at the same time share a pass.
   */
  async sweep(): Promise<number> {
    this.#checkOpen();
    const pass = this.#passes.ask();
    this.wake();
    this.#run();
    return pass;
  }

  /** Something was committed: look now. */
  wake(): void {
    this.#reader.wake();
    this.#signal();
  }

  /**
   * Publishes nothing from now on, and resolves when what is out is answered and written down and the lanes are given up.
   * A second call gives the same answer.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Records that are not published, the retired ones included. */
  pendingCount(): Promise<number> {
    return this.#store.pendingCount();
  }

  /** Milliseconds since the oldest owed record was written; `undefined` when none is owed. Retired ones are left out. */
  oldestAge(): Promise<number | undefined> {
    return this.#store.oldestAge();
  }

  /** How many records each destination is owed, without the retired ones. It reads every owed record. */
  owedByDestination(): Promise<readonly OwedDestination[]> {
    return this.#store.owedByDestination();
  }

  /**
   * Retired records, the oldest first.
   *
   * @param limit - 1 to 10,000; 100 by default.
   */
  retired(limit = 100): Promise<readonly RetiredRecord[]> {
    if (!Number.isSafeInteger(limit) || limit < 1 || limit > 10_000) {
      throw new ConfigurationError(`limit must be a whole number from 1 to 10000, not ${limit}`);
    }
    return this.#store.retired(limit);
  }

  /**
   * Gives a retired record its attempts back, once what was wrong is mended. It leaves before those that are owed to its
   * destination. Relays of other processes find it within a minute. False when no retired record has this id.
   */
  async release(id: string): Promise<boolean> {
    const released = await this.#store.release(id);
    if (released) {
      this.#reader.lookAgain();
      this.#signal();
    }
    return released;
  }

  #checkOpen(): void {
    if (this.#closing) throw new ConnectionClosedError('the relay is closed; make a new one');
  }

  #run(): void {
    this.#running ??= this.#work().finally(() => {
      this.#running = undefined;
      // Something was asked for while it was coming to its end.
      if (!this.#closing && (this.#started || this.#passes.isAsked)) this.#run();
    });
  }

  async #close(): Promise<void> {
    this.#closing = true;
    this.#dispatcher.stop();
    this.#signal();
    await this.#running;
    this.#passes.end(new ConnectionClosedError('the relay was closed'));
    await this.#cleaner.close();
  }

  get #wanted(): boolean {
    return !this.#closing && (this.#started || this.#passes.isAsked);
  }

  async #work(): Promise<void> {
    this.#unwatch = this.#store.watch((change) => {
      if (change === 'added') this.#looks.added();
      else this.wake();
    });
    while (this.#wanted) {
      let more = false;
      try {
        more = await this.#turn();
        this.#failures = 0;
      } catch (error) {
        this.#failures += 1;
        this.#failed(error, { phase: 'read' });
        this.#passes.end(error);
        if (this.#wanted) await this.#sleep(waitAfter(this.#failures, this.#options.outageRest), true);
        continue;
      }
      if (more || !this.#wanted) continue;
      if (!this.#isPassing()) this.#passes.over();
      if (this.#wanted && !this.#signalled) await this.#rest();
    }
    await this.#end();
  }

  /** Resolves to whether there is more to do at once. */
  async #turn(): Promise<boolean> {
    this.#signalled = false;
    this.#passes.begin();
    const { clock } = this.#options;
    if (clock.elapsed() >= this.#lanes.renewAt) await this.#renew();
    await this.#leaveSurplus();
    if (this.#line === undefined) {
      this.#line = await this.#listen();
      // What was committed before it listened has woken nobody.
      if (this.#line !== undefined) this.#reader.wake();
    }
    const waiting = this.#dispatcher.waiting;
    const more = await this.#reader.step();
    if (this.#dispatcher.waiting > waiting) await this.#found(clock.elapsed());
    this.#dispatcher.pump();
    if (this.#lanes.mine.has(0)) this.#cleaner.run();
    return more;
  }

  async #renew(): Promise<void> {
    const { clock, lease, interval } = this.#options;
    const asked = clock.elapsed();
    const answer = await this.#store.lease(this.id, lease);
    // Somebody else may have published meanwhile what is held here.
    if (this.#lanes.lapsed(asked)) this.#dispatcher.allow(new Set(), Number.NEGATIVE_INFINITY);
    const gained = this.#lanes.renewed(answer, asked, interval);
    const { mine } = this.#lanes;
    this.#dispatcher.allow(mine, this.#lanes.publishUntil);
    if (gained) this.#dispatcher.rest(await this.#store.rests(maskOf(mine)), clock.elapsed());
    this.#reader.take(mine, gained);
  }

  async #leaveSurplus(): Promise<void> {
    const { leaving } = this.#lanes;
    if (leaving.size === 0 || this.#dispatcher.isOut(leaving)) return;
    await this.#writer.flush();
    await this.#store.giveUp(this.id, [...leaving]);
    this.#lanes.gaveUp();
  }

  /** Found something: while that goes on, nobody needs to wake it. */
  async #found(now: number): Promise<void> {
    if (this.#asleep && now - this.#foundAt < LINGER) await this.#fallAsleep(false);
    this.#foundAt = now;
  }

  async #listen(): Promise<WakeLine | undefined> {
    if (!this.#started) return undefined;
    const { logger } = this.#options;
    return this.#store.listen?.(
      this.id,
      () => this.wake(),
      (message, error) => {
        logger.warn(message, error === undefined ? {} : { error });
        if (error !== undefined) this.#line = undefined;
      },
    );
  }

  async #fallAsleep(asleep: boolean): Promise<void> {
    await this.#line?.asleep(asleep);
    this.#asleep = asleep;
  }

  /** Waits for whatever comes next. */
  async #rest(): Promise<void> {
    const { clock, interval } = this.#options;
    const now = clock.elapsed();
    const lingers = now - this.#foundAt < LINGER;
    if (!lingers && this.#line !== undefined && !this.#asleep) {
      try {
        await this.#fallAsleep(true);
      } catch (error) {
        this.#failed(error, { phase: 'read' });
      }
      // What was committed before the others could know is found by one more look.
      this.wake();
      return;
    }
    const next = Math.min(
      now + (lingers ? LINGER_EVERY : interval),
      this.#lanes.renewAt,
      this.#dispatcher.nextEnd(now),
      this.#reader.nextLook,
    );
    const woken = await this.#sleep(Math.max(1, next - now));
    // The interval is over, or it lingers.
    if (!woken) this.#reader.wake();
  }

  /** Resolves to false when the time is over, to true when something (where it is `deaf`, only the end) comes up before. */
  async #sleep(ms: number, deaf = false): Promise<boolean> {
    if (this.#signalled && !deaf) return true;
    let timer: Timer | undefined;
    const woken = await new Promise<boolean>((resolve) => {
      this.#wakeUp = () => {
        if (!deaf || this.#closing) resolve(true);
      };
      // A relay alone keeps no process alive, but a sweep that somebody waits for does.
      timer = this.#options.clock.after(ms, () => resolve(false), { background: !this.#passes.isAsked });
    });
    this.#wakeUp = undefined;
    timer?.cancel();
    return woken;
  }

  #signal(): void {
    this.#signalled = true;
    this.#wakeUp?.();
  }

  #answered(): void {
    const reader = this.#reader;
    if (!reader.isExhausted && reader.hasRoom) this.#signal();
    else if (this.#dispatcher.out === 0) this.#signal();
  }

  /** Whether the pass that is going on has something left to do. */
  #isPassing(): boolean {
    const now = this.#options.clock.elapsed();
    return this.#dispatcher.isBusy(now) || !this.#writer.isIdle;
  }

  async #end(): Promise<void> {
    this.#unwatch?.();
    this.#looks.stop();
    await this.#dispatcher.settled();
    await this.#writer.flush();
    this.#writer.stop();
    try {
      await this.#line?.close();
      await this.#store.leave(this.id);
    } catch (error) {
      // Its lanes lapse by themselves.
      this.#failed(error, { phase: 'mark' });
    }
    this.#line = undefined;
    this.#asleep = false;
    this.#lanes.left();
    this.#dispatcher.allow(this.#lanes.mine, Number.NEGATIVE_INFINITY);
  }

  #failed(error: unknown, where: RelayFailure): void {
    this.#passes.failed(error);
    const { logger, onError } = this.#options;
    reportFailure(error, where, logger, onError);
  }
}
