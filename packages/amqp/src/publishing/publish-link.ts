import {
  type Clock,
  ConnectionLostError,
  EncodeError,
  type Link,
  type PublishVerdict,
  type Timer,
} from '@acemq/core';
import { ExchangeChannels, type WritableChannel } from './exchange-channels.ts';
import { type Pending, PendingList, type PublishFailure } from './pending.ts';
import { RoomWaiters } from './room-waiters.ts';

/** What a {@link PublishLink} is made with. */
export interface PublishLinkOptions {
  readonly clock: Clock;
  /**
   * Milliseconds: the wait for a confirm from the write on, and the wait for a permit or a link without
   * progress.
   */
  readonly confirmTimeout: number;
  /** How many application messages may be outstanding at once. */
  readonly permits: number;
}

/**
 * Carries messages to the broker: one permit each, one confirm channel an exchange, one timer for all.
 *
 * Nothing here is written twice. A message that waits (no permit, no link) has not been written and can be
 * refused without doubt; one that was written has an outcome when the broker has spoken, or when it is known
 * that it will not.
 */
export class PublishLink {
  readonly #options: PublishLinkOptions;
  readonly #channels: ExchangeChannels;
  #link: Link | undefined;
  #blockedReason: string | undefined;
  #stopped = false;
  #abandoned = false;
  #free: number;
  /** When the broker last gave a permit back, or the link last went: what "without progress" is counted from. */
  #progress = 0;
  #silence: PublishFailure | undefined;
  readonly #waiting = new PendingList();
  /** Everything past the wait for a permit, oldest stage first, so that the head is the next to time out. */
  readonly #outstanding = new PendingList();
  #timer: Timer | undefined;
  readonly #room = new RoomWaiters();
  #idle: (() => void)[] = [];
  readonly #ready = new Set<() => void>();

  constructor(options: PublishLinkOptions) {
    this.#options = options;
    this.#free = options.permits;
    this.#channels = new ExchangeChannels({
      write: (pending, channel) => this.#write(pending, channel),
      unopened: (pending, error) => this.#unopened(pending, error),
      answered: (pending, verdict, reason) => this.#answered(pending, verdict, reason),
      cut: (pending, error, others) => this.#cut(pending, error, others),
    });
  }

  /** Messages written, or about to be, whose outcome is not known. */
  get outstanding(): number {
    return this.#outstanding.size;
  }

  /** Messages that have not been written and wait for a permit or a link. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Publishes. Its outcome comes later, never from within this call, but for `closed` and `paused`, which are
   * known at once.
   */
  publish(pending: Pending): void {
    if (this.#abandoned || (this.#stopped && !pending.copy)) {
      pending.stage = 'done';
      pending.failed({ kind: 'closed' });
    } else if (this.#blockedReason !== undefined) {
      pending.stage = 'done';
      pending.failed({ kind: 'paused', reason: this.#blockedReason });
    } else if (this.#up && (pending.copy || (this.#free > 0 && this.#waiting.size === 0))) {
      this.#start(pending);
    } else {
      pending.since = this.#options.clock.elapsed();
      this.#waiting.add(pending);
      this.#watch();
    }
  }

  /**
   * The caller no longer waits. What has not been written never will be; what has goes on to hold its permit
   * until the broker answers, and that answer is no longer told.
   */
  abort(pending: Pending, cause: unknown): void {
    if (pending.stage === 'done') return;
    if (pending.stage === 'waiting') {
      this.#waiting.remove(pending);
      pending.stage = 'done';
      this.#settleIdle();
    } else if (pending.stage === 'opening') {
      this.#end(pending);
    }
    pending.failed({ kind: 'aborted', written: pending.stage === 'written', cause });
  }

  /** How many application messages may be outstanding at once. */
  get permits(): number {
    return this.#options.permits;
  }

  /** Whether the application's messages are refused, since the connection is being closed. */
  get isStopped(): boolean {
    return this.#stopped;
  }

  /**
   * Set while what was written times out and nothing has been answered for the whole time-out: a batch that
   * went on would wait as long for each of its parts.
   */
  get silence(): PublishFailure | undefined {
    return this.#silence;
  }

  /** Whether a message could be written now. */
  get hasRoom(): boolean {
    return this.#free > 0 && this.#waiting.size === 0 && this.#up;
  }

  /**
   * Resolves to undefined when there may be room for a message, or at once where waiting for it is pointless
   * (blocked, closed: the publish itself will say so). Resolves to the failure when none came for the whole
   * time-out.
   */
  room(): Promise<PublishFailure | undefined> {
    if (this.hasRoom || this.#stopped || this.#blockedReason !== undefined) return Promise.resolve(undefined);
    const room = this.#room.wait(this.#options.clock.elapsed());
    this.#watch();
    return room;
  }

  /** A link that has closed is down from that moment, and not only when its end has been told. */
  get #up(): boolean {
    return this.#link?.open === true;
  }

  /** Whether the link is up and the broker takes publishes, as far as is known. */
  get ready(): boolean {
    return this.#up && this.#blockedReason === undefined && !this.#abandoned;
  }

  /** Calls `work` once, as soon as this is {@link ready}. */
  whenReady(work: () => void): Timer {
    this.#ready.add(work);
    return { cancel: () => void this.#ready.delete(work) };
  }

  /** The link is up: what waits is written, as far as there are permits. */
  attach(link: Link): void {
    this.#link = link;
    this.#silence = undefined;
    this.#progress = this.#options.clock.elapsed();
    this.#channels.attach(link);
    this.#becomeReady();
  }

  /** The link is gone. What was written on it has been cut by the transport already. */
  detach(): void {
    this.#link = undefined;
    this.#silence = undefined;
    this.#blockedReason = undefined;
    this.#progress = this.#options.clock.elapsed();
    this.#channels.detach(new ConnectionLostError('the connection was lost before the message was written'));
  }

  /**
   * The broker takes no publishes: what waits is refused now, what is written goes on waiting for its
   * confirm. A copy does so for as long as the alarm lasts.
   */
  block(reason: string): void {
    this.#blockedReason = reason;
    this.#refuseUnwritten({ kind: 'paused', reason });
  }

  unblock(): void {
    this.#blockedReason = undefined;
    this.#renewCopies();
    this.#becomeReady();
  }

  /** Resolves when nothing is outstanding and nothing waits. */
  settled(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /**
   * Refuses what the application publishes from now on. What was accepted before goes on, and so do copies.
   */
  stop(): void {
    this.#stopped = true;
    this.#room.release();
  }

  /** Gives up on what is left: what waits was never written, what is out may or may not have arrived. */
  abandon(): void {
    this.#stopped = true;
    this.#abandoned = true;
    this.#refuseUnwritten({ kind: 'closed' });
    const error = new ConnectionLostError(
      'the connection was closed before the broker had confirmed the message',
    );
    let pending = this.#outstanding.head;
    while (pending !== undefined) {
      this.#end(pending);
      pending.failed({ kind: 'cut', error, others: this.#outstanding.size });
      pending = this.#outstanding.head;
    }
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #start(pending: Pending): void {
    if (!pending.copy) this.#free -= 1;
    pending.stage = 'opening';
    pending.since = this.#options.clock.elapsed();
    this.#outstanding.add(pending);
    if (this.#timer === undefined) this.#watch();
    this.#channels.send(pending);
  }

  /** Called by the channels as soon as the exchange's channel is open. */
  #write(pending: Pending, channel: WritableChannel): void {
    if (pending.stage !== 'opening') return;
    const now = this.#options.clock.elapsed();
    if (now !== pending.since) {
      // Its confirm is due a time-out after the write, so it moves behind what was written meanwhile.
      this.#outstanding.remove(pending);
      pending.since = now;
      this.#outstanding.add(pending);
    }
    pending.stage = 'written';
    try {
      channel.write(pending);
    } catch (error) {
      this.#end(pending);
      const failure = error instanceof Error ? error : new Error(String(error));
      pending.failed(
        failure instanceof EncodeError
          ? { kind: 'unwritable', error: failure }
          : { kind: 'stalled', reason: failure.message },
      );
    }
  }

  #answered(pending: Pending, verdict: PublishVerdict, reason: string): void {
    if (pending.stage !== 'written') return;
    this.#end(pending);
    pending.judged(verdict, reason);
  }

  #cut(pending: Pending, error: Error, others: number): void {
    if (pending.stage !== 'written') return;
    this.#end(pending);
    pending.failed({ kind: 'cut', error, others });
  }

  /** Its channel could not be opened. With the link down it goes back to wait for the next one. */
  #unopened(pending: Pending, error: Error): void {
    if (pending.stage !== 'opening') return;
    this.#end(pending);
    if (!this.#up && !this.#abandoned) {
      pending.stage = 'waiting';
      this.#waiting.addFirst(pending);
      this.#watch();
      return;
    }
    pending.failed({ kind: 'stalled', reason: `no channel could be opened: ${error.message}` });
  }

  /**
   * Gives the permit back. `progress` is false where nobody answered, but a time-out ended it: that must not
   * keep the others waiting on, one time-out after the other, or a batch writing into the silence.
   */
  #end(pending: Pending, progress = true): void {
    this.#outstanding.remove(pending);
    pending.stage = 'done';
    if (!pending.copy) this.#free += 1;
    if (progress) {
      this.#progress = this.#options.clock.elapsed();
      this.#silence = undefined;
    }
    if (this.#waiting.size > 0 || this.#room.size > 0) this.#drain(progress);
    if (this.#idle.length > 0) this.#settleIdle();
  }

  #becomeReady(): void {
    this.#drain();
    if (!this.ready) return;
    const waiting = [...this.#ready];
    this.#ready.clear();
    for (const work of waiting) work();
  }

  #drain(progress = true): void {
    if (!this.#up || this.#blockedReason !== undefined || this.#abandoned) return;
    let pending = this.#waiting.head;
    while (pending !== undefined && (pending.copy || this.#free > 0)) {
      this.#waiting.remove(pending);
      this.#start(pending);
      pending = this.#up ? this.#waiting.head : undefined;
    }
    if (progress && this.#room.size > 0 && this.hasRoom) this.#room.release();
  }

  #refuseUnwritten(failure: PublishFailure): void {
    this.#room.release();
    let pending = this.#outstanding.head;
    while (pending !== undefined) {
      const next: Pending | undefined = pending.next;
      if (pending.stage === 'opening') {
        this.#end(pending);
        pending.failed(failure);
      }
      pending = next;
    }
    pending = this.#waiting.shift();
    while (pending !== undefined) {
      pending.stage = 'done';
      pending.failed(failure);
      pending = this.#waiting.shift();
    }
    this.#settleIdle();
  }

  #isIdle(): boolean {
    return this.#outstanding.size === 0 && this.#waiting.size === 0;
  }

  #settleIdle(): void {
    if (!this.#isIdle()) return;
    const idle = this.#idle;
    this.#idle = [];
    for (const resolve of idle) resolve();
  }

  /**
   * Sets the one timer for whichever wait ends first. Entries that leave early leave it set; it then sets
   * itself anew.
   */
  #watch(): void {
    if (this.#timer !== undefined) return;
    const due = this.#nextDue();
    if (due === undefined) return;
    const { clock } = this.#options;
    this.#timer = clock.after(Math.max(1, due - clock.elapsed()), () => this.#due(), { background: true });
  }

  #nextDue(): number | undefined {
    const { confirmTimeout } = this.#options;
    const written = this.#outstanding.head?.since;
    const waiting = this.#waiting.head?.since ?? this.#room.oldest;
    const a = written === undefined ? Number.POSITIVE_INFINITY : written + confirmTimeout;
    const b =
      waiting === undefined ? Number.POSITIVE_INFINITY : Math.max(waiting, this.#progress) + confirmTimeout;
    const due = Math.min(a, b);
    return due === Number.POSITIVE_INFINITY ? undefined : due;
  }

  /**
   * One turn of the event loop later: timers come before sockets, and where something has kept the loop busy
   * past the time-out the answers are here, unread.
   */
  #due(): void {
    this.#timer = this.#options.clock.after(0, () => this.#expire(), { background: true });
  }

  #expire(): void {
    this.#timer = undefined;
    const { clock, confirmTimeout } = this.#options;
    const now = clock.elapsed();
    // First those who got no permit in time: those of the messages that time out now come too late for them.
    this.#expireWaiting(now - confirmTimeout);
    this.#expireOutstanding(now - confirmTimeout);
    this.#watch();
  }

  /**
   * Under an alarm a copy lies in the socket, and the broker takes it when the alarm ends: to give it up and
   * place another would be to place two.
   */
  #renew(copy: Pending): void {
    this.#outstanding.remove(copy);
    copy.since = this.#options.clock.elapsed();
    this.#outstanding.add(copy);
  }

  #renewCopies(): void {
    let pending = this.#outstanding.head;
    for (let left = this.#outstanding.size; left > 0 && pending !== undefined; left -= 1) {
      const next: Pending | undefined = pending.next;
      if (pending.copy && pending.stage === 'written') this.#renew(pending);
      pending = next;
    }
  }

  #expireOutstanding(before: number): void {
    const { confirmTimeout } = this.#options;
    let pending = this.#outstanding.head;
    if (pending !== undefined && pending.since <= before && this.#progress <= before) {
      this.#silence = { kind: 'stalled', reason: this.#stallReason() };
    }
    while (pending !== undefined && pending.since <= before) {
      const written = pending.stage === 'written';
      if (written && pending.copy && this.#blockedReason !== undefined) {
        this.#renew(pending);
        pending.delayed(this.#blockedReason);
        pending = this.#outstanding.head;
        continue;
      }
      this.#end(pending, false);
      pending.failed(
        written
          ? { kind: 'timeout', reason: `the broker did not confirm it within ${confirmTimeout} ms` }
          : { kind: 'stalled', reason: `no channel was open for it within ${confirmTimeout} ms` },
      );
      pending = this.#outstanding.head;
    }
  }

  #expireWaiting(before: number): void {
    if (this.#progress > before) return;
    const reason = this.#stallReason();
    let pending = this.#waiting.head;
    while (pending !== undefined && pending.since <= before) {
      this.#waiting.remove(pending);
      pending.stage = 'done';
      pending.failed({ kind: 'stalled', reason });
      pending = this.#waiting.head;
    }
    this.#room.expire(before, { kind: 'stalled', reason });
    this.#settleIdle();
  }

  #stallReason(): string {
    const { confirmTimeout, permits } = this.#options;
    if (this.#link === undefined) return `there was no connection to publish on for ${confirmTimeout} ms`;
    return (
      `${permits} messages are outstanding and none was confirmed for ${confirmTimeout} ms. ` +
      'The broker is not keeping up; publish more slowly rather than buffering more.'
    );
  }
}
