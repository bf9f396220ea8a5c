import {
  type Ack,
  type ConsumeContext,
  type ConsumeInterceptor,
  type ConsumeNext,
  type Envelope,
  isDeadLettered,
  OUTCOME_ACKED,
  OUTCOME_IN_PROGRESS,
  OUTCOME_PARKED,
  OUTCOME_REJECTED,
  OUTCOME_RETRIED,
  type Settlement,
} from '@acemq/core';
import { OUTCOME_FAILED } from '@acemq/observe';
import { type Attributes, type Context, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { within } from './carried-context.ts';
import { deadLettered, retried } from './events.ts';
import { ATTR_ATTEMPT, SPAN_PROCESS_SUFFIX, SPAN_QUEUE_WAIT } from './names.ts';
import type { OpenSpan } from './open-span.ts';
import type { Propagation } from './propagation.ts';
import { quietly } from './quietly.ts';
import type { Server } from './server.ts';
import type { Spans } from './spans.ts';

const PROVISIONAL: Readonly<Record<Ack['decision'], string>> = Object.freeze({
  accept: OUTCOME_ACKED,
  retry: OUTCOME_RETRIED,
  reject: OUTCOME_REJECTED,
  park: OUTCOME_PARKED,
  in_progress: OUTCOME_IN_PROGRESS,
});

/**
 * Opens a span around each handler, under the publish that the message's own headers name. It ends when it is decided
 * what becomes of the message, before that is done.
 */
export function consumeInterceptor(
  spans: Spans,
  propagation: Propagation,
  server: Server,
  queueWait: boolean,
): ConsumeInterceptor {
  const inSpan = async (delivery: ConsumeContext, next: ConsumeNext, parent: Context): Promise<Ack> => {
    const { queue, envelope } = delivery;
    const about = { ...spans.about(queue, 'process', envelope), ...server('consume') };
    if (queueWait && envelope.attempt === 1) waited(spans, envelope, about, parent);
    const { span, context } = spans.open({
      name: `${queue}${SPAN_PROCESS_SUFFIX}`,
      kind: SpanKind.CONSUMER,
      parent,
      attributes: { ...about, [ATTR_ATTEMPT]: envelope.attempt },
    });
    const coming = delivery.whenSettled(
      (settlement) => settled(span, queue, envelope, settlement),
      (error) => {
        span.fail(error);
        span.end();
      },
    );
    try {
      const ack = await within(context, next);
      quietly(() => {
        if ((ack.decision === 'retry' || ack.decision === 'reject') && ack.error !== undefined) {
          span.exception(ack.error);
        }
        if (!coming) span.outcome(PROVISIONAL[ack.decision]);
      });
      return ack;
    } catch (error) {
      if (coming) span.exception(error);
      else span.failure(OUTCOME_FAILED, error);
      throw error;
    } finally {
      if (!coming) span.end();
    }
  };
  return (delivery, next) => {
    const parent = propagation.context(delivery.envelope.headers);
    if (!spans.none) return inSpan(delivery, next, parent);
    return parent === ROOT_CONTEXT ? next() : within(parent, next);
  };
}

function settled(span: OpenSpan, queue: string, envelope: Envelope, settlement: Settlement): void {
  const { outcome, delay, reason } = settlement;
  if (outcome === OUTCOME_RETRIED) retried(span, queue, envelope, delay ?? 0);
  else if (isDeadLettered(settlement)) deadLettered(span, queue, envelope, reason ?? '');
  span.outcome(outcome);
  span.end();
}

/** Without a parent it would be a trace of its own, and is left out. */
function waited(spans: Spans, envelope: Envelope, attributes: Attributes, parent: Context): void {
  if (quietly(() => trace.getSpanContext(parent)) === undefined) return;
  const now = Date.now();
  const startTime = Math.min(envelope.firstSeen, now);
  spans.open({ name: SPAN_QUEUE_WAIT, kind: SpanKind.INTERNAL, parent, attributes, startTime }).span.end(now);
}
