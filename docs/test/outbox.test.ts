import { AsyncLocalStorage } from 'node:async_hooks';
import { connect } from '@acemq/amqp';
import { topology } from '@acemq/core';
import { OpenTelemetryTracing } from '@acemq/otel';
import { MemoryOutboxStore, Outbox, OutboxRelay } from '@acemq/outbox';
import { memoryBroker } from '@acemq/testing';
import { type Context, type ContextManager, context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, expect, test } from 'vitest';
import { code, prose, rows } from './page.ts';

/** What the SDK for Node brings. */
function asyncContexts(): ContextManager {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, work, self, ...args) => storage.run(active, () => work.call(self as never, ...args)),
    bind: (_active, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}

afterEach(() => {
  trace.disable();
  context.disable();
});

test('outbox.md has every option of OutboxRelay, and no other', () => {
  const named = rows(prose('docs/outbox.md'), 'Option of `OutboxRelay`').flatMap(([cell = '']) => code(cell));
  let words = '';
  try {
    new OutboxRelay({ publishRaw: () => Promise.reject(new Error()) }, new MemoryOutboxStore(), {
      '?': 1,
    } as object);
  } catch (error) {
    words = (error as Error).message;
  }
  expect(named.sort()).toEqual(
    words
      .replace(/.*there are /, '')
      .split(', ')
      .sort(),
  );
});

// Seed 000:
//   with tracer.start_as_current_span("checkout"):
//       ...
//       await relay.sweep()
//       tracing.outbox_published("orders", lag_ms=lag)
test('a request that sweeps inside its span writes the lag on it, and the relay opens no span', async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(asyncContexts());
  const mq = await connect(memoryBroker());
  const tracing = new OpenTelemetryTracing();
  tracing.install(mq);
  await mq.declare(topology().queue('orders'));
  const store = new MemoryOutboxStore();
  const outbox = new Outbox(mq, store);
  const relay = new OutboxRelay(mq, store);
  await provider.getTracer('shop').startActiveSpan('checkout', async (span) => {
    await outbox.transaction((tx) => outbox.send(tx, { routingKey: 'orders', payload: 1 }));
    const lag = (await relay.oldestAge()) ?? 0;
    expect(await relay.sweep()).toBe(1);
    tracing.outboxPublished('orders', lag);
    span.end();
  });
  const spans = exporter.getFinishedSpans();
  expect(spans.map(({ name }) => name)).toEqual(['checkout']);
  expect(spans[0]?.attributes).toHaveProperty('messaging.acemq.outbox_lag_ms');
  await relay.close();
  await mq.close();
});
