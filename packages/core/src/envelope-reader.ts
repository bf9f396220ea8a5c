import { type Envelope, randomId } from './envelope.ts';
import {
  bareTable,
  countOf,
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
  isReservedHeader,
  NO_HEADERS,
  textOf,
} from './headers.ts';

// Not `Object.hasOwn`: only this form is free inside `for…in`.
const owns = Object.prototype.hasOwnProperty;

/** What {@link readEnvelope} needs of a delivery. */
export interface IncomingMessage {
  /** As they came: any type, any nesting. */
  readonly headers: Readonly<Record<string, unknown>> | null | undefined;
  readonly messageId: string | undefined;
  readonly routingKey: string;
}

/**
 * The envelope of a message that came. Lenient: what is missing or cannot be read takes its default, whoever
 * sent it, and nothing throws. Every name under the library's prefix is kept from the application's headers;
 * one that this version does not know is kept aside.
 *
 * @param now - Milliseconds since the epoch: when a message that does not say was first seen.
 */
export function readEnvelope(message: IncomingMessage, now: number): Envelope {
  const table = message.headers;
  let id: string | undefined;
  let type: string | undefined;
  let version: number | undefined;
  let correlationId: string | undefined;
  let causationId: string | undefined;
  let attempt: number | undefined;
  let firstSeen: number | undefined;
  let origin: string | undefined;
  let error: string | undefined;
  let claim: string | undefined;
  let route: readonly string[] | undefined;
  let routePosition: number | undefined;
  let routeId: string | undefined;
  let headers: HeaderTable | undefined;
  let unknown: HeaderTable | undefined;

  if (typeof table === 'object' && table !== null) {
    for (const name in table) {
      // A decoder that assigns a header named `__proto__` gives the table a prototype of the sender's choice.
      if (!owns.call(table, name)) continue;
      const value = table[name];
      switch (name) {
        case HEADER_ID:
          id = textOf(value);
          break;
        case HEADER_TYPE:
          type = textOf(value);
          break;
        case HEADER_VERSION:
          version = atLeast(value, 1);
          break;
        case HEADER_CORRELATION:
          correlationId = textOf(value);
          break;
        case HEADER_CAUSATION:
          causationId = textOf(value);
          break;
        case HEADER_ATTEMPT:
          attempt = atLeast(value, 1);
          break;
        case HEADER_FIRST_SEEN:
          firstSeen = atLeast(value, 0);
          break;
        case HEADER_ORIGIN:
          origin = textOf(value);
          break;
        case HEADER_ERROR:
          error = textOf(value);
          break;
        case HEADER_CLAIM:
          claim = textOf(value);
          break;
        case HEADER_ROUTE:
          route = stepsOf(value);
          break;
        case HEADER_ROUTE_POSITION:
          routePosition = atLeast(value, 0);
          break;
        case HEADER_ROUTE_ID:
          routeId = textOf(value);
          break;
        default:
          if (value === undefined) break;
          if (isReservedHeader(name)) {
            unknown ??= bareTable();
            unknown[name] = value as HeaderValue;
          } else {
            headers ??= bareTable();
            headers[name] = value as HeaderValue;
          }
      }
    }
  }

  id ??= textOf(message.messageId) ?? randomId();
  return Object.freeze({
    id,
    type: type ?? textOf(message.routingKey) ?? 'message',
    version: version ?? 1,
    correlationId: correlationId ?? id,
    causationId,
    attempt: attempt ?? 1,
    firstSeen: firstSeen ?? Math.trunc(now),
    origin,
    error,
    claim,
    route,
    routePosition: routePosition ?? 0,
    routeId,
    headers: headers === undefined ? NO_HEADERS : Object.freeze(headers),
    unknownHeaders: unknown === undefined ? NO_HEADERS : Object.freeze(unknown),
  });
}

function atLeast(value: unknown, min: number): number | undefined {
  const count = countOf(value);
  return count !== undefined && count >= min ? count : undefined;
}

function stepsOf(value: unknown): readonly string[] | undefined {
  const steps: string[] = [];
  for (const part of textOf(value)?.split(',') ?? []) {
    const step = part.trim();
    if (step !== '') steps.push(step);
  }
  return steps.length === 0 ? undefined : Object.freeze(steps);
}
