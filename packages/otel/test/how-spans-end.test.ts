import { connect } from '@acemq/amqp';
import { accept, type Envelope, retry, topology } from '@acemq/core';
import { memoryBroker } from '@acemq/testing';
import { SpanStatusCode, trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { expect, it, onTestFinished } from 'vitest';
import { OpenTelemetryTracing } from '../src/index.ts';
import { traced } from './setting.ts';

it('a delivery about which nothing can be decided has an error and no outcome', async () => {
  const { mq, queue, span } = await traced();
  const unreadable = new Proxy(
    {},
    {
      get(): never {
        throw new Error('hands off');
      },
    },
  ) as Envelope;
  mq.interceptConsume(async (context, next) => {
    const ack = await next();
    context.envelope = unreadable;
    return ack;
  });
  await mq.consume(queue, () => retry());
  await mq.publisher({ routingKey: queue }).send({});
  const { attributes, status } = await span(`${queue} process`);
  expect(attributes).not.toHaveProperty('messaging.acemq.outcome');
  expect(status).toEqual({ code: SpanStatusCode.ERROR, message: 'hands off' });
});

it('a publish that an interceptor further in does not send has failed', async () => {
  const { mq, queue, span } = await traced();
  mq.interceptPublish(async () => {});
  await expect(mq.publisher({ routingKey: queue }).send({})).rejects.toMatchObject({
    code: 'ACEMQ_PUBLISH_FAILED',
  });
  const { attributes, status } = await span(`${queue} publish`);
  expect(attributes['messaging.acemq.outcome']).toBe('failed');
  expect(status).toEqual({ code: SpanStatusCode.ERROR, message: 'failed' });
});

it('a publish whose error an interceptor further in keeps to itself is what the broker said', async () => {
  const { mq, span } = await traced();
  mq.interceptPublish((_message, next) => next().catch(() => {}));
  await expect(mq.publisher({ routingKey: 'nowhere' }).send({})).rejects.toMatchObject({ unroutable: true });
  const { attributes } = await span('nowhere publish');
  expect(attributes['messaging.acemq.outcome']).toBe('unroutable');
});

it('an SDK that is registered later is used from the next message on', async () => {
  const mq = new OpenTelemetryTracing().install(await connect(memoryBroker()));
  onTestFinished(async () => {
    trace.disable();
    await mq.close({ timeout: 0 });
  });
  await mq.declare(topology().queue('orders'));
  const orders = mq.publisher({ routingKey: 'orders' });
  await orders.send({});
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
  await orders.send({});
  const consumer = await mq.consume('orders', () => accept());
  await expect
    .poll(() => exporter.getFinishedSpans().map(({ name }) => name))
    .toEqual(['orders publish', 'orders process', 'orders process']);
  await consumer.close();
});
