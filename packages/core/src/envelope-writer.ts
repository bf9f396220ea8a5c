import { cutText } from './cut-text.ts';
import type { Envelope } from './envelope.ts';
import {
  HEADER_ATTEMPT,
  HEADER_CAUSATION,
  HEADER_CLAIM,
  HEADER_CORRELATION,
  HEADER_ERROR,
  HEADER_FIRST_SEEN,
  HEADER_ID,
  HEADER_ORIGIN,
  HEADER_ROUTE,
  HEADER_ROUTE_ID,
  HEADER_ROUTE_POSITION,
  HEADER_TYPE,
  HEADER_VERSION,
  type HeaderTable,
  type HeaderValue,
  NO_HEADERS,
} from './headers.ts';

/**
 * The headers that a message is published with: the envelope's own, written strictly (counters as integers,
 * nothing empty, nothing null), and the application's. A new table at each call, which the caller may add to.
 */
export function writeHeaders(envelope: Envelope): HeaderTable {
  const table = envelopeHeaders(envelope);
  const headers = envelope.headers;
  if (headers !== NO_HEADERS) {
    for (const name in headers) set(table, name, headers[name] as HeaderValue);
  }
  return table;
}

/**
 * The headers of a copy that the library makes (into a rung, home from a wait, set aside, replayed): those of
 * {@link writeHeaders} and the unknown ones that came with it, without those that only the broker may write
 * or that it would act on again. A message that kept `x-death` may be dropped without a word on its way home
 * from a rung, and one that kept `CC` is delivered twice.
 */
export function copyHeaders(envelope: Envelope): HeaderTable {
  const table = envelopeHeaders(envelope);
  const { headers, unknownHeaders } = envelope;
  for (const name in unknownHeaders) set(table, name, unknownHeaders[name] as HeaderValue);
  for (const name in headers) {
    if (!isBrokerHeader(name)) set(table, name, headers[name] as HeaderValue);
  }
  return table;
}

/** The envelope's own headers alone: what remains for a copy whose other headers cannot be encoded. */
export function envelopeHeaders(envelope: Envelope): HeaderTable {
  const table: HeaderTable = {
    [HEADER_ID]: envelope.id,
    [HEADER_TYPE]: envelope.type,
    [HEADER_VERSION]: envelope.version,
    [HEADER_CORRELATION]: envelope.correlationId,
    [HEADER_ATTEMPT]: envelope.attempt,
    [HEADER_FIRST_SEEN]: envelope.firstSeen,
  };
  if (envelope.causationId !== undefined) table[HEADER_CAUSATION] = envelope.causationId;
  if (envelope.origin !== undefined) table[HEADER_ORIGIN] = envelope.origin;
  if (envelope.error !== undefined) table[HEADER_ERROR] = envelope.error;
  if (envelope.claim !== undefined) table[HEADER_CLAIM] = envelope.claim;
  if (envelope.route !== undefined) table[HEADER_ROUTE] = envelope.route.join(',');
  if (envelope.route !== undefined || envelope.routePosition > 0)
    table[HEADER_ROUTE_POSITION] = envelope.routePosition;
  if (envelope.routeId !== undefined) table[HEADER_ROUTE_ID] = envelope.routeId;
  return table;
}

/** How much of each text {@link essentialHeaders} keeps, in UTF-16 code units. */
const LONGEST_ESSENTIAL = 120;

/**
 * What is left where not even {@link envelopeHeaders} fit, since a sender wrote a text of tens of kilobytes into one of
 * them: who the message is, where it stands and why it is set aside, each text cut. Less than 4 kB, whatever it is of.
 */
export function essentialHeaders(envelope: Envelope): HeaderTable {
  const table: HeaderTable = {
    [HEADER_ID]: cutText(envelope.id, LONGEST_ESSENTIAL),
    [HEADER_TYPE]: cutText(envelope.type, LONGEST_ESSENTIAL),
    [HEADER_VERSION]: envelope.version,
    [HEADER_CORRELATION]: cutText(envelope.correlationId, LONGEST_ESSENTIAL),
    [HEADER_ATTEMPT]: envelope.attempt,
    [HEADER_FIRST_SEEN]: envelope.firstSeen,
  };
  if (envelope.origin !== undefined) table[HEADER_ORIGIN] = cutText(envelope.origin, LONGEST_ESSENTIAL);
  if (envelope.error !== undefined) table[HEADER_ERROR] = cutText(envelope.error, LONGEST_ESSENTIAL);
  return table;
}

/** Assigning `__proto__` on an ordinary object would change its prototype and write no header. */
function set(table: HeaderTable, name: string, value: HeaderValue): void {
  if (name === '__proto__') {
    Object.defineProperty(table, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    table[name] = value;
  }
}

function isBrokerHeader(name: string): boolean {
  return (
    name === 'x-death' ||
    name === 'CC' ||
    name === 'BCC' ||
    name === 'x-delivery-count' ||
    name.startsWith('x-first-death-') ||
    name.startsWith('x-last-death-')
  );
}
