import type { Span, Tracing } from '@acemq/core';
import { TRACE_FIELDS } from './enqueue.ts';
import { timeOf } from './stream-id.ts';
import type { StreamEntry } from './stream-job.ts';

/** The span of the time that a job waited: from its entry id to the start of its handler. */
export const SPAN_QUEUE_WAIT = 'queue.wait';

/**
 * Runs a handler under the request that the entry names: first the wait, which is over by now, then a span of the kind's name.
 * Both are children of the request.
 */
export function inJobSpan<T>(
  tracing: Tracing | undefined,
  entry: StreamEntry,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  if (tracing === undefined) return work(undefined);
  const parent: Record<string, string> = {};
  for (const name of TRACE_FIELDS) {
    const value = entry.fields[name];
    if (value !== undefined) parent[name] = value;
  }
  tracing.span(SPAN_QUEUE_WAIT, { parent, startTime: timeOf(entry.id) }, () => undefined);
  return tracing.span(entry.kind, { kind: 'consumer', parent, attributes: { attempt: entry.attempt } }, work);
}
