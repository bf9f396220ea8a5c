import {
  BrokerRefusedError,
  ConfigurationError,
  checkOptions,
  type Outbound,
  type PublishVerdict,
  type RawAnswer,
  type RawMessage,
  type RawVerdict,
  REPLY_ACCESS_REFUSED,
  REPLY_CONTENT_TOO_LARGE,
  REPLY_NOT_FOUND,
  REPLY_PRECONDITION_FAILED,
  randomId,
  shown,
} from '@acemq/core';
import { Pending, type PublishFailure } from './pending.ts';
import { failureError, verdictError } from './publish-errors.ts';

/**
 * A message that is published as it is. It takes a permit like any other, and is not counted as a publish.
 */
export class RawPublish extends Pending {
  readonly #answer: (answer: RawAnswer) => void;

  constructor(exchange: string, routingKey: string, message: Outbound, answer: (answer: RawAnswer) => void) {
    super(exchange, routingKey, message, false);
    this.#answer = answer;
  }

  judged(verdict: PublishVerdict, reason: string): void {
    const error = verdict === 'confirmed' ? undefined : verdictError(verdict, reason, this.#subject());
    this.#answer(Object.freeze({ verdict, judged: true, error }));
  }

  failed(failure: PublishFailure): void {
    const verdict = rawVerdict(failure);
    this.#answer(
      Object.freeze({
        verdict,
        judged: verdict === 'refused',
        error: failureError(failure, this.#subject()),
      }),
    );
  }

  #subject(): { exchange: string; routingKey: string; messageId: string } {
    return { exchange: this.exchange, routingKey: this.routingKey, messageId: this.message.messageId };
  }
}

const RAW_FIELDS: readonly string[] = [
  'body',
  'contentType',
  'messageId',
  'replyTo',
  'headers',
  'persistent',
  'mandatory',
  'timestamp',
  'priority',
  'expiration',
];

/** The raw message with its defaults. Throws `ConfigurationError` for one that is none. */
export function outboundOf(message: RawMessage): Outbound {
  checkOptions(message, RAW_FIELDS, 'a raw message');
  const { body, headers } = message;
  if (!(body instanceof Uint8Array)) {
    throw new ConfigurationError(`the body of a raw message must be a Uint8Array, and is ${shown(body)}`);
  }
  if (headers !== undefined && (typeof headers !== 'object' || headers === null)) {
    throw new ConfigurationError(`the headers of a raw message must be an object, and are ${shown(headers)}`);
  }
  return {
    ...message,
    headers: headers ?? {},
    messageId: message.messageId === undefined || message.messageId === '' ? randomId() : message.messageId,
    persistent: message.persistent ?? true,
    mandatory: message.mandatory ?? true,
  };
}

/** Reply codes that speak of the message or its exchange, and not of the connection. */
const ABOUT_THE_MESSAGE: readonly number[] = [
  REPLY_CONTENT_TOO_LARGE,
  REPLY_ACCESS_REFUSED,
  REPLY_NOT_FOUND,
  REPLY_PRECONDITION_FAILED,
];

function rawVerdict(failure: PublishFailure): RawVerdict {
  switch (failure.kind) {
    case 'unwritable':
      return 'refused';
    case 'timeout':
      return 'cut';
    case 'cut': {
      // With others outstanding on the channel the broker may have meant any of them.
      const { error, others } = failure;
      const judged =
        error instanceof BrokerRefusedError && others === 0 && ABOUT_THE_MESSAGE.includes(error.replyCode);
      return judged ? 'refused' : 'cut';
    }
    case 'aborted':
      return failure.written ? 'cut' : 'unsent';
    case 'paused':
    case 'stalled':
    case 'closed':
      return 'unsent';
  }
}
