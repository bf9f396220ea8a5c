/** A timer that a {@link Clock} has set. */
export interface Timer {
  /** Ends it; what it would have called is not called. Does nothing once it has fired. */
  cancel(): void;
}

/**
 * Where the library gets its time from. A transport may bring one (the in-memory broker's can be driven by a
 * test), and then every wait of the connections on it follows that clock.
 */
export interface Clock {
  /** Milliseconds since the epoch. May be set back or forward while the process runs. */
  now(): number;
  /**
   * Milliseconds since some fixed moment; never goes back. For how long something took, and how long it may
   * take: a machine whose time is set back by an hour must not make a time-out an hour longer.
   */
  elapsed(): number;
  /**
   * Calls `work` once, `ms` milliseconds from now, never before. `ms` may be larger than Node's own limit of
   * 2^31 - 1, past which a plain `setTimeout` fires at once.
   *
   * `background` timers do not keep the process alive.
   */
  after(ms: number, work: () => void, options?: { readonly background?: boolean }): Timer;
}
