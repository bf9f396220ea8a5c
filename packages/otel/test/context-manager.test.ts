import { accept } from '@acemq/core';
import { context, propagation, ROOT_CONTEXT, type TextMapPropagator, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { expect, it, onTestFinished } from 'vitest';
import { OpenTelemetryTracing } from '../src/index.ts';
import { traced } from './setting.ts';

it('with a context manager the span is active in the handler and around the publish', async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  onTestFinished(() => context.disable());
  const { mq, queue, provider, span } = await traced();
  const active: unknown[] = [];
  await mq.consume(queue, () => {
    active.push(trace.getActiveSpan()?.spanContext().spanId);
    return accept();
  });
  const checkout = provider.getTracer('app').startSpan('checkout');
  await context.with(trace.setSpan(ROOT_CONTEXT, checkout), () =>
    mq.publisher({ routingKey: queue }).send({}),
  );
  const publish = await span(`${queue} publish`);
  const process = await span(`${queue} process`);
  expect(publish.parentSpanContext?.spanId).toBe(checkout.spanContext().spanId);
  expect(process.parentSpanContext?.spanId).toBe(publish.spanContext().spanId);
  expect(active).toEqual([process.spanContext().spanId]);
});

it('a global propagator that is set later writes the headers', () => {
  const tracing = new OpenTelemetryTracing();
  const propagator: TextMapPropagator = {
    inject: (_context, carrier, setter) => setter.set(carrier, 'x-trace', '1'),
    extract: (given) => given,
    fields: () => ['x-trace'],
  };
  expect(tracing.propagationHeaders()).toEqual({});
  propagation.setGlobalPropagator(propagator);
  onTestFinished(() => propagation.disable());
  expect(tracing.propagationHeaders()).toEqual({ 'x-trace': '1' });
});
