import { createEnvelope } from '@acemq/core';
import { OpenTelemetryTracing } from '@acemq/otel';
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Requester, respond } from '../../src/request/index.ts';
import { onMemory, PATIENCE, type Setting } from './setting.ts';

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => {
  context.disable();
});

interface Traced extends Setting {
  readonly tracing: OpenTelemetryTracing;
  readonly provider: BasicTracerProvider;
  spans(): ReadableSpan[];
}

async function traced(): Promise<Traced> {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const tracing = new OpenTelemetryTracing({ tracerProvider: provider });
  const setting = await onMemory();
  tracing.install(setting.mq);
  return { ...setting, tracing, provider, spans: () => exporter.getFinishedSpans() };
}

/** The spans, when there are as many, by name. */
async function ended({ spans }: Traced, count: number): Promise<Map<string, ReadableSpan>> {
  await vi.waitFor(() => expect(spans().map(({ name }) => name)).toHaveLength(count), PATIENCE);
  return new Map(spans().map((span) => [span.name, span]));
}

const parentOf = (span: ReadableSpan | undefined): string | undefined => span?.parentSpanContext?.spanId;
const idOf = (span: ReadableSpan | undefined): string | undefined => span?.spanContext().spanId;

test('a round trip is one trace: request, publish, process, publish of the reply, process of the reply', async () => {
  const setting = await traced();
  const { mq, queue } = setting;
  await using _responder = await respond(mq, queue, async () => 'yes');
  await using requester = await Requester.open(mq, { routingKey: queue });
  await requester.ask(1);
  const spans = await ended(setting, 5);
  const { replyQueue } = requester;
  const request = spans.get(`${queue} request`);
  const chain = [
    request,
    spans.get(`${queue} publish`),
    spans.get(`${queue} process`),
    spans.get(`${replyQueue} publish`),
    spans.get(`${replyQueue} process`),
  ];
  for (const [index, span] of chain.entries()) {
    expect(span?.spanContext().traceId).toBe(request?.spanContext().traceId);
    expect(parentOf(span)).toBe(idOf(chain[index - 1]));
  }
  expect(request?.kind).toBe(SpanKind.CLIENT);
  expect(request?.status.code).toBe(SpanStatusCode.UNSET);
  expect(request?.attributes).toMatchObject({
    'messaging.destination.name': queue,
    'messaging.operation': 'request',
    'messaging.message.id': spans.get(`${queue} publish`)?.attributes['messaging.message.id'],
    'messaging.message.conversation_id': spans.get(`${queue} publish`)?.attributes['messaging.message.id'],
    'messaging.acemq.message_type': queue,
    'messaging.acemq.outcome': 'answered',
  });
});

test('the span of a request hangs under what is active when it is asked', async () => {
  const setting = await traced();
  const { mq, queue, provider } = setting;
  await using _responder = await respond(mq, queue, () => 'yes');
  await using requester = await Requester.open(mq, { routingKey: queue });
  const span = provider.getTracer('test').startSpan('checkout');
  await context.with(trace.setSpan(context.active(), span), () => requester.ask(1));
  span.end();
  const spans = await ended(setting, 6);
  expect(parentOf(spans.get(`${queue} request`))).toBe(span.spanContext().spanId);
});

test('a caller who opened the span of the request gets no second one', async () => {
  const setting = await traced();
  const { mq, queue, tracing } = setting;
  await using _responder = await respond(mq, queue, () => 'yes');
  await using requester = await Requester.open(mq, { routingKey: queue });
  const envelope = createEnvelope({}, { routingKey: queue, now: Date.now() });
  expect(await tracing.requestSpan('pricing', envelope, () => requester.ask(1))).toBe('yes');
  const spans = await ended(setting, 5);
  const requests = setting.spans().filter(({ name }) => name.endsWith(' request'));
  expect(requests.map(({ name }) => name)).toEqual(['pricing request']);
  expect(parentOf(spans.get(`${queue} publish`))).toBe(idOf(spans.get('pricing request')));
});

test('an exchange names the span where there is one', async () => {
  const setting = await traced();
  const { mq } = setting;
  await using requester = await Requester.open(mq, { exchange: 'amq.direct', routingKey: 'nobody' });
  await expect(requester.ask(1)).rejects.toThrow();
  const spans = await ended(setting, 2);
  const span = spans.get('amq.direct request');
  expect(span?.attributes['messaging.acemq.outcome']).toBe('failed');
  expect(span?.status.code).toBe(SpanStatusCode.ERROR);
});

test('a time-out ends the span as timed_out, and a failure of the responder as failed', async () => {
  const setting = await traced();
  const { mq, queue } = setting;
  await using requester = await Requester.open(mq, { routingKey: queue, timeout: 30 });
  await expect(requester.ask(1)).rejects.toMatchObject({ code: 'ACEMQ_REQUEST_TIMEOUT' });
  await ended(setting, 2);
  expect(setting.spans().find(({ name }) => name.endsWith('request'))).toMatchObject({
    attributes: { 'messaging.acemq.outcome': 'timed_out' },
    events: [{ name: 'exception' }],
  });
  await using _responder = await respond(mq, queue, () => {
    throw new RangeError('no');
  });
  await expect(requester.ask(2, { timeout: '10s' })).rejects.toMatchObject({ code: 'ACEMQ_RESPONDER' });
  await vi.waitFor(() => {
    const outcomes = setting
      .spans()
      .map((span) => `${span.name}: ${span.attributes['messaging.acemq.outcome']}`);
    expect(outcomes).toContain(`${queue} request: failed`);
  }, PATIENCE);
});

test('a request that waits for its reply queue keeps its trace', async () => {
  const setting = await traced();
  const { mq, broker, queue } = setting;
  await using _responder = await respond(mq, queue, () => 'yes');
  await using requester = await Requester.open(mq, { routingKey: queue });
  broker.dropLinks();
  expect(await requester.ask(1)).toBe('yes');
  const spans = await ended(setting, 5);
  expect(parentOf(spans.get(`${queue} publish`))).toBe(idOf(spans.get(`${queue} request`)));
});
