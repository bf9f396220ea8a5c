import { once } from 'node:events';
import { connect } from '@acemq/amqp';
import {
  type Ack,
  accept,
  createEnvelope,
  FatalError,
  fixed,
  inProgress,
  PublishingPausedError,
  park,
  RequestTimeoutError,
  reject,
  retry,
  topology,
} from '@acemq/core';
import { memoryBroker } from '@acemq/testing';
import { SpanKind, SpanStatusCode, type TracerProvider } from '@opentelemetry/api';
import { describe, expect, it, vi } from 'vitest';
import { ERROR_OUTCOMES, INSTRUMENTATION_NAME, OpenTelemetryTracing, SPAN_QUEUE_WAIT } from '../src/index.ts';
import { VERSION } from '../src/version.ts';
import { traced } from './setting.ts';

const envelope = createEnvelope({ type: 'order' }, { routingKey: 'orders', now: 0 });

describe('the spans', () => {
  it('of a delivery is a child of the publish that caused it', async () => {
    // Seed: "A consumer's span is a child of the publish that caused it, taken from the message's own headers".
    const { mq, queue, span } = await traced();
    await mq.consume(queue, () => accept());
    const sent = await mq.publisher({ routingKey: queue, type: 'order' }).send({ id: 1 });
    const publish = await span(`${queue} publish`);
    const process = await span(`${queue} process`);
    expect(process.parentSpanContext?.spanId).toBe(publish.spanContext().spanId);
    expect(process.spanContext().traceId).toBe(publish.spanContext().traceId);
    expect([publish.kind, process.kind]).toEqual([SpanKind.PRODUCER, SpanKind.CONSUMER]);
    expect(publish.instrumentationScope).toMatchObject({ name: INSTRUMENTATION_NAME, version: VERSION });
    const common = {
      'messaging.system': 'rabbitmq',
      'messaging.destination.name': queue,
      'messaging.message.id': sent.id,
      'messaging.message.conversation_id': sent.correlationId,
      'messaging.acemq.message_type': 'order',
    };
    expect(publish.attributes).toEqual({
      ...common,
      'messaging.operation': 'publish',
      'messaging.rabbitmq.destination.routing_key': queue,
      'messaging.acemq.outcome': 'confirmed',
    });
    expect(process.attributes).toEqual({
      ...common,
      'messaging.operation': 'process',
      'messaging.acemq.attempt': 1,
      'messaging.acemq.outcome': 'acked',
    });
  });

  it('of a delivery without headers is the root of a trace of its own', async () => {
    const { mq, queue, span } = await traced();
    await mq.consume(queue, () => accept());
    await mq.publishRaw('', queue, { body: Buffer.from('{}'), contentType: 'application/json', headers: {} });
    expect((await span(`${queue} process`)).parentSpanContext).toBeUndefined();
  });

  it('of a publish made in a handler hangs on the delivery, with no context manager installed', async () => {
    const { mq, queue, span } = await traced();
    const next = `${queue}-next`;
    await mq.declare(topology().queue(next));
    const headers: Record<string, string>[] = [];
    await mq.consume(queue, async () => {
      await once(AbortSignal.timeout(1), 'abort');
      headers.push(mq.tracing.propagationHeaders());
      await mq.publisher({ routingKey: next }).send({});
      return accept();
    });
    await mq.publisher({ routingKey: queue }).send({});
    const process = await span(`${queue} process`);
    const { traceId, spanId } = process.spanContext();
    expect((await span(`${next} publish`)).parentSpanContext?.spanId).toBe(spanId);
    expect(headers).toEqual([{ traceparent: `00-${traceId}-${spanId}-01` }]);
    expect(mq.tracing.propagationHeaders()).toEqual({});
  });
});

const refused = {
  name: 'refused',
  error: new PublishingPausedError('the broker is blocked'),
  message: 'the broker is blocked',
};
describe('a publish', () => {
  it('that reaches no queue is unroutable, with the reason, and red', async () => {
    const { mq, span } = await traced();
    await expect(mq.publisher({ routingKey: 'nowhere' }).send({})).rejects.toThrow();
    const { attributes, status, events } = await span('nowhere publish');
    expect(attributes).toMatchObject({
      'messaging.acemq.outcome': 'unroutable',
      'messaging.acemq.reason': expect.stringContaining('NO_ROUTE'),
    });
    expect(status).toEqual({ code: SpanStatusCode.ERROR, message: 'unroutable' });
    expect(events.map((event) => event.name)).toEqual(['exception']);
  });

  it.each([refused, { name: 'failed', error: new Error('no'), message: 'failed' }])(
    'is $name by the type of its error',
    async ({ name, error, message }) => {
      const { mq, queue, span } = await traced();
      mq.interceptPublish(() => Promise.reject(error));
      await expect(mq.publisher({ routingKey: queue }).send({})).rejects.toBe(error);
      const { attributes, status, events } = await span(`${queue} publish`);
      expect(attributes['messaging.acemq.outcome']).toBe(name);
      expect(status).toEqual({ code: SpanStatusCode.ERROR, message });
      expect(events.map((event) => event.name)).toEqual(['exception']);
    },
  );
});

interface Row {
  readonly outcome: string;
  readonly handler: () => Ack;
  readonly events: readonly string[];
  readonly attempts?: number;
}
const boom = new Error('the payment gateway did not answer');
const thrown = (error: Error) => (): Ack => {
  throw error;
};
const rows: readonly Row[] = [
  { outcome: 'acked', handler: accept, events: [] },
  { outcome: 'retried', handler: () => retry(boom), events: ['exception', 'message.retried'], attempts: 2 },
  { outcome: 'retried', handler: thrown(boom), events: ['exception', 'message.retried'], attempts: 2 },
  { outcome: 'rejected', handler: () => reject(boom), events: ['exception', 'message.dead_lettered'] },
  { outcome: 'dead_lettered', handler: () => retry(boom), events: ['exception', 'message.dead_lettered'] },
  { outcome: 'dead_lettered', handler: thrown(boom), events: ['exception', 'message.dead_lettered'] },
  {
    outcome: 'dead_lettered',
    handler: thrown(new FatalError('never')),
    events: ['exception', 'message.dead_lettered'],
    attempts: 2,
  },
  { outcome: 'parked', handler: () => park(boom), events: [] },
  { outcome: 'in_progress', handler: inProgress, events: [] },
];

describe('a delivery', () => {
  // Seed: "So the process span stays open past the handler, waits for the consumer's decision, and takes its
  // outcome from that".
  it.each(rows)('is $outcome, with events $events', async ({ outcome, handler, events, attempts = 1 }) => {
    const { mq, queue, span } = await traced();
    await mq.consume(queue, handler, { retry: fixed(attempts, '1m') });
    await mq.publisher({ routingKey: queue }).send({});
    const found = await span(`${queue} process`);
    expect(found.attributes['messaging.acemq.outcome']).toBe(outcome);
    expect(found.events.map((event) => event.name)).toEqual(events);
    // Seed: "unroutable, failed and dead_lettered set the span status to ERROR. The others [...] do not."
    expect(found.status).toEqual(
      ERROR_OUTCOMES.includes(outcome)
        ? { code: SpanStatusCode.ERROR, message: outcome }
        : { code: SpanStatusCode.UNSET },
    );
    const last = found.events.at(-1);
    if (outcome === 'retried') {
      expect(last?.attributes).toEqual({
        'messaging.destination.name': queue,
        'messaging.acemq.retry_delay_ms': expect.any(Number),
        'messaging.acemq.attempt': 1,
      });
      expect(Number(last?.attributes?.['messaging.acemq.retry_delay_ms'])).toBeGreaterThan(40_000);
    } else if (events.includes('message.dead_lettered')) {
      expect(last?.attributes).toEqual({
        'messaging.destination.name': queue,
        'messaging.acemq.reason': expect.stringMatching(/handler|exhausted/),
        'messaging.acemq.attempt': 1,
      });
    }
  });
});

describe('a request', () => {
  it.each([
    ['answered', undefined, undefined],
    ['timed_out', new RequestTimeoutError('no reply within 5s'), 'no reply within 5s'],
    ['timed_out', new DOMException('the operation timed out', 'TimeoutError'), 'the operation timed out'],
    ['failed', new Error('a timeout, it says'), 'failed'],
  ])('ends as %s after %s', async (outcome, error, message) => {
    const { tracing, span } = await traced();
    const work = tracing.requestSpan('pricing', envelope, async () => {
      if (error !== undefined) throw error;
      return tracing.propagationHeaders();
    });
    const answer = await work.catch((failure: unknown) => failure);
    const found = await span('pricing request');
    expect(found.kind).toBe(SpanKind.CLIENT);
    expect(found.attributes).toMatchObject({
      'messaging.operation': 'request',
      'messaging.acemq.outcome': outcome,
    });
    if (error === undefined) expect(JSON.stringify(answer)).toContain(found.spanContext().spanId);
    else expect(answer).toBe(error);
    expect(found.status).toEqual(
      message === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message },
    );
  });
});

describe('what an application writes by hand', () => {
  it('lands on the span that is open, and nowhere without one', async () => {
    const { mq, tracing, span, spans } = await traced();
    const write = (): void => {
      tracing.outboxPublished('orders', 12.4);
      tracing.outboxPublishFailed('orders', 'no');
      tracing.pipelineRunFinished('p', 's', 'completed', 7);
      tracing.messageRetried('q', envelope, 5000);
      tracing.messageDeadLettered('q', envelope, 'out of attempts');
    };
    write();
    expect(spans()).toEqual([]);
    await mq.tracing.span('checkout', { kind: 'server', attributes: { a: 1 } }, async () => write());
    const found = await span('checkout');
    expect(found.kind).toBe(SpanKind.SERVER);
    expect(found.attributes).toEqual({ a: 1, 'messaging.acemq.outbox_lag_ms': 12 });
    expect(found.events.map(({ name, attributes }) => [name, attributes])).toEqual([
      ['outbox.publish_failed', { 'messaging.destination.name': 'orders', 'messaging.acemq.reason': 'no' }],
      [
        'pipeline.run_finished',
        { pipeline: 'p', step: 's', outcome: 'completed', 'messaging.acemq.run_age_ms': 7 },
      ],
      [
        'message.retried',
        {
          'messaging.destination.name': 'q',
          'messaging.acemq.retry_delay_ms': 5000,
          'messaging.acemq.attempt': 1,
        },
      ],
      [
        'message.dead_lettered',
        {
          'messaging.destination.name': 'q',
          'messaging.acemq.reason': 'out of attempts',
          'messaging.acemq.attempt': 1,
        },
      ],
    ]);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('leaves out a time that is %s', async (time) => {
    const { mq, tracing, span } = await traced();
    await mq.tracing.span('checkout', {}, async () => {
      tracing.outboxPublished('orders', time);
      tracing.pipelineRunFinished('p', 's', 'completed', time);
      tracing.messageRetried('q', envelope, time);
    });
    const { attributes, events } = await span('checkout');
    expect(attributes).toEqual({});
    expect(events.map((event) => event.attributes)).toEqual([
      { pipeline: 'p', step: 's', outcome: 'completed' },
      { 'messaging.destination.name': 'q', 'messaging.acemq.attempt': 1 },
    ]);
  });

  it('fails a span of the connection with the error that its work ended with', async () => {
    const { mq, span } = await traced();
    await expect(mq.tracing.span('sweep', {}, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect((await span('sweep')).status).toEqual({ code: SpanStatusCode.ERROR, message: 'no' });
  });
});

describe('options', () => {
  it.each(['otel', 'both'] as const)('conventions: %s names attributes so', async (conventions) => {
    const { mq, span } = await traced({ conventions, system: 'lavinmq' });
    await expect(mq.publisher({ routingKey: 'nowhere' }).send({})).rejects.toThrow();
    const { attributes } = await span('nowhere publish');
    expect(attributes).toMatchObject({
      'messaging.system.name': 'lavinmq',
      'messaging.operation.name': 'publish',
      'messaging.operation.type': 'send',
      'messaging.acemq.outcome': 'unroutable',
      'error.type': 'PublishError',
    });
    expect('messaging.system' in attributes).toBe(conventions === 'both');
    expect('messaging.operation' in attributes).toBe(conventions === 'both');
  });

  it('queueWait opens a span under the same parent, on the first attempt only', async () => {
    const { mq, queue, spans, span } = await traced({ queueWait: true });
    let attempts = 0;
    await mq.consume(
      queue,
      () => {
        attempts += 1;
        return attempts === 1 ? retry() : accept();
      },
      { retry: fixed(2, '1ms') },
    );
    await mq.publisher({ routingKey: queue }).send({});
    await vi.waitFor(() => expect(spans().filter((one) => one.name === `${queue} process`)).toHaveLength(2));
    const wait = await span(SPAN_QUEUE_WAIT);
    const publish = await span(`${queue} publish`);
    expect(wait.kind).toBe(SpanKind.INTERNAL);
    expect(wait.parentSpanContext?.spanId).toBe(publish.spanContext().spanId);
    expect(wait.duration[0]).toBeGreaterThanOrEqual(0);
  });

  it('that cannot be used are refused with the value', () => {
    const make = (options: object) => (): OpenTelemetryTracing => new OpenTelemetryTracing(options);
    expect(make({ conventions: 'semconv' })).toThrow(/semconv/);
    expect(make({ system: '' })).toThrow(/system/);
    expect(make({ queueWait: 1 })).toThrow(/queueWait/);
    expect(make({ tracerProvider: {} })).toThrow(/getTracer/);
    expect(make({ provider: {} })).toThrow(/provider/);
  });
});

describe('a message never fails over its trace', () => {
  it('hands on what came in, with the API alone', async () => {
    const mq = new OpenTelemetryTracing().install(await connect(memoryBroker()));
    await mq.declare(topology().queue('first').queue('second'));
    await mq.consume('first', async () => {
      await mq.publisher({ routingKey: 'second' }).send({});
      return accept();
    });
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    await mq
      .publisher({ routingKey: 'first' })
      .send({}, { headers: { traceparent: Buffer.from(traceparent), tracestate: 'a=1' } });
    const handedOn = await vi.waitFor(async () => {
      const message = await mq.pull('second');
      if (message === undefined) throw new Error('nothing yet');
      return message;
    });
    expect(handedOn.headers).toMatchObject({ traceparent, tracestate: 'a=1' });
    await mq.close({ timeout: 0 });
  });

  it('whatever a tracer and a propagator throw', async () => {
    const fail = (): never => {
      throw new Error('tracing is broken');
    };
    const { mq, queue } = await traced({
      tracerProvider: { getTracer: fail } satisfies TracerProvider,
      propagator: { inject: fail, extract: fail, fields: fail },
    });
    const handled = vi.fn(() => accept());
    await mq.consume(queue, handled);
    await mq.publisher({ routingKey: queue }).send({});
    await vi.waitFor(() => expect(handled).toHaveBeenCalledOnce());
  });
});
