import { type Ack, accept, type ConsumeContext, createEnvelope, park, reject, retry } from '@acemq/core';
import { SpanStatusCode } from '@opentelemetry/api';
import { expect, it } from 'vitest';
import { traced } from './setting.ts';

const envelope = createEnvelope({}, { routingKey: 'orders', now: 0 });

/** A chain that is run by something other than a consumer: "False means [...] no answer is coming". */
const delivery: ConsumeContext = {
  queue: 'orders',
  exchange: '',
  routingKey: 'orders',
  contentType: undefined,
  redelivered: false,
  body: new Uint8Array(),
  envelope,
  payload: undefined,
  state: new Map(),
  signal: new AbortController().signal,
  whenSettled: () => false,
};

it.each<[string, () => Ack]>([
  ['acked', accept],
  ['retried', () => retry(new Error('no'))],
  ['rejected', () => reject(new Error('no'))],
  ['parked', () => park(new Error('no'))],
])('a span that nobody will settle ends as %s when the handler returns', async (outcome, answer) => {
  const { tracing, span } = await traced();
  await tracing.consumeInterceptor()(delivery, async () => answer());
  const { attributes, status } = await span('orders process');
  expect(attributes['messaging.acemq.outcome']).toBe(outcome);
  expect(status).toEqual({ code: SpanStatusCode.UNSET });
});

it('a span that nobody will settle ends as failed when the handler throws', async () => {
  const { tracing, span } = await traced();
  const error = new Error('no');
  await expect(tracing.consumeInterceptor()(delivery, () => Promise.reject(error))).rejects.toBe(error);
  const { attributes, status, events } = await span('orders process');
  expect(attributes['messaging.acemq.outcome']).toBe('failed');
  expect(status).toEqual({ code: SpanStatusCode.ERROR, message: 'failed' });
  expect(events.map((event) => event.name)).toEqual(['exception']);
});
