import {
  FatalError,
  HEADER_REPLY_TO,
  type HeaderTable,
  isShortText,
  LONGEST_NAME,
  readText,
} from '@acemq/core';
import { isDirect, isWellFormedDirect } from './direct-reply-to.ts';

/** What a request says about where its reply belongs. */
export interface Addressed {
  readonly headers: Readonly<HeaderTable>;
  /** The AMQP property. */
  readonly replyTo: string | undefined;
}

/**
 * Where the reply to a request belongs: what the header says, or else the property. Undefined where neither says anything
 * that can be published to.
 */
export function replyAddressOf({ headers, replyTo }: Addressed): string | undefined {
  const header = readText(headers, HEADER_REPLY_TO);
  if (header !== undefined && fault(header) === undefined) return header;
  return replyTo === undefined || replyTo === '' || fault(replyTo) !== undefined ? undefined : replyTo;
}

/** Why a request that has none is refused. */
export function noReplyAddress({ headers, replyTo }: Addressed): FatalError {
  const header = told(`the header ${HEADER_REPLY_TO}`, readText(headers, HEADER_REPLY_TO));
  const property = told('the property reply-to', replyTo === '' ? undefined : replyTo);
  return new FatalError(`there is no reply address: ${header}, and ${property}`);
}

function told(what: string, address: string | undefined): string {
  return `${what} ${(address === undefined ? undefined : fault(address)) ?? 'names no queue'}`;
}

/** Why nothing can be published to an address. */
function fault(address: string): string | undefined {
  if (!isShortText(address)) return `takes more than ${LONGEST_NAME} bytes`;
  if (isDirect(address) && !isWellFormedDirect(address)) {
    return 'is a direct reply-to address that no broker made';
  }
  return undefined;
}
