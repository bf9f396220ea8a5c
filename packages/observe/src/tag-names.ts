/** Name of the exchange; empty for the default exchange. */
export const TAG_EXCHANGE = 'exchange';
/** The routing key; the name of the queue where a message goes through the default exchange. */
export const TAG_ROUTING_KEY = 'routing.key';
/** The queue consumed. */
export const TAG_QUEUE = 'queue';
/** How it ended; each metric has a closed list of values. */
export const TAG_OUTCOME = 'outcome';
/** The queue that a set-aside copy could not be placed in, `{queue}.dlq` or `{queue}.parked`. */
export const TAG_TARGET = 'target';
/** Full name of the rung queue that was not there. */
export const TAG_RUNG = 'rung';
/** Where a retry waits; one of the `WHERE_*` values. */
export const TAG_WHERE = 'where';
/** The exchange that a pipeline's run goes through; empty where the run names none. */
export const TAG_PIPELINE = 'pipeline';
/** The step at which a pipeline's run ended. */
export const TAG_STEP = 'step';

/**
 * Part of the family's vocabulary, attached to nothing here: a producer controls it, and its values have no
 * end.
 */
export const TAG_MESSAGE_TYPE = 'message.type';
/** Part of the family's vocabulary, attached to nothing here: it would have one value. */
export const TAG_TRANSPORT = 'transport';
