import { type Clock, randomId, systemClock } from '@acemq/core';
import { Cleaning } from './cleaning.ts';
import { type CheckedTimes, checkTimes, type InboxTimes } from './inbox-options.ts';
import type { Claim, InboxKey, InboxStore } from './store.ts';

/** How {@link memoryInbox} behaves. */
export interface MemoryInboxOptions extends InboxTimes {
  /** For tests that drive the time. */
  readonly clock?: Clock | undefined;
}

/**
 * A store in the memory of the process, for tests and demonstrations: it knows nothing of other processes and forgets
 * everything when this one ends.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for options that cannot be used.
 */
export function memoryInbox(options: MemoryInboxOptions = {}): InboxStore {
  const times = checkTimes(options, ['clock'], 'memoryInbox');
  return new MemoryInbox(times, options.clock ?? systemClock);
}

interface Entry {
  /** `undefined` once it is confirmed. */
  readonly owner: string | undefined;
  readonly expiresAt: number;
}

class MemoryInbox implements InboxStore {
  readonly #entries = new Map<string, Entry>();
  readonly #times: CheckedTimes;
  readonly #clock: Clock;
  readonly #cleaning: Cleaning;

  constructor(times: CheckedTimes, clock: Clock) {
    this.#times = times;
    this.#clock = clock;
    this.#cleaning = new Cleaning(() => this.#removeExpired(), times.cleanEvery, clock, times.logger);
  }

  async claim(key: InboxKey): Promise<Claim> {
    const found = this.#find(key);
    if (found !== undefined) return { answer: found.owner === undefined ? 'duplicate' : 'in_progress' };
    const owner = randomId();
    this.#put(key, owner, this.#times.claimTimeout);
    return { answer: 'claimed', owner };
  }

  async confirm(key: InboxKey, owner: string): Promise<boolean> {
    const found = this.#find(key);
    if (found !== undefined && found.owner !== owner) return false;
    this.#put(key, undefined, this.#times.keep);
    return true;
  }

  async release(key: InboxKey, owner: string): Promise<boolean> {
    return this.#find(key)?.owner === owner && this.#entries.delete(textOf(key));
  }

  async close(): Promise<void> {
    await this.#cleaning.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #find(key: InboxKey): Entry | undefined {
    const entry = this.#entries.get(textOf(key));
    return entry !== undefined && entry.expiresAt > this.#clock.now() ? entry : undefined;
  }

  #put(key: InboxKey, owner: string | undefined, lasting: number): void {
    this.#entries.set(textOf(key), { owner, expiresAt: this.#clock.now() + lasting });
  }

  async #removeExpired(): Promise<number> {
    const now = this.#clock.now();
    for (const [key, { expiresAt }] of this.#entries) if (expiresAt <= now) this.#entries.delete(key);
    return 0;
  }
}

function textOf({ scope, id }: InboxKey): string {
  return JSON.stringify([scope, id]);
}
