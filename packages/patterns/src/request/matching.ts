import type { Envelope } from '@acemq/core';

/**
 * What a reply answers, among what waits by the id of its request. The correlation id of a request is its id, so the
 * reply's correlation names it; the causation id names it too, for a responder whose replies have a correlation of their own.
 */
export function answeredBy<T>(reply: Envelope, waiting: ReadonlyMap<string, T>): T | undefined {
  const byCorrelation = waiting.get(reply.correlationId);
  if (byCorrelation !== undefined || reply.causationId === undefined) return byCorrelation;
  return waiting.get(reply.causationId);
}
