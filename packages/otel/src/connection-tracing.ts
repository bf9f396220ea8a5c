import type { SpanOptions, Span as TracedSpan, Tracing } from '@acemq/core';
import { SpanKind } from '@opentelemetry/api';
import { currentContext, within } from './carried-context.ts';
import type { OpenSpan } from './open-span.ts';
import type { Propagation } from './propagation.ts';
import type { Spans } from './spans.ts';

const KINDS = Object.freeze({
  internal: SpanKind.INTERNAL,
  client: SpanKind.CLIENT,
  server: SpanKind.SERVER,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
});

/** What a connection's `tracing` is once the adapter is installed. */
export function connectionTracing(
  spans: Spans,
  propagation: Propagation,
  request: Tracing['request'],
): Tracing {
  return Object.freeze({
    propagationHeaders: () => propagation.headers(currentContext()),
    event: (name, attributes = {}) => spans.current(currentContext()).event(name, attributes),
    span<T>(name: string, options: SpanOptions, work: (span: TracedSpan) => T): T {
      const { kind = 'internal', parent, startTime, attributes = {} } = options;
      const { span, context } = spans.open({
        name,
        kind: KINDS[kind],
        parent: parent === undefined ? currentContext() : propagation.context(parent),
        attributes,
        ...(startTime === undefined ? {} : { startTime }),
      });
      return runToItsEnd(span, () => within(context, () => work(traced(span))));
    },
    request,
  } satisfies Tracing);
}

function traced(span: OpenSpan): TracedSpan {
  return {
    attribute: (name, value) => span.attributes({ [name]: value }),
    event: (name, attributes = {}) => span.event(name, attributes),
    fail: (error) => span.fail(error),
  };
}

/** Ends the span when the work has settled, and hands on what it answers. */
function runToItsEnd<T>(span: OpenSpan, work: () => T): T {
  let answer: T;
  try {
    answer = work();
  } catch (error) {
    span.fail(error);
    span.end();
    throw error;
  }
  if (!(answer instanceof Promise)) {
    span.end();
    return answer;
  }
  answer.then(
    () => span.end(),
    (error: unknown) => {
      span.fail(error);
      span.end();
    },
  );
  return answer;
}
