/**
 * Upper bounds, in seconds, of the buckets of a duration. The same in every language of the family, so that one
 * dashboard reads across services.
 */
export const DEFAULT_DURATION_BUCKETS: readonly number[] = Object.freeze([
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
]);

/**
 * Upper bounds of the buckets of `acemq.consume.attempts`, which are attempt numbers and not seconds: buckets made
 * for seconds would show attempt 2 as a handler that took two seconds.
 */
export const DEFAULT_ATTEMPT_BUCKETS: readonly number[] = Object.freeze([1, 2, 3, 4, 5, 10]);
