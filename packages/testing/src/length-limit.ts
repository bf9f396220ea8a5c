import type { QueueSettings } from './queue-arguments.ts';
import type { Ready } from './ready.ts';

/** How a quorum queue that refuses publishes opens again: at four fifths of its length. */
const REOPEN_AT = 0.8;

/** How long a queue may grow, in messages and in bytes of bodies. Only what waits for delivery counts. */
export class LengthLimit {
  readonly #settings: QueueSettings;
  readonly #ready: Ready;
  #full = false;

  constructor(settings: QueueSettings, ready: Ready) {
    this.#settings = settings;
    this.#ready = ready;
  }

  /** Whether the queue refuses a message of this size. */
  refuses(bytes: number): boolean {
    const { overflow, type } = this.#settings;
    if (overflow === 'drop-head') return false;
    if (type === 'quorum') return this.#full;
    return this.#over(this.#ready.size + 1, this.#ready.bytes + bytes);
  }

  /** Called when something was added: whether the head is to be dropped for it. */
  added(): boolean {
    if (!this.#over(this.#ready.size, this.#ready.bytes)) return false;
    if (this.#settings.overflow === 'drop-head') return true;
    // A quorum queue tells its publishers to stop once it is over its length: one message late.
    this.#full = true;
    return false;
  }

  /** Called when something was taken. */
  taken(): void {
    if (!this.#full) return;
    const { maxLength = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY } = this.#settings;
    const below = (value: number, limit: number): boolean => value <= Math.trunc(limit * REOPEN_AT);
    if (below(this.#ready.size, maxLength) && below(this.#ready.bytes, maxBytes)) this.#full = false;
  }

  #over(count: number, bytes: number): boolean {
    const { maxLength, maxBytes } = this.#settings;
    return (maxLength !== undefined && count > maxLength) || (maxBytes !== undefined && bytes > maxBytes);
  }
}
