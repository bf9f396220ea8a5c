import type { Outgoing } from './outgoing.ts';

/**
 * Who may publish to one exchange at the moment. A connection has a channel an exchange, and a broker that cannot take a
 * record may close it, with everything on it. So a destination that is known to do that goes when nothing else is out,
 * and nothing else goes while it is.
 */
export class ExchangeGate {
  #out = 0;
  #aloneOut = false;
  #claimedBy: Outgoing | undefined;

  /** Whether a record of this destination may be written now. One that must go alone holds the others back until it has. */
  admits(destination: Outgoing): boolean {
    if (this.#aloneOut) return false;
    if (!destination.alone) return this.#claimedBy === undefined;
    this.#claimedBy ??= destination;
    return this.#claimedBy === destination && this.#out === 0;
  }

  sent(destination: Outgoing): void {
    this.#out += 1;
    if (!destination.alone) return;
    this.#aloneOut = true;
    this.#claimedBy = undefined;
  }

  answered(): void {
    this.#out -= 1;
    if (this.#out === 0) this.#aloneOut = false;
  }

  /** A destination that waited for its turn is no longer there, or rests. */
  forget(destination: Outgoing): void {
    if (this.#claimedBy === destination) this.#claimedBy = undefined;
  }

  get isIdle(): boolean {
    return this.#out === 0 && this.#claimedBy === undefined;
  }
}
