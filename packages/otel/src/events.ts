import type { Envelope } from '@acemq/core';
import type { Attributes } from '@opentelemetry/api';
import {
  ATTR_ATTEMPT,
  ATTR_DESTINATION,
  ATTR_REASON,
  ATTR_RETRY_DELAY,
  EVENT_DEAD_LETTERED,
  EVENT_RETRIED,
} from './names.ts';
import type { OpenSpan } from './open-span.ts';

/** A time as an attribute, in whole milliseconds; none for what is no number, over which an exporter may drop its batch. */
export function wholeMilliseconds(name: string, time: number): Attributes {
  const whole = Math.round(time);
  return Number.isFinite(whole) ? { [name]: whole } : {};
}

/** `delay` is in milliseconds. */
export function retried(span: OpenSpan, queue: string, envelope: Envelope, delay: number): void {
  span.event(EVENT_RETRIED, {
    [ATTR_DESTINATION]: queue,
    ...wholeMilliseconds(ATTR_RETRY_DELAY, delay),
    [ATTR_ATTEMPT]: envelope.attempt,
  });
}

export function deadLettered(span: OpenSpan, queue: string, envelope: Envelope, reason: string): void {
  span.event(EVENT_DEAD_LETTERED, {
    [ATTR_DESTINATION]: queue,
    [ATTR_REASON]: reason,
    [ATTR_ATTEMPT]: envelope.attempt,
  });
}
