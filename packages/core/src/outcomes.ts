/** The handler did its work. */
export const OUTCOME_ACKED = 'acked';
/** It will be delivered again, with the attempt one higher. */
export const OUTCOME_RETRIED = 'retried';
/** The handler refused it on purpose; it ends in the dead-letter queue. */
export const OUTCOME_REJECTED = 'rejected';
/** Out of attempts, too old, or fatal; it ends in the dead-letter queue. */
export const OUTCOME_DEAD_LETTERED = 'dead_lettered';
/**
 * It could not be read, or the handler parked it; it waits in the parked queue for somebody to look at it.
 */
export const OUTCOME_PARKED = 'parked';
/** What it asks for still runs elsewhere; it will be delivered again, the attempt unchanged. */
export const OUTCOME_IN_PROGRESS = 'in_progress';

/** What became of a delivery, in the word that counters and spans use. */
export type DeliveryOutcome =
  | typeof OUTCOME_ACKED
  | typeof OUTCOME_RETRIED
  | typeof OUTCOME_REJECTED
  | typeof OUTCOME_DEAD_LETTERED
  | typeof OUTCOME_PARKED
  | typeof OUTCOME_IN_PROGRESS;
