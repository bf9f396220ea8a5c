import {
  type PublishContext,
  PublishError,
  type PublishInterceptor,
  PublishingPausedError,
  type PublishNext,
  withEnvelope,
} from '@acemq/core';
import { OUTCOME_CONFIRMED, OUTCOME_FAILED, OUTCOME_REFUSED, OUTCOME_UNROUTABLE } from '@acemq/observe';
import { type Context, ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import { currentContext, within } from './carried-context.ts';
import { ATTR_REASON, ATTR_ROUTING_KEY, SPAN_PUBLISH_SUFFIX } from './names.ts';
import type { OpenSpan } from './open-span.ts';
import type { Propagation } from './propagation.ts';
import { quietly } from './quietly.ts';
import type { Server } from './server.ts';
import type { Spans } from './spans.ts';

/** Opens a span around each publish, and writes it on the message. */
export function publishInterceptor(
  spans: Spans,
  propagation: Propagation,
  server: Server,
): PublishInterceptor {
  const handOn = (message: PublishContext, next: PublishNext): Promise<void> => {
    const active = currentContext();
    if (active !== ROOT_CONTEXT) inject(message, propagation, active);
    return next();
  };
  const inSpan = async (message: PublishContext, next: PublishNext): Promise<void> => {
    const { exchange, routingKey, envelope } = message;
    const destination = exchange === '' ? routingKey : exchange;
    const { span, context } = spans.open({
      name: `${destination}${SPAN_PUBLISH_SUFFIX}`,
      kind: SpanKind.PRODUCER,
      parent: currentContext(),
      attributes: {
        ...spans.about(destination, 'publish', envelope),
        [ATTR_ROUTING_KEY]: routingKey,
        ...server('publish'),
      },
    });
    inject(message, propagation, context);
    try {
      await within(context, next);
      span.outcome(OUTCOME_CONFIRMED);
    } catch (error) {
      failed(span, error);
      throw error;
    } finally {
      span.end();
    }
  };
  return (message, next) => (spans.none ? handOn(message, next) : inSpan(message, next));
}

function inject(message: PublishContext, propagation: Propagation, context: Context): void {
  const carrier = propagation.headers(context);
  if (Object.keys(carrier).length === 0) return;
  quietly(() => {
    const headers = { ...message.envelope.headers, ...carrier };
    message.envelope = withEnvelope(message.envelope, { headers });
  });
}

function failed(span: OpenSpan, error: unknown): void {
  if (error instanceof PublishError && error.unroutable) {
    span.failure(OUTCOME_UNROUTABLE, error, { [ATTR_REASON]: error.reason });
  } else {
    span.failure(error instanceof PublishingPausedError ? OUTCOME_REFUSED : OUTCOME_FAILED, error);
  }
}
