import {
  copyHeaders,
  type Envelope,
  type EnvelopeFields,
  HEADER_REPLY_ERROR,
  HEADER_REPLY_TO,
  HEADER_ROUTING_SLIP,
  type HeaderTable,
  type HeaderValue,
  isReservedHeader,
} from '@acemq/core';
import type { Itinerary } from './itinerary.ts';
import type { Next } from './step-answer.ts';

/** What belongs to the message that came, and not to the one that it brings about. */
const NOT_CARRIED: readonly string[] = [HEADER_ROUTING_SLIP, HEADER_REPLY_ERROR, HEADER_REPLY_TO];

/** The start of the names of the headers that a replay writes. */
const REPLAYED = 'acemq-replay';

/**
 * What the message to the next stop says of itself: the same correlation and first seen, this message as its cause, the
 * application's headers, and where the run goes from there. Its id, its attempt and its origin are the publisher's to give.
 *
 * @param now - Milliseconds since the epoch: when this stop was done.
 */
export function hopOf(
  envelope: Envelope,
  itinerary: Itinerary,
  { changed }: Next,
  now: number,
): EnvelopeFields {
  const { slip, ...route } = itinerary.onward(now);
  const { type, version } = changed === undefined ? envelope : changed.options;
  return {
    type,
    version,
    correlationId: envelope.correlationId,
    causationId: envelope.id,
    firstSeen: envelope.firstSeen,
    // It says where the bytes are, and so goes with them.
    claim: changed === undefined ? envelope.claim : undefined,
    ...route,
    headers: headersOf(envelope, changed?.options.headers, slip),
  };
}

function headersOf(
  envelope: Envelope,
  added: Readonly<HeaderTable> | undefined,
  slip: string | undefined,
): HeaderTable {
  const headers = new Map<string, HeaderValue>();
  for (const [name, value] of Object.entries(copyHeaders(envelope))) {
    if (isReservedHeader(name) || NOT_CARRIED.includes(name) || name.startsWith(REPLAYED)) continue;
    headers.set(name, value);
  }
  for (const [name, value] of Object.entries(added ?? {})) headers.set(name, value);
  if (slip !== undefined) headers.set(HEADER_ROUTING_SLIP, slip);
  // By way of a map, since `__proto__` may be the name of a header.
  return Object.fromEntries(headers);
}
