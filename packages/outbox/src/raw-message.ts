import { HEADER_FIRST_SEEN, type RawAnswer, type RawMessage, readCount } from '@acemq/core';
import type { OwedRecord } from './store.ts';

/** The message of a record, as it goes to the broker; `undefined` when what is stored cannot be read. */
export function messageOf({ id, body, contentType, headers }: OwedRecord): RawMessage | undefined {
  if (headers === undefined) return undefined;
  const firstSeen = readCount(headers, HEADER_FIRST_SEEN);
  return {
    body,
    contentType,
    messageId: id,
    headers,
    persistent: true,
    mandatory: true,
    timestamp: firstSeen === undefined ? undefined : Math.trunc(firstSeen / 1000),
  };
}

/** What stands for the broker's answer about a record that cannot be read: it will never be taken. */
export const UNREADABLE: RawAnswer = Object.freeze({
  verdict: 'refused',
  judged: true,
  error: new Error('the stored headers of the record cannot be read: somebody has changed the row'),
});
