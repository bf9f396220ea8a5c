import { ATTR_ATTEMPT, ATTR_OUTCOME, ATTR_REASON, ATTR_RETRY_DELAY } from '@acemq/otel';
import { type HrTime, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan, TimedEvent } from '@opentelemetry/sdk-trace-base';
import { branchesOf, type Node } from './trace-tree.ts';

interface SpanNode extends Node {
  readonly span: ReadableSpan;
}

/** The spans of one trace as a tree: what each did, when it began, how long it took, how it ended, its events. */
export function tracePage(spans: readonly ReadableSpan[], prefix: string): string {
  const nodes = spans.map(
    (span): SpanNode => ({
      id: span.spanContext().spanId,
      parent: span.parentSpanContext?.spanId,
      start: milliseconds(span.startTime),
      span,
    }),
  );
  const begun = Math.min(...nodes.map(({ start }) => start));
  const lines = branchesOf(nodes).flatMap(({ node: { span, start }, art, below }) => [
    columns(
      art + span.name.replace(prefix, ''),
      SpanKind[span.kind],
      `+${Math.round(start - begun)}`,
      milliseconds(span.duration).toFixed(1),
      ending(span),
    ),
    ...span.events.map((event) => `  ${below}* ${said(event)}`),
  ]);
  return [columns('span', 'kind', 'at ms', 'took ms', 'outcome'), ...lines].join('\n');
}

function columns(name: string, kind: string, at: string, took: string, outcome: string): string {
  return `  ${name.padEnd(32)}${kind.padEnd(10)}${at.padStart(6)}${took.padStart(9)}  ${outcome}`.trimEnd();
}

function ending({ attributes, status }: ReadableSpan): string {
  const attempt = attributes[ATTR_ATTEMPT];
  const words = [
    attributes[ATTR_OUTCOME],
    attempt === undefined ? undefined : `(attempt ${attempt})`,
    status.code === SpanStatusCode.ERROR ? 'ERROR' : undefined,
  ];
  return words.filter((word) => word !== undefined).join(' ');
}

function said({ name, attributes = {} }: TimedEvent): string {
  const delay = attributes[ATTR_RETRY_DELAY];
  const what = attributes['exception.message'] ?? attributes[ATTR_REASON];
  if (delay !== undefined) return `${name}: comes again after ${delay} ms`;
  return what === undefined ? name : `${name}: ${what}`;
}

function milliseconds([seconds, nanoseconds]: HrTime): number {
  return seconds * 1_000 + nanoseconds / 1_000_000;
}
