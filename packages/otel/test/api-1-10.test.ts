import { accept } from '@acemq/core';
import { DiagLogLevel, propagation } from '@opentelemetry/api';
import * as newer from 'opentelemetry-api-1-10';
import { expect, it, vi } from 'vitest';
import { traced } from './setting.ts';

vi.mock('@opentelemetry/api', () => import('opentelemetry-api-1-10'));

it('the newest API that is allowed traces as the oldest does', async () => {
  expect(propagation).toBe(newer.propagation);
  expect(DiagLogLevel).toBe(newer.DiagLogLevel);
  const { mq, queue, span } = await traced();
  await mq.consume(queue, async () => {
    await mq.tracing.span('work', {}, async () => {});
    return accept();
  });
  await mq.publisher({ routingKey: queue }).send({});
  const publish = await span(`${queue} publish`);
  const process = await span(`${queue} process`);
  expect(process.parentSpanContext?.spanId).toBe(publish.spanContext().spanId);
  expect((await span('work')).parentSpanContext?.spanId).toBe(process.spanContext().spanId);
});
