import {
  FatalError,
  HEADER_REPLY_TO,
  type HeaderTable,
  isShortText,
  LONGEST_NAME,
  readText,
} from '@acemq/core';

/** What a request says about where its reply belongs. */
export interface Addressed {
  readonly headers: Readonly<HeaderTable>;
  /** The AMQP property. */
  readonly replyTo: string | undefined;
}

/**
 * Where the reply to a request belongs: what the header says, or else the property. Undefined where neither says anything
 * that can be a routing key.
 */
export function replyAddressOf({ headers, replyTo }: Addressed): string | undefined {
  const header = readText(headers, HEADER_REPLY_TO);
  if (header !== undefined && isShortText(header)) return header;
  return replyTo === undefined || replyTo === '' ? undefined : replyTo;
}

/** Why a request that has none is refused. */
export function noReplyAddress({ headers }: Addressed): FatalError {
  if (readText(headers, HEADER_REPLY_TO) !== undefined) {
    return new FatalError(
      `there is no reply address: the header ${HEADER_REPLY_TO} takes more than ${LONGEST_NAME} bytes, which is no name of a queue, and the property reply-to is not there`,
    );
  }
  return new FatalError(
    `there is no reply address: neither the header ${HEADER_REPLY_TO} nor the property reply-to names a queue`,
  );
}
