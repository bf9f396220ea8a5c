import { bytesCodec } from '@acemq/amqp';
import { fixed, inProgress, type Message, park, reject, retry } from '@acemq/core';
import { describe, expect, test } from 'vitest';
import { end, next, Pipeline, type Run, type StepAnswer } from '../../src/pipeline/index.ts';
import { kept, onManualTime, onMemory, ownName, pulled, until } from './setting.ts';

const STEPS = ['validate', 'enrich', 'store'] as const;

test('a run goes through all steps, each told where the run stands, and every message is of the same flow', async () => {
  const { mq } = await onMemory({ name: 'worker' });
  const pipeline = new Pipeline(ownName(), STEPS);
  await pipeline.declare(mq);
  const seen: { message: Message; run: Run }[] = [];
  const keep =
    (answer: (message: Message) => StepAnswer) =>
    (message: Message, run: Run): StepAnswer => {
      seen.push({ message, run });
      return answer(message);
    };
  await pipeline.run(mq, {
    validate: keep(() => next()),
    enrich: keep(({ payload }) => next({ ...(payload as object), country: 'LI' })),
    store: keep(() => next('goes nowhere')),
  });
  const id = await pipeline.send(mq, { email: 'ada@example.com' }, { headers: { tenant: 'acme' } });
  await until(() => expect(seen).toHaveLength(3));
  expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(seen.map(({ run }) => [run.id, run.form, run.pipeline, run.step, run.position])).toEqual(
    STEPS.map((step, position) => [id, 'declared', pipeline.name, step, position]),
  );
  expect(seen.map(({ message }) => message.payload)).toEqual([
    { email: 'ada@example.com' },
    { email: 'ada@example.com' },
    { email: 'ada@example.com', country: 'LI' },
  ]);
  const envelopes = seen.map(({ message }) => message.envelope);
  const [first, second, third] = envelopes;
  expect(envelopes.map(({ type }) => type)).toEqual(['validate', 'validate', 'store']);
  expect(new Set(envelopes.map((one) => one.id)).size).toBe(3);
  expect(new Set(envelopes.map((one) => one.correlationId))).toEqual(new Set([first?.id]));
  expect([second?.causationId, third?.causationId]).toEqual([first?.id, second?.id]);
  expect(new Set(envelopes.map((one) => one.firstSeen)).size).toBe(1);
  expect(envelopes.every(({ attempt, headers }) => attempt === 1 && headers['tenant'] === 'acme')).toBe(true);
  expect(envelopes.every(({ origin }) => origin?.startsWith('worker@'))).toBe(true);
  expect(seen.map(({ message }) => [message.exchange, message.routingKey])).toEqual(
    STEPS.map((step) => [pipeline.name, step]),
  );
});

describe('a message that goes on as it came', () => {
  test.each([
    ['JSON with a number that JavaScript cannot hold', '{"id": 12345678901234567890 }', 'application/json'],
    ['JSON of another name', '{"a":1}', 'application/vnd.shop+json; v=2'],
    ['text', 'Grüezi', 'text/plain; charset=utf-8'],
    ['a body whose sender said nothing', '[1,2]', undefined],
  ])('has the same bytes and the same content type: %s', async (_, text, contentType) => {
    const { mq } = await onMemory();
    const pipeline = new Pipeline(ownName(), ['one', 'two', 'three']);
    await pipeline.declare(mq);
    const last: Message[] = [];
    await pipeline.run(mq, {
      one: () => next(),
      two: () => next(),
      three: (message) => {
        last.push(message);
        return next();
      },
    });
    const body = new TextEncoder().encode(text);
    await mq.publishRaw(pipeline.name, 'one', {
      body,
      contentType,
      headers: { 'x-acemq-type': 'as.it.was', 'x-acemq-version': 7 },
    });
    await until(() => expect(last).toHaveLength(1));
    expect(Buffer.from(last[0]?.body ?? [])).toEqual(Buffer.from(body));
    expect(last[0]?.contentType).toBe(contentType);
    expect(last[0]?.envelope).toMatchObject({ type: 'as.it.was', version: 7 });
  });

  test('is seen by interceptors with its payload, and is encoded again only where one of them put another there', async () => {
    const { mq } = await onMemory();
    const pipeline = new Pipeline(ownName(), ['one', 'two']);
    await pipeline.declare(mq);
    const seen: unknown[] = [];
    let replaced = false;
    mq.interceptPublish(async (context, send) => {
      if (context.routingKey === 'two') {
        seen.push(context.payload);
        if (replaced) context.payload = { secret: '…' };
      }
      await send();
    });
    await pipeline.follow(mq, 'one', () => next());
    const second = await kept(mq, pipeline.queue('two'));
    const raw = { body: Buffer.from('{ "a" : 1 }'), contentType: 'application/x+json' };
    await mq.publishRaw(pipeline.name, 'one', raw);
    await until(() => expect(second).toHaveLength(1));
    replaced = true;
    await mq.publishRaw(pipeline.name, 'one', raw);
    await until(() => expect(second).toHaveLength(2));
    expect(seen).toEqual([{ a: 1 }, { a: 1 }]);
    expect(second.map(({ body, contentType }) => [Buffer.from(body).toString(), contentType])).toEqual([
      ['{ "a" : 1 }', 'application/x+json'],
      ['{"secret":"…"}', 'application/json'],
    ]);
  });

  test('may be of any size, and its new payload is written by the codec of its step', async () => {
    const { mq } = await onMemory();
    const pipeline = new Pipeline(ownName(), ['one', 'two', 'three']);
    await pipeline.declare(mq);
    const codec = bytesCodec();
    await pipeline.follow(mq, 'one', () => next(), { codec });
    await pipeline.follow<Uint8Array>(mq, 'two', ({ payload }) => next(payload.subarray(0, 3)), { codec });
    const third = await kept(mq, pipeline.queue('three'));
    const body = Buffer.alloc(5_000_000, 'ab');
    await pipeline.send(mq, body, { codec });
    await until(() => expect(third).toHaveLength(1));
    expect(Buffer.from(third[0]?.body ?? []).toString()).toBe('aba');
    expect(third[0]?.contentType).toBe('application/octet-stream');
  });
});

describe('a step that does not let the run go on', () => {
  test('ends it: nothing is sent, nothing is set aside', async () => {
    const { mq, broker, metrics } = await onMemory();
    const pipeline = new Pipeline(ownName(), STEPS);
    await pipeline.declare(mq);
    await pipeline.follow(mq, 'validate', () => end());
    await pipeline.send(mq, {});
    const labels = `outcome="ended_early",pipeline="${pipeline.name}",step="validate"`;
    await until(() => expect(metrics.counts.get(`acemq.pipeline.run.total{${labels}}`)).toBe(1));
    await until(() =>
      expect(broker.queues.every(({ messages, unsettled }) => messages + unsettled === 0)).toBe(true),
    );
    expect(
      metrics.counts.get(`acemq.consume.total{outcome="acked",queue="${pipeline.queue('validate')}"}`),
    ).toBe(1);
  });

  test.each([
    ['throws', () => Promise.reject(new Error('not today')), 'dlq', 'exhausted 3 attempts: Error: not today'],
    ['answers retry', () => retry(new Error('not today')), 'dlq', 'exhausted 3 attempts: Error: not today'],
    ['answers reject', () => reject(new Error('never')), 'dlq', 'the handler rejected it: Error: never'],
    ['answers park', () => park(new Error('odd')), 'parked', 'the handler parked it: Error: odd'],
  ] as const)(
    '%s: its own queue and its own policy say what becomes of the message',
    async (_, answer, target, reason) => {
      const { mq } = await onMemory();
      const pipeline = new Pipeline(ownName(), STEPS, { retry: { enrich: fixed(3, 0) } });
      await pipeline.declare(mq);
      const attempts: number[] = [];
      await pipeline.follow(mq, 'validate', () => next());
      await pipeline.follow(mq, 'enrich', ({ envelope }) => {
        attempts.push(envelope.attempt);
        return answer();
      });
      const id = await pipeline.send(mq, {});
      const aside = `${pipeline.queue('enrich')}.${target}`;
      await until(async () => expect(await mq.messageCount(aside)).toBe(1));
      const [dead] = await pulled(mq, aside);
      expect(dead?.headers).toMatchObject({
        'x-acemq-error': reason,
        'x-acemq-route': 'validate,enrich,store',
        'x-acemq-route-position': 1,
        'x-acemq-route-id': id,
      });
      expect(attempts).toEqual(reason.startsWith('exhausted') ? [1, 2, 3] : [1]);
      expect(await mq.messageCount(pipeline.queue('store'))).toBe(0);
    },
  );

  test('a retry keeps the run, and what it was told of it', async () => {
    const { mq } = await onMemory();
    const pipeline = new Pipeline(ownName(), STEPS, { retry: fixed(3, 0) });
    await pipeline.declare(mq);
    const runs: Run[] = [];
    await pipeline.follow(mq, 'validate', ({ envelope }, run) => {
      runs.push(run);
      return envelope.attempt < 3 ? retry() : next();
    });
    const stored = await kept(mq, pipeline.queue('enrich'));
    await mq.publishRaw(pipeline.name, 'validate', { body: Buffer.from('1') });
    await until(() => expect(stored).toHaveLength(1));
    expect(runs).toHaveLength(3);
    expect(new Set(runs.map(({ id }) => id))).toEqual(new Set([stored[0]?.envelope.routeId]));
  });

  test('answers inProgress: the message comes back, its attempt unchanged', async () => {
    const { mq, clock } = await onManualTime();
    const pipeline = new Pipeline(ownName(), STEPS);
    await pipeline.declare(mq);
    const attempts: number[] = [];
    await pipeline.follow(mq, 'validate', ({ envelope }) => {
      attempts.push(envelope.attempt);
      return attempts.length === 1 ? inProgress() : next();
    });
    await pipeline.send(mq, {});
    await until(() => expect(attempts).toHaveLength(1));
    await clock.advance(5_000);
    await until(async () => expect(await mq.messageCount(pipeline.queue('enrich'))).toBe(1));
    expect(attempts).toEqual([1, 1]);
  });
});

test('the next message is confirmed before this one is acknowledged', async () => {
  const { mq, broker } = await onMemory();
  const pipeline = new Pipeline(ownName(), ['one', 'two']);
  await pipeline.declare(mq);
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  mq.interceptPublish(async ({ routingKey }, send) => {
    await send();
    // Confirmed by the broker; the step is not told yet.
    if (routingKey === 'two') await held;
  });
  await pipeline.follow(mq, 'one', () => next());
  await pipeline.send(mq, {});
  const queue = (name: string): object | undefined => broker.queues.find((one) => one.name === name);
  await until(() => expect(queue(pipeline.queue('two'))).toMatchObject({ messages: 1 }));
  expect(queue(pipeline.queue('one'))).toMatchObject({ messages: 0, unsettled: 1 });
  release();
  await until(() => expect(queue(pipeline.queue('one'))).toMatchObject({ messages: 0, unsettled: 0 }));
});

test('100 steps are gone through one after the other', async () => {
  const { mq } = await onMemory();
  const steps = Array.from({ length: 100 }, (_, number) => `step-${number}`);
  const pipeline = new Pipeline(ownName(), steps, { type: 'classic' });
  await pipeline.declare(mq);
  const seen: string[] = [];
  const handler = (_: Message, { step }: Run): StepAnswer => {
    seen.push(step);
    return next(seen.length);
  };
  const running = await pipeline.run(mq, Object.fromEntries(steps.map((step) => [step, handler])));
  expect(running.consumers).toHaveLength(100);
  await pipeline.send(mq, 0);
  await until(() => expect(seen).toEqual(steps));
});
