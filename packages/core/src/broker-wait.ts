/** Delays of this many milliseconds or more wait in the broker, unless a policy says otherwise. */
export const DEFAULT_BROKER_WAIT_THRESHOLD = 30_000;

/** The longest time-to-live that RabbitMQ takes for a queue, in milliseconds: ten years of 365 days. */
export const LONGEST_DELAY = 315_360_000_000;

/**
 * Whether a delay is for a rung and not for the consumer to wait out. A threshold of 0 turns rungs off
 * altogether; it does not mean "everything". A delay of 0 has nothing to wait for.
 */
export function waitsInBroker(delay: number, threshold: number): boolean {
  return threshold > 0 && delay > 0 && delay >= threshold;
}
