import { connect } from '@acemq/amqp';
import { accept, topology } from '@acemq/core';
import { memoryBroker } from '@acemq/testing';
import type {
  Meter,
  MeterProvider,
  Span,
  TextMapPropagator,
  Tracer,
  TracerProvider,
} from '@opentelemetry/api';
import {
  BasicTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  OpenTelemetryObserver,
  OpenTelemetryTracing,
  type OpenTelemetryTracingOptions,
} from '../src/index.ts';

// Seed (of a settlement's listener, and the issue of all that is installed): "A listener that raises is logged and
// ignored; the delivery still has to be settled."

const fail = (): never => {
  throw new Error('telemetry is broken');
};

/** An object each of whose methods throws. */
const broken = <T extends object>(): T => new Proxy({}, { get: () => fail }) as T;

const exporting = (given: Partial<SpanExporter>): OpenTelemetryTracingOptions => {
  const exporter = { export: fail, shutdown: () => Promise.resolve(), ...given };
  return {
    tracerProvider: new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  };
};

const tracer = (startSpan: () => Span): OpenTelemetryTracingOptions => ({
  tracerProvider: { getTracer: () => ({ startSpan }) as unknown as Tracer } satisfies TracerProvider,
});

const TRACING: readonly (readonly [string, OpenTelemetryTracingOptions])[] = [
  ['an exporter that throws', exporting({})],
  [
    'an exporter that answers with a failure',
    exporting({ export: (_spans: ReadableSpan[], done) => done({ code: 1, error: new Error('no') }) }),
  ],
  [
    'a span processor that throws',
    {
      tracerProvider: new BasicTracerProvider({
        spanProcessors: [
          {
            onStart: fail,
            onEnd: fail,
            forceFlush: () => Promise.resolve(),
            shutdown: () => Promise.resolve(),
          },
        ],
      }),
    },
  ],
  ['a provider that throws', { tracerProvider: { getTracer: fail } }],
  ['a tracer that throws', tracer(fail)],
  ['a tracer that gives nothing', tracer(() => undefined as unknown as Span)],
  ['a span each of whose methods throws', tracer(() => broken<Span>())],
  ['a propagator each of whose methods throws', { propagator: broken<TextMapPropagator>() }],
];

const METERS: readonly (readonly [string, MeterProvider])[] = [
  ['a meter provider that throws', { getMeter: fail }],
  ['a meter that throws', { getMeter: () => broken<Meter>() }],
  [
    'an instrument that throws',
    {
      getMeter: () => new Proxy({}, { get: () => () => broken() }) as unknown as Meter,
    },
  ],
];

/** Publishes one message that is retried once and handed on, and answers with what reached the second queue. */
async function through(
  tracing: OpenTelemetryTracing | undefined,
  observer?: OpenTelemetryObserver,
): Promise<unknown> {
  const mq = await connect(memoryBroker(), observer === undefined ? {} : { observer });
  onTestFinished(async () => {
    await mq.close({ timeout: 0 });
  });
  tracing?.install(mq);
  await mq.declare(topology().queue('first').queue('second'));
  const handed = new Promise((resolve) => {
    void mq.consume('second', ({ payload }) => {
      resolve(payload);
      return accept();
    });
  });
  await mq.consume('first', async ({ payload }) => {
    await mq.publisher({ routingKey: 'second' }).send(payload);
    return accept();
  });
  await mq.publisher({ routingKey: 'first' }).send({ order: 'o-1' });
  return handed;
}

describe.each(TRACING)('%s', (_what, options) => {
  it('reaches no message', async () => {
    const tracing = new OpenTelemetryTracing({ queueWait: true, conventions: 'both', ...options });
    expect(await through(tracing)).toEqual({ order: 'o-1' });
  });

  it('reaches no work of the application', async () => {
    const mq = await connect(memoryBroker());
    onTestFinished(async () => {
      await mq.close({ timeout: 0 });
    });
    const tracing = new OpenTelemetryTracing(options);
    tracing.install(mq);
    const envelope = await mq
      .declare(topology().queue('q'))
      .then(() => mq.publisher({ routingKey: 'q' }).send({}));
    expect(await tracing.requestSpan('pricing', envelope, async () => 1)).toBe(1);
    const work = mq.tracing.span('work', {}, async (span) => {
      span.attribute('a', 1);
      span.event('b');
      span.fail(new Error('c'));
      tracing.outboxPublished('orders', 1);
      tracing.outboxPublishFailed('orders', 'no');
      tracing.pipelineRunFinished('p', 's', 'completed', 1);
      tracing.messageRetried('q', envelope, 1);
      tracing.messageDeadLettered('q', envelope, 'no');
      return tracing.propagationHeaders();
    });
    expect(await work).toEqual(expect.any(Object));
  });
});

describe.each(METERS)('%s', (_what, meterProvider) => {
  it('reaches no message', async () => {
    expect(await through(undefined, new OpenTelemetryObserver({ meterProvider }))).toEqual({ order: 'o-1' });
  });
});
