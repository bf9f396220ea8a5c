import { type Connection, connect } from '@acemq/amqp';
import {
  accept,
  type Interceptable,
  type MessageRecorder,
  type RawPublisher,
  type Tracing,
  topology,
} from '@acemq/core';
import type { Observer } from '@acemq/observe';
import { memoryBroker } from '@acemq/testing';
import { afterAll, beforeAll, expect, expectTypeOf, test } from 'vitest';

/** Everything that the seams of core ask of a connection, as adapters and an outbox write it down. */
type Seams = Interceptable &
  RawPublisher &
  MessageRecorder & { readonly observer: Observer; tracing: Tracing };

const QUEUE = 'seams';
let mq: Connection;
let seams: Seams;

beforeAll(async () => {
  mq = await connect(memoryBroker(), { name: 'seams' });
  await mq.declare(topology().queue(QUEUE));
  seams = mq;
});
afterAll(() => mq.close());

test('a connection is what adapters and an outbox ask for', async () => {
  expectTypeOf<Connection>().toExtend<Interceptable>();
  expectTypeOf<Connection>().toExtend<RawPublisher>();
  expectTypeOf<Connection>().toExtend<MessageRecorder>();
  expectTypeOf<Connection>().toExtend<{ readonly observer: Observer; tracing: Tracing }>();

  const { body, contentType } = seams.encode({ hello: 'seams' });
  const headers = seams.propagationHeaders();
  const answer = await seams.publishRaw('', QUEUE, { body, contentType, headers });
  expect(answer.verdict).toBe('confirmed');
  expect(seams.origin).toMatch(/^seams@./);
});

test('an interceptor that is added through the seam stands around publish and handler until it is taken away', async () => {
  const seen: string[] = [];
  const removals = [
    seams.interceptPublish(async (context, next) => {
      seen.push(`publish ${context.routingKey}`);
      await next();
    }),
    seams.interceptConsume(async (context, next) => {
      seen.push(`consume ${context.queue}`);
      return next();
    }),
  ];
  await mq.publisher({ routingKey: QUEUE }).send({ hello: 'interceptor' });
  await new Promise<void>((resolve) => {
    void mq.consume<{ hello: string }>(QUEUE, ({ payload }) => {
      if (payload.hello === 'interceptor') resolve();
      return accept();
    });
  });
  for (const remove of removals) remove();
  await mq.publisher({ routingKey: QUEUE }).send({ hello: 'nobody' });
  expect(seen).toEqual([`publish ${QUEUE}`, `consume ${QUEUE}`, `consume ${QUEUE}`]);
});
