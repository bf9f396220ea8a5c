/**
 * How publishes, requests, relayed records and runs end. The outcomes of a delivery are the `OUTCOME_*` of
 * `@acemq/core`, since the settlement and the span use the same words.
 */

/** The broker took responsibility for the message. */
export const OUTCOME_CONFIRMED = 'confirmed';
/** It was mandatory and reached no queue. */
export const OUTCOME_UNROUTABLE = 'unroutable';
/**
 * It went wrong, and a message may be lost: a nack, no confirm in time, a lost channel, a payload not
 * encoded.
 */
export const OUTCOME_FAILED = 'failed';
/** It was declined before a byte was written, so sending again cannot make a duplicate. */
export const OUTCOME_REFUSED = 'refused';
/** A reply came, whatever it says. */
export const OUTCOME_ANSWERED = 'answered';
/** No reply came in time. */
export const OUTCOME_TIMED_OUT = 'timed_out';
/** The outbox relay published a record and the broker confirmed it. */
export const OUTCOME_PUBLISHED = 'published';
/** A pipeline's run went through its last step. */
export const OUTCOME_COMPLETED = 'completed';
/** A step ended a pipeline's run with steps still to go. */
export const OUTCOME_ENDED_EARLY = 'ended_early';

/** How a publish ends. */
export type PublishOutcome = 'confirmed' | 'unroutable' | 'failed' | 'refused';
/** How a request ends for the caller. */
export type RequestOutcome = 'answered' | 'timed_out' | 'failed';
/** How the relay's work on a record ends. */
export type OutboxOutcome = 'published' | 'failed';
/** How a pipeline's run ends. */
export type PipelineOutcome = 'completed' | 'ended_early';

/** The message waits in the consumer, and was published to its own queue again afterwards. */
export const WHERE_CONSUMER = 'consumer';
/** The message waits in a rung queue of the broker. */
export const WHERE_BROKER = 'broker';
/** It could not be published again, so that the delivery was given back to its queue. */
export const WHERE_REQUEUED = 'requeued';

/** Where a retry waits. */
export type RetryPlace = 'consumer' | 'broker' | 'requeued';
