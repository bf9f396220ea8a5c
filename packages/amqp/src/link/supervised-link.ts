import {
  AbortedError,
  type Clock,
  ConnectError,
  ConnectionClosedError,
  ConnectionLostError,
  type Link,
  type LinkEvents,
  type Logger,
  type Timer,
  type Transport,
} from '@acemq/core';
import type { ConnectionState, LinkRole, StateEvent } from '../states.ts';
import { type Backoff, backoffWait } from './backoff.ts';

/** What a {@link SupervisedLink} is made with. */
export interface SupervisedLinkOptions {
  readonly transport: Transport;
  readonly role: LinkRole;
  /** The name the broker shows for it. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly connectTimeout: number;
  readonly heartbeat: number;
  readonly backoff: Backoff;
  readonly random: () => number;
  /**
   * Declares and subscribes again what was there before. A rejection means that the link died under it and
   * fails the attempt; what the broker refuses is the callee's business.
   */
  readonly restore: (link: Link) => Promise<void>;
  /** Called synchronously at each change, before any listener of the user. */
  readonly changed: (event: StateEvent) => void;
}

/**
 * One link that is dialled again when it is lost, for as long as its owner has not closed it.
 *
 * A link counts as up only once it is restored *and* has not been lost meanwhile: a connection that dies
 * during its own set-up is one failed attempt, never a "connected" over a dead socket.
 */
export class SupervisedLink {
  readonly #options: SupervisedLinkOptions;
  #state: ConnectionState = 'connecting';
  #link: Link | undefined;
  /** The link whose polite close is under way. */
  #goodbye: Link | undefined;
  #blockedReason: string | undefined;
  #endpoint = 0;
  #timer: Timer | undefined;
  #dialling: AbortController | undefined;
  readonly #waiting = new Set<Waiter>();

  constructor(options: SupervisedLinkOptions) {
    this.#options = options;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** The link, while it is up and restored; not one that has died already and whose loss is yet to be told. */
  get link(): Link | undefined {
    return this.#state === 'connected' && this.#link?.open === true ? this.#link : undefined;
  }

  get blocked(): boolean {
    return this.#blockedReason !== undefined;
  }

  get blockedReason(): string | undefined {
    return this.#blockedReason;
  }

  /** Dials `endpoint` once. The first attempt: its failure is the caller's, and is not tried again here. */
  async open(endpoint: number, signal: AbortSignal | undefined): Promise<void> {
    this.#endpoint = endpoint;
    this.#state = 'connecting';
    await this.#attempt(signal);
  }

  /**
   * The link as soon as it is up: at once, or when it has been restored. Rejects when `signal` aborts or on
   * close.
   */
  up(signal?: AbortSignal): Promise<Link> {
    const link = this.link;
    if (link !== undefined) return Promise.resolve(link);
    if (this.#state === 'closed') return Promise.reject(closedError());
    if (signal?.aborted === true) return Promise.reject(waitAborted(signal));
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { resolve, reject };
      this.#waiting.add(waiter);
      signal?.addEventListener(
        'abort',
        () => {
          if (this.#waiting.delete(waiter)) reject(waitAborted(signal));
        },
        { once: true },
      );
    });
  }

  /** Stops supervising and closes politely. Never rejects. */
  async close(): Promise<void> {
    const link = this.#link;
    this.#stop();
    this.#goodbye = link;
    await link?.close();
  }

  /** Stops supervising and drops the socket, also one whose polite close is under way. */
  destroy(): void {
    const link = this.#link ?? this.#goodbye;
    this.#stop();
    link?.destroy();
  }

  #stop(): void {
    this.#state = 'closed';
    this.#timer?.cancel();
    this.#dialling?.abort(closedError());
    this.#link = undefined;
    this.#blockedReason = undefined;
    for (const waiter of this.#waiting) waiter.reject(closedError());
    this.#waiting.clear();
  }

  async #attempt(signal?: AbortSignal): Promise<void> {
    const { transport, name, connectTimeout, heartbeat } = this.#options;
    const dialling = new AbortController();
    this.#dialling = dialling;
    const attempt = new Attempt(this, this.#options);
    let link: Link;
    try {
      link = await transport.dial({
        name,
        endpoint: this.#endpoint,
        timeout: connectTimeout,
        heartbeat,
        events: attempt,
        signal: signal === undefined ? dialling.signal : AbortSignal.any([signal, dialling.signal]),
      });
    } finally {
      this.#dialling = undefined;
    }
    if (this.#isClosed()) {
      link.destroy();
      throw closedError();
    }
    this.#link = link;
    this.#state = 'restoring';
    try {
      attempt.throwIfLost();
      await this.#options.restore(link);
      attempt.throwIfLost();
      if (!link.open) throw new ConnectionLostError('the link was lost while it was being restored');
    } catch (error) {
      attempt.abandoned = true;
      if (this.#link === link) this.#link = undefined;
      this.#blockedReason = undefined;
      link.destroy();
      throw error;
    }
    if (this.#isClosed()) {
      await link.close();
      throw closedError();
    }
    attempt.up = true;
    this.#state = 'connected';
    for (const waiter of this.#waiting) waiter.resolve(link);
    this.#waiting.clear();
  }

  /** Read through a call, since it changes while an attempt is awaited. */
  #isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** @internal Called by the attempt whose link was up. */
  lostLink(error: Error): void {
    if (this.#isClosed()) return;
    this.#link = undefined;
    this.#blockedReason = undefined;
    this.#state = 'retrying';
    this.#options.changed({ type: 'lost', link: this.#options.role, reason: error.message });
    this.#retryLater(1, error);
  }

  /** @internal */
  setBlocked(reason: string | undefined): void {
    if (this.#isClosed()) return;
    const was = this.#blockedReason;
    this.#blockedReason = reason;
    const link = this.#options.role;
    if (reason !== undefined) this.#options.changed({ type: 'blocked', link, reason });
    else if (was !== undefined) this.#options.changed({ type: 'unblocked', link });
  }

  #retryLater(attempt: number, failure: Error): void {
    const { backoff, random, clock, changed, role } = this.#options;
    const delay = backoffWait(backoff, attempt, random);
    changed({ type: 'retrying', link: role, attempt, delay, reason: failure.message });
    this.#timer = clock.after(delay, () => void this.#retry(attempt));
  }

  async #retry(attempt: number): Promise<void> {
    this.#endpoint = (this.#endpoint + 1) % this.#options.transport.endpoints.length;
    try {
      await this.#attempt();
    } catch (error) {
      if (this.#isClosed()) return;
      this.#state = 'retrying';
      const failure = error instanceof Error ? error : new Error(String(error));
      if (failure instanceof ConnectError && failure.refused) {
        this.#options.logger.error('the broker refuses this connection', {
          link: this.#options.role,
          attempt,
          reason: failure.message,
        });
      }
      this.#retryLater(attempt + 1, failure);
      return;
    }
    this.#options.changed({ type: 'recovered', link: this.#options.role, attempts: attempt });
  }
}

interface Waiter {
  readonly resolve: (link: Link) => void;
  readonly reject: (error: Error) => void;
}

function waitAborted(signal: AbortSignal): AbortedError {
  return new AbortedError('the wait for the connection was aborted', { cause: signal.reason });
}

function closedError(): ConnectionClosedError {
  return new ConnectionClosedError('the connection has been closed');
}

/**
 * The events of one dialled link: a late word from an earlier link must not be taken for one about the
 * current.
 */
class Attempt implements LinkEvents {
  readonly #owner: SupervisedLink;
  readonly #options: SupervisedLinkOptions;
  #lost: Error | undefined;
  up = false;
  abandoned = false;

  constructor(owner: SupervisedLink, options: SupervisedLinkOptions) {
    this.#owner = owner;
    this.#options = options;
  }

  throwIfLost(): void {
    if (this.#lost !== undefined) throw this.#lost;
  }

  lost(error: Error): void {
    if (this.#lost !== undefined || this.abandoned) return;
    this.#lost = error;
    this.#options.logger.debug('a link was lost', { link: this.#options.role, reason: error.message });
    if (this.up) this.#owner.lostLink(error);
  }

  blocked(reason: string): void {
    if (this.#lost === undefined && !this.abandoned) this.#owner.setBlocked(reason);
  }

  unblocked(): void {
    if (this.#lost === undefined && !this.abandoned) this.#owner.setBlocked(undefined);
  }
}
