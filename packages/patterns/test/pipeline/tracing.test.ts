import { fixed, topology } from '@acemq/core';
import { OpenTelemetryTracing } from '@acemq/otel';
import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { end, followSlip, next, Pipeline, startSlip } from '../../src/pipeline/index.ts';
import { kept, onMemory, ownName, type Setting, until } from './setting.ts';

interface Traced extends Setting {
  /** The spans that have ended, when there are this many. */
  spans(count: number): Promise<ReadableSpan[]>;
}

async function traced(): Promise<Traced> {
  const setting = await onMemory();
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  new OpenTelemetryTracing({ tracerProvider }).install(setting.mq);
  const spans = (count: number): Promise<ReadableSpan[]> =>
    until(() => {
      const found = exporter.getFinishedSpans();
      expect(found.map(({ name }) => name)).toHaveLength(count);
      return found;
    });
  return { ...setting, spans };
}

/** What each span is called, how it ended, and which span it hangs on. */
function tree(spans: readonly ReadableSpan[]): string[] {
  const names = new Map(
    spans.map((span) => [
      span.spanContext().spanId,
      `${span.name}, ${span.attributes['messaging.acemq.outcome']}`,
    ]),
  );
  return spans
    .map((span) => {
      const parent = span.parentSpanContext?.spanId;
      return `${names.get(span.spanContext().spanId)} < ${parent === undefined ? 'nothing' : names.get(parent)}`;
    })
    .sort();
}

describe.each([['with a context manager'], ['without a context manager']])('%s', (how) => {
  beforeEach(() => {
    if (how === 'with a context manager') {
      context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    }
  });
  afterEach(() => context.disable());

  test('one trace goes over three steps, and over the retry of one of them', async () => {
    const { mq, spans } = await traced();
    const pipeline = new Pipeline('p', ['a', 'b', 'c'], { retry: fixed(3, 0) });
    await pipeline.declare(mq);
    await pipeline.run(mq, {
      a: () => next(),
      b: async ({ envelope, payload }) => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        if (envelope.attempt === 1) throw new Error('not yet');
        return next(payload);
      },
      c: () => next(),
    });
    await pipeline.send(mq, {});
    const all = await spans(7);
    expect(new Set(all.map((span) => span.spanContext().traceId)).size).toBe(1);
    // Three publishes have one name; the one that a step hangs on is told by the step before it.
    expect(tree(all)).toEqual([
      'p publish, confirmed < nothing',
      'p publish, confirmed < p.a process, acked',
      'p publish, confirmed < p.b process, acked',
      'p.a process, acked < p publish, confirmed',
      'p.b process, acked < p publish, confirmed',
      'p.b process, retried < p publish, confirmed',
      'p.c process, acked < p publish, confirmed',
    ]);
    const parentOf = (name: string, outcome: string): ReadableSpan | undefined => {
      const span = all.find(
        (one) => one.name === name && one.attributes['messaging.acemq.outcome'] === outcome,
      );
      return all.find((one) => one.spanContext().spanId === span?.parentSpanContext?.spanId);
    };
    expect(parentOf('p.b process', 'retried')).toBe(parentOf('p.b process', 'acked'));
    const keys = [
      parentOf('p.a process', 'acked'),
      parentOf('p.b process', 'acked'),
      parentOf('p.c process', 'acked'),
    ];
    expect(keys.map((span) => span?.attributes['messaging.rabbitmq.destination.routing_key'])).toEqual([
      'a',
      'b',
      'c',
    ]);
  });

  test('the end of a run is an event on the span of the delivery that ended it', async () => {
    const { mq, spans } = await traced();
    const pipeline = new Pipeline('p', ['a', 'b']);
    await pipeline.declare(mq);
    await pipeline.follow(mq, 'a', async ({ payload }) => (payload === 'stop' ? end() : next()));
    await pipeline.follow(mq, 'b', async () => next());
    await pipeline.send(mq, 'stop');
    await spans(2);
    await pipeline.send(mq, 'go');
    const events = (await spans(6)).flatMap(({ name, events }) =>
      events.map((event) => [name, event.name, event.attributes]),
    );
    const age = expect.any(Number);
    expect(events).toEqual([
      [
        'p.a process',
        'pipeline.run_finished',
        { pipeline: 'p', step: 'a', outcome: 'ended_early', 'messaging.acemq.run_age_ms': age },
      ],
      [
        'p.b process',
        'pipeline.run_finished',
        { pipeline: 'p', step: 'b', outcome: 'completed', 'messaging.acemq.run_age_ms': age },
      ],
    ]);
  });

  test('a run with its own stops is one trace too', async () => {
    const { mq, spans } = await traced();
    await mq.declare(topology().queue('one').queue('two'));
    await followSlip(mq, 'one', async () => next());
    await followSlip(mq, 'two', async () => next());
    await startSlip(
      mq,
      ['one', 'two'].map((routingKey) => ({ exchange: '', routingKey })),
      {},
    );
    const all = await spans(4);
    expect(new Set(all.map((span) => span.spanContext().traceId)).size).toBe(1);
    expect(tree(all)).toEqual([
      'one process, acked < one publish, confirmed',
      'one publish, confirmed < nothing',
      'two process, acked < two publish, confirmed',
      'two publish, confirmed < one process, acked',
    ]);
  });
});

test('where nothing is traced, the trace that a message came with is carried on', async () => {
  const { mq } = await onMemory();
  const pipeline = new Pipeline(ownName(), ['a', 'b']);
  await pipeline.declare(mq);
  await pipeline.follow(mq, 'a', () => next({}));
  const second = await kept(mq, pipeline.queue('b'));
  const trace = {
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    tracestate: 'vendor=value',
  };
  await pipeline.send(mq, {}, { headers: trace });
  await until(() => expect(second).toHaveLength(1));
  expect(second[0]?.envelope.headers).toEqual(trace);
});
