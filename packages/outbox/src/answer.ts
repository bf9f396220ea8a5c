import {
  BrokerRefusedError,
  PublishError,
  type RawAnswer,
  REPLY_ACCESS_REFUSED,
  REPLY_CONTENT_TOO_LARGE,
  REPLY_NOT_FOUND,
  REPLY_PRECONDITION_FAILED,
} from '@acemq/core';

/** What an answer means for the record and for what comes after it. */
export type Meaning =
  /** The broker has it. */
  | 'taken'
  /** The broker judged it and did not take it: an attempt is spent. */
  | 'refused'
  /**
   * The broker closed the channel over one of several records. Nobody knows which, so each destination that had records
   * on it goes alone until it is known.
   */
  | 'suspect'
  /** No confirm came in time, though the connection stands. */
  | 'silent'
  /** There is no way to the broker for the moment. */
  | 'outage';

const CHANNEL_REFUSALS: readonly number[] = [
  REPLY_CONTENT_TOO_LARGE,
  REPLY_ACCESS_REFUSED,
  REPLY_NOT_FOUND,
  REPLY_PRECONDITION_FAILED,
];

/** What became of one publish, as decision 43 has it. */
export function meaningOf(answer: RawAnswer): Meaning {
  if (answer.verdict === 'confirmed') return 'taken';
  if (answer.judged) return 'refused';
  if (answer.verdict === 'cut') {
    if (hasClosedChannel(answer)) return 'suspect';
    if (answer.error instanceof PublishError && answer.error.code === 'ACEMQ_PUBLISH_TIMEOUT')
      return 'silent';
  }
  return 'outage';
}

/** Whether the broker closed the channel over a message, this one or another. */
export function hasClosedChannel({ error }: RawAnswer): boolean {
  let current: unknown = error;
  for (let depth = 0; depth < 8 && current instanceof Error; depth += 1) {
    if (current instanceof BrokerRefusedError) return CHANNEL_REFUSALS.includes(current.replyCode);
    current = current.cause;
  }
  return false;
}
