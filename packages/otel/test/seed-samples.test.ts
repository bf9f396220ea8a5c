// The samples of the tracing page, each beside its line.
import { connect } from '@acemq/amqp';
import {
  type Ack,
  accept,
  createEnvelope,
  type Envelope,
  fixed,
  isDeadLettered,
  RequestTimeoutError,
  retry,
  topology,
} from '@acemq/core';
import { Metrics } from '@acemq/observe';
import { manualClock, memoryBroker } from '@acemq/testing';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { expect, it, onTestFinished, vi } from 'vitest';
import { within } from '../src/carried-context.ts';
import { OpenTelemetryTracing } from '../src/index.ts';
import { traced } from './setting.ts';

const envelope = createEnvelope({ type: 'price' }, { routingKey: 'pricing', now: 0 });

it('mq = await connect(url); OpenTelemetryTracing().install(mq)', async () => {
  // Seed: "mq = await connect(url)", "OpenTelemetryTracing().install(mq)"; "Without an SDK installed and configured by
  // the application, the API's no-op implementation runs and this exports nothing at all".
  const mq = await connect(memoryBroker());
  onTestFinished(async () => {
    await mq.close({ timeout: 0 });
  });
  expect(new OpenTelemetryTracing().install(mq)).toBe(mq);
  await mq.declare(topology().queue('orders'));
  const sent = await mq.publisher({ routingKey: 'orders' }).send({});
  expect(sent.headers).toEqual({});
  expect(mq.tracing.propagationHeaders()).toEqual({});
});

it('nothing is read from whatever context happened to be current when the delivery arrived', async () => {
  // Seed: "Reading the ambient context instead would produce a trace that looks joined up and joins the wrong things —
  // a delivery attached to the connection's context, or to the previous message's."
  const { mq, queue, provider, spans } = await traced();
  const ambient = provider.getTracer('app').startSpan('ambient');
  let handled = 0;
  await within(trace.setSpan(ROOT_CONTEXT, ambient), async () => {
    await mq.consume(queue, () => {
      handled += 1;
      return accept();
    });
    for (let at = 0; at < 2; at += 1) {
      await mq.publishRaw('', queue, {
        body: new TextEncoder().encode('{}'),
        contentType: 'application/json',
      });
    }
  });
  await vi.waitFor(() => expect(handled).toBe(2));
  await vi.waitFor(() => expect(spans()).toHaveLength(2));
  expect(spans().map((span) => span.parentSpanContext)).toEqual([undefined, undefined]);
  expect(new Set(spans().map((span) => span.spanContext().traceId)).size).toBe(2);
});

it('with tracing.request_span("pricing", envelope): answer = await requester.ask(...)', async () => {
  // Seed: "with tracing.request_span("pricing", envelope):" "answer = await requester.ask(...)"; "request is CLIENT
  // rather than PRODUCER because that span waits"; "It ends with an outcome either way: answered when the reply came back".
  const { mq, tracing, queue, span } = await traced();
  const replies = `${queue}-replies`;
  await mq.declare(topology().queue(replies));
  await mq.consume(queue, async () => {
    await mq.publisher({ routingKey: replies }).send({ price: 12 });
    return accept();
  });
  const ask = async (): Promise<unknown> => {
    const reply = new Promise((resolve) => {
      void mq.consume(replies, ({ payload }) => {
        resolve(payload);
        return accept();
      });
    });
    await mq.publisher({ routingKey: queue }).send({ item: 'i-1' });
    return reply;
  };
  const answer = await tracing.requestSpan('pricing', envelope, ask);
  expect(answer).toEqual({ price: 12 });
  const request = await span('pricing request');
  expect(request.kind).toBe(SpanKind.CLIENT);
  expect(request.attributes['messaging.acemq.outcome']).toBe('answered');
  const publish = await span(`${queue} publish`);
  expect(publish.parentSpanContext?.spanId).toBe(request.spanContext().spanId);
  const reply = await span(`${replies} process`);
  expect(reply.spanContext().traceId).toBe(request.spanContext().traceId);
});

it('a timeout is told apart by its type, not its message', async () => {
  // Seed: "A timeout is told apart by its type, not its message."; "A timed_out request is red too, but by its exception
  // rather than by its outcome".
  const { tracing, spans } = await traced();
  const failing = [
    new RequestTimeoutError('no reply'),
    await new Promise((resolve) => {
      const signal = AbortSignal.timeout(1);
      signal.addEventListener('abort', () => resolve(signal.reason));
    }),
    new Error('the request timed out'),
  ];
  for (const error of failing) {
    const work = tracing.requestSpan('pricing', envelope, () => Promise.reject(error));
    await expect(work).rejects.toBe(error);
  }
  expect(spans().map(({ attributes }) => attributes['messaging.acemq.outcome'])).toEqual([
    'timed_out',
    'timed_out',
    'failed',
  ]);
  expect(spans().map(({ status }) => status.code)).toEqual(Array(3).fill(SpanStatusCode.ERROR));
});

it('return retry(TimeoutError("the payment gateway did not answer")), with no attempt left', async () => {
  // Seed: "async def handler(message: Message) -> Ack:" "return retry(TimeoutError("the payment gateway did not
  // answer"))"; "A handler asking for another attempt when there are none left is not retried; it is dead-lettered."
  const { mq, queue, span } = await traced();
  const handler = async (): Promise<Ack> => retry(new Error('the payment gateway did not answer'));
  await mq.consume(queue, handler);
  await mq.publisher({ routingKey: queue }).send({});
  const { attributes, events, status } = await span(`${queue} process`);
  expect(attributes['messaging.acemq.outcome']).toBe('dead_lettered');
  expect(status.code).toBe(SpanStatusCode.ERROR);
  expect(events.at(-1)?.name).toBe('message.dead_lettered');
  expect(events.at(-1)?.attributes?.['messaging.acemq.reason']).toContain(
    'the payment gateway did not answer',
  );
});

it('a message that waits five minutes does not produce a five-minute handler', async () => {
  // Seed: "The backoff itself is not in the span: the consumer announces its decision before acting on it, so a message
  // waiting five minutes does not produce a five-minute handler."
  const clock = manualClock();
  const { mq, queue, spans } = await traced({}, {}, memoryBroker({ clock }));
  let attempts = 0;
  await mq.consume(
    queue,
    () => {
      attempts += 1;
      return attempts === 1 ? retry() : accept();
    },
    { retry: fixed(2, '5m').withJitter(0) },
  );
  void mq.publisher({ routingKey: queue }).send({});
  await clock.advance(0);
  const [ended] = spans().filter(({ name }) => name === `${queue} process`);
  expect(ended?.attributes['messaging.acemq.outcome']).toBe('retried');
  // "The retry delay is the one thing about a retry nobody can reconstruct afterwards".
  expect(ended?.events.at(-1)?.attributes?.['messaging.acemq.retry_delay_ms']).toBe(300_000);
  expect(attempts).toBe(1);
  await clock.advance(300_000);
  expect(attempts).toBe(2);
});

it('tracing.message_retried(queue, envelope, delay_ms=5000)', async () => {
  // Seed: "tracing.message_retried(queue, envelope, delay_ms=5000)" and "tracing.message_dead_lettered(queue, envelope,
  // "out of attempts")": "The two methods remain callable for a retry or a dead letter something else arranged".
  const { tracing, mq, span } = await traced();
  await mq.tracing.span('sweep', {}, async () => {
    tracing.messageRetried('orders', envelope, 5000);
    tracing.messageDeadLettered('orders', envelope, 'out of attempts');
  });
  const { events } = await span('sweep');
  expect(events.map(({ name, attributes }) => [name, attributes])).toEqual([
    [
      'message.retried',
      {
        'messaging.destination.name': 'orders',
        'messaging.acemq.retry_delay_ms': 5000,
        'messaging.acemq.attempt': 1,
      },
    ],
    [
      'message.dead_lettered',
      {
        'messaging.destination.name': 'orders',
        'messaging.acemq.reason': 'out of attempts',
        'messaging.acemq.attempt': 1,
      },
    ],
  ]);
});

it('context.when_settled(settled)', async () => {
  // Seed: "async def audited(context: ConsumeContext, handle: ConsumeNext) -> Ack:" … "if settlement.dead_lettered:"
  // "audit.record(context.envelope.id, settlement.reason)" … "context.when_settled(settled)" "return await handle(context)".
  const { mq, queue } = await traced();
  const audit: [string, string | undefined][] = [];
  mq.interceptConsume(async (context, next) => {
    // "when_settled returns whether anything will ever call it".
    expect(
      context.whenSettled((settlement) => {
        if (isDeadLettered(settlement)) audit.push([context.envelope.id, settlement.reason]);
      }),
    ).toBe(true);
    return next();
  });
  await mq.consume(queue, ({ payload }) => (payload === 'good' ? accept() : retry(new Error('no'))));
  await mq.publisher({ routingKey: queue }).send('good');
  const bad = await mq.publisher({ routingKey: queue }).send('bad');
  await vi.waitFor(() => expect(audit).toEqual([[bad.id, expect.stringContaining('exhausted 1 attempt')]]));
});

interface Row {
  readonly routingKey: string;
  readonly body: Uint8Array;
  readonly headers: Record<string, string>;
}

it('row["headers"] = tracing.propagation_headers()', async () => {
  // Seed: "row["headers"] = tracing.propagation_headers()   # {'traceparent': '00-...'}"; "A fresh carrier every time, so
  // nothing already on the message is overwritten and nothing from a previous one is left behind."
  const { mq, tracing, queue, span } = await traced();
  const row = await mq.tracing.span('checkout', {}, async (): Promise<Row> => {
    const headers = tracing.propagationHeaders();
    headers['left-behind'] = 'x';
    return { routingKey: queue, ...mq.encode({ id: 1 }), headers: tracing.propagationHeaders() };
  });
  expect(row.headers).toEqual({ traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/) });
  // A relay publishes the row later, as it was kept.
  await mq.consume(queue, () => accept());
  const { routingKey, body, headers } = row;
  await mq.publishRaw('', routingKey, { body, headers, contentType: 'application/json' });
  const checkout = await span('checkout');
  const process = await span(`${queue} process`);
  expect(process.parentSpanContext?.spanId).toBe(checkout.spanContext().spanId);
});

it('with tracer.start_as_current_span("checkout"): await relay.sweep(); tracing.outbox_published(...)', async () => {
  // Seed: "with tracer.start_as_current_span("checkout"):" "await relay.sweep()" "tracing.outbox_published("orders",
  // lag_ms=lag)"; "A record the relay sends produces no <destination> publish span and no acemq.publish.total".
  const metrics = new Metrics();
  const { mq, tracing, provider, queue, spans, span } = await traced({}, { observer: metrics });
  const sweep = async (): Promise<number> => {
    await mq.publishRaw('', queue, { ...mq.encode({ id: 1 }), headers: {} });
    return 250;
  };
  const checkout = provider.getTracer('app').startSpan('checkout');
  await within(trace.setSpan(ROOT_CONTEXT, checkout), async () => {
    const lag = await sweep();
    tracing.outboxPublished('orders', lag);
  });
  checkout.end();
  expect((await span('checkout')).attributes).toEqual({ 'messaging.acemq.outbox_lag_ms': 250 });
  expect(spans()).toHaveLength(1);
  expect([...metrics.counts.keys()].filter((key) => key.startsWith('acemq.publish'))).toEqual([]);
});

it('an event is dropped when no span is current', async () => {
  // Seed: "outbox_publish_failed(destination, reason) has no such problem: it is an event and is dropped when no span is
  // current, which is the ordinary behaviour of every other event here."
  const { tracing, spans } = await traced();
  tracing.outboxPublishFailed('orders', 'no');
  tracing.pipelineRunFinished('p', 's', 'completed', 1);
  expect(spans()).toEqual([]);
});

it('pipeline.run_finished carries pipeline, step and outcome, bare', async () => {
  // Seed: "pipeline.run_finished carries pipeline, step and outcome — bare, without a namespace".
  const { mq, tracing, span } = await traced();
  await mq.tracing.span('step', {}, async () => tracing.pipelineRunFinished('p', 's', 'completed', 7));
  const { events, attributes } = await span('step');
  expect(events[0]?.attributes).toMatchObject({ pipeline: 'p', step: 's', outcome: 'completed' });
  expect(attributes).toEqual({});
});

it('spans are recorded under the scope org.acemq.amqp', async () => {
  // Seed: "Spans are recorded under the instrumentation scope org.acemq.amqp".
  const { mq, tracing, queue, spans } = await traced({ queueWait: true });
  await mq.consume(queue, () => accept());
  const sent: Envelope = await mq.publisher({ routingKey: queue }).send({});
  await tracing.requestSpan('pricing', sent, () => 1);
  await vi.waitFor(() => expect(spans()).toHaveLength(4));
  expect(new Set(spans().map((span) => span.instrumentationScope.name))).toEqual(new Set(['org.acemq.amqp']));
});

it('a span named queue.wait, from the first publish to the moment the handler started', async () => {
  // Seed 003: "then a span named queue.wait from the entry id's timestamp to the moment the handler started"; "The
  // queue-wait span is the one that costs nothing to add and answers the question support will ask: where did the wait go."
  const { mq, queue, spans, span } = await traced({ queueWait: true });
  const minute = 60_000;
  const now = Date.now();
  const firstSeens = [now - 3 * minute, now + minute];
  await mq.consume(queue, () => accept());
  const publish = (headers: Record<string, string>, firstSeen: number): Promise<unknown> =>
    mq.publishRaw('', queue, {
      ...mq.encode({}),
      headers: { ...headers, 'x-acemq-first-seen': BigInt(firstSeen) },
    });
  await mq.tracing.span('buyer', {}, async () => {
    for (const firstSeen of firstSeens) await publish(mq.tracing.propagationHeaders(), firstSeen);
  });
  // Without a trace there is nothing for it to hang on.
  await publish({}, now);
  await vi.waitFor(() => expect(spans().filter(({ name }) => name === `${queue} process`)).toHaveLength(3));
  const [waited, ahead, ...more] = spans().filter(({ name }) => name === 'queue.wait');
  expect(more).toEqual([]);
  const buyer = (await span('buyer')).spanContext().spanId;
  expect([waited, ahead].map((one) => one?.parentSpanContext?.spanId)).toEqual([buyer, buyer]);
  expect(waited?.duration[0]).toBeGreaterThanOrEqual(180);
  // By a clock that is ahead it lasts no less than nothing.
  expect(ahead?.duration).toEqual([0, 0]);
});
