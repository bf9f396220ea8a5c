import {
  AbortedError,
  BrokerRefusedError,
  ConnectionClosedError,
  PublishError,
  PublishingPausedError,
  type PublishVerdict,
} from '@acemq/core';
import type { PublishFailure } from './pending.ts';

/** Which message it was. */
export interface PublishSubject {
  readonly exchange: string;
  readonly routingKey: string;
  readonly messageId: string;
}

/** The error for a verdict that is not `confirmed`. */
export function verdictError(
  verdict: Exclude<PublishVerdict, 'confirmed'>,
  reason: string,
  subject: PublishSubject,
): PublishError {
  if (verdict === 'nacked') {
    return new PublishError(`the broker refused to take ${messageWords(subject)}`, {
      ...subject,
      code: 'ACEMQ_PUBLISH_NACKED',
      reason: reason === '' ? 'the broker answered with a nack' : reason,
      retryable: true,
    });
  }
  const words = reason === '' ? 'nothing is bound to receive it' : reason;
  return new PublishError(
    `${messageWords(subject)} reached no queue: ${words}. ` +
      'Bind a queue, or publish with allowUnroutable where a message may have nobody to read it.',
    { ...subject, code: 'ACEMQ_PUBLISH_UNROUTABLE', reason: words },
  );
}

/** The error for a publish that got no verdict. It always says whether the message may have arrived. */
export function failureError(failure: PublishFailure, subject: PublishSubject): Error {
  const message = messageWords(subject);
  switch (failure.kind) {
    case 'paused':
      return new PublishingPausedError(
        `the broker has blocked this connection (${failure.reason}); ${message} was refused and nothing was written`,
        { ...subject, reason: failure.reason },
      );
    case 'stalled':
      return new PublishError(`${message} was not sent: ${failure.reason}. Nothing was written.`, {
        ...subject,
        reason: failure.reason,
        retryable: true,
      });
    case 'closed':
      return new ConnectionClosedError(
        `the connection is closed; ${message} was refused and nothing was written`,
      );
    case 'aborted':
      return new AbortedError(
        failure.written
          ? `the wait for the confirm of ${message} was aborted; it may or may not have arrived`
          : `the wait to publish ${message} was aborted; nothing was written`,
        { cause: failure.cause },
      );
    case 'timeout':
      return new PublishError(`${message} may or may not have arrived: ${failure.reason}`, {
        ...subject,
        code: 'ACEMQ_PUBLISH_TIMEOUT',
        reason: failure.reason,
        mayHaveArrived: true,
        retryable: true,
      });
    case 'cut':
      return cutError(failure.error, failure.others, subject);
    case 'unwritable':
      return failure.error;
  }
}

function cutError(error: Error, others: number, subject: PublishSubject): PublishError {
  const message = messageWords(subject);
  if (error instanceof BrokerRefusedError) {
    // The broker says why it closed the channel, not for which of the messages on it. Alone on it, it was
    // this one.
    const alone = others === 0;
    return new PublishError(
      `the broker refused ${message}: ${error.replyCode} ${error.replyText}` +
        (alone
          ? ''
          : `; ${others} others were outstanding to that exchange, so it may or may not have arrived`),
      { ...subject, cause: error, reason: error.replyText, mayHaveArrived: !alone },
    );
  }
  return new PublishError(`${message} may or may not have arrived: ${error.message}`, {
    ...subject,
    code: 'ACEMQ_PUBLISH_LOST',
    cause: error,
    reason: error.message,
    mayHaveArrived: true,
    retryable: true,
  });
}

function messageWords({ exchange, routingKey, messageId }: PublishSubject): string {
  const where =
    exchange === '' ? `queue ${routingKey}` : `exchange ${exchange} with key ${JSON.stringify(routingKey)}`;
  return `message ${messageId} to ${where}`;
}
