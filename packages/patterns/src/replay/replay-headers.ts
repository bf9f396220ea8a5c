import {
  type Envelope,
  HEADER_REPLAY_COUNT,
  HEADER_REPLAYED_AT,
  HEADER_REPLAYED_FROM,
  type HeaderTable,
  readCount,
  readText,
  withEnvelope,
  withError,
} from '@acemq/core';

/** What a message says of its last replay. */
export interface Replayed {
  /** The queue that it was replayed out of. */
  readonly from: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number | undefined;
  /** How often it was replayed; 0 for never. */
  readonly count: number;
}

/** Reads what a replay has written, this library's or another's: the time as RFC 3339 text or as milliseconds. */
export function readReplayed(headers: Readonly<Record<string, unknown>>): Replayed {
  return {
    from: readText(headers, HEADER_REPLAYED_FROM),
    at: timeOf(headers),
    count: Math.max(0, readCount(headers, HEADER_REPLAY_COUNT) ?? 0),
  };
}

/**
 * The envelope of a message that is replayed: the three headers of a replay written anew, its attempt 1 again and its reason
 * taken off, unless it is to go on as it was found.
 *
 * @param at - Milliseconds since the epoch.
 */
export function replayed(envelope: Envelope, from: string, at: number, restart: boolean): Envelope {
  const headers: HeaderTable = {};
  // By own names only, as the table has no prototype: a header called __proto__ stays one.
  Object.setPrototypeOf(headers, null);
  for (const name of Object.keys(envelope.headers)) {
    headers[name] = envelope.headers[name] as HeaderTable[string];
  }
  headers[HEADER_REPLAYED_FROM] = from;
  headers[HEADER_REPLAYED_AT] = new Date(at).toISOString();
  const { count } = readReplayed(envelope.headers);
  headers[HEADER_REPLAY_COUNT] = Math.min(count + 1, Number.MAX_SAFE_INTEGER);
  const marked = withEnvelope(envelope, { headers });
  return restart ? withEnvelope(withError(marked, ''), { attempt: 1 }) : marked;
}

function timeOf(headers: Readonly<Record<string, unknown>>): number | undefined {
  const count = readCount(headers, HEADER_REPLAYED_AT);
  if (count !== undefined) return count;
  const time = Date.parse(readText(headers, HEADER_REPLAYED_AT) ?? '');
  return Number.isNaN(time) ? undefined : time;
}
