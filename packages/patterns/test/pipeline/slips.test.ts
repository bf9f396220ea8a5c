import { accept, ConfigurationError, fixed, type Message, topology } from '@acemq/core';
import { describe, expect, test } from 'vitest';
import {
  end,
  followSlip,
  next,
  Pipeline,
  type Run,
  type StepAnswer,
  startSlip,
} from '../../src/pipeline/index.ts';
import { kept, onMemory, ownName, type Setting, until } from './setting.ts';

/** Three queues, of which the second is behind an exchange of another kind. */
async function threeQueues(): Promise<Setting> {
  const setting = await onMemory();
  await setting.mq.declare(
    topology()
      .queue('check')
      .queue('ship')
      .queue('bill')
      .exchange('shipping', 'topic')
      .bind('ship', 'shipping', 'parcel.#'),
  );
  return setting;
}

const STOPS = [
  { exchange: '', routingKey: 'check' },
  { exchange: 'shipping', routingKey: 'parcel.express', name: 'shipping' },
  { exchange: '', routingKey: 'bill' },
];

test('a run takes its own list of stops along, and each stop is written down when it is done', async () => {
  const { mq } = await threeQueues();
  const seen: { message: Message; run: Run }[] = [];
  const keep = (message: Message, run: Run): StepAnswer => {
    seen.push({ message, run });
    return run.step === 'shipping' ? next({ tracked: true }) : next();
  };
  for (const queue of ['check', 'ship', 'bill']) await followSlip(mq, queue, keep);
  const id = await startSlip(
    mq,
    STOPS,
    { order: 1 },
    { type: 'order.placed', version: 2, headers: { tenant: 'acme' } },
  );
  await until(() => expect(seen).toHaveLength(3));
  expect(seen.map(({ run }) => [run.id, run.form, run.step, run.position, run.pipeline])).toEqual([
    [id, 'json', 'check', 0, ''],
    [id, 'json', 'shipping', 1, 'shipping'],
    [id, 'json', 'bill', 2, ''],
  ]);
  expect(seen.map(({ message }) => message.payload)).toEqual([{ order: 1 }, { order: 1 }, { tracked: true }]);
  expect(seen.map(({ message: { envelope } }) => `${envelope.type} ${envelope.version}`)).toEqual([
    'order.placed 2',
    'order.placed 2',
    'bill 1',
  ]);
  const last = seen[2]?.message.envelope.headers;
  expect(last?.['tenant']).toBe('acme');
  const slip = JSON.parse(last?.['acemq-routing-slip'] as string) as { done: { completedAt: string }[] };
  const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(slip).toEqual({
    steps: [STOPS[2]],
    done: [
      { ...STOPS[0], completedAt: at },
      { ...STOPS[1], completedAt: at },
    ],
  });
  expect(seen[2]?.run.done).toEqual(slip.done);
  expect(seen.every(({ message }) => message.envelope.route === undefined)).toBe(true);
});

test('the id of a run is its correlation id, which the caller may give', async () => {
  const { mq } = await threeQueues();
  const runs: Run[] = [];
  await followSlip(mq, 'check', (_, run) => {
    runs.push(run);
    return end();
  });
  expect(await startSlip(mq, STOPS, {}, { id: 'm-1', correlationId: 'order-7' })).toBe('order-7');
  await until(() => expect(runs.map(({ id }) => id)).toEqual(['order-7']));
});

describe('both forms are written back as they came', () => {
  test('a slip in JSON that comes to a step of a pipeline goes on as one', async () => {
    const { mq, metrics } = await onMemory();
    const pipeline = new Pipeline(ownName(), ['one', 'two']);
    await pipeline.declare(mq);
    const running = await pipeline.run(mq, { one: () => next(), two: () => next() });
    expect(running.consumers).toHaveLength(2);
    // As Go writes it: nothing is done yet, and the list was never made.
    const stops = pipeline.steps.map((step) => ({ exchange: pipeline.name, routingKey: step, name: step }));
    await mq.publishRaw(pipeline.name, 'one', {
      body: Buffer.from('{}'),
      headers: {
        'acemq-routing-slip': new TextEncoder().encode(JSON.stringify({ steps: stops, done: null })),
      },
    });
    const labels = `outcome="completed",pipeline="${pipeline.name}",step="two"`;
    await until(() => expect(metrics.counts.get(`acemq.pipeline.run.total{${labels}}`)).toBe(1));
  });

  test('a declared route that comes to a queue outside of its pipeline goes on as one', async () => {
    const { mq } = await onMemory();
    const pipeline = new Pipeline(ownName(), ['one', 'two']);
    await mq.declare(pipeline.topology().queue('elsewhere').bind('elsewhere', pipeline.name, 'one'));
    const runs: Run[] = [];
    await followSlip(
      mq,
      'elsewhere',
      (_, run) => {
        runs.push(run);
        return next();
      },
      { pipeline: pipeline.name },
    );
    const second = await kept(mq, pipeline.queue('two'));
    const id = await pipeline.send(mq, {});
    await until(() => expect(second).toHaveLength(1));
    expect(second[0]?.envelope).toMatchObject({ route: ['one', 'two'], routePosition: 1, routeId: id });
    expect(second[0]?.envelope.headers).toEqual({});
    expect(runs).toMatchObject([{ form: 'declared', id, step: 'one', pipeline: pipeline.name }]);
  });

  test('where both are there the slip in JSON goes on, and the other stays as it came', async () => {
    const { mq } = await threeQueues();
    await followSlip(mq, 'check', () => next());
    const second = await kept(mq, 'bill');
    await mq.publishRaw('', 'check', {
      body: Buffer.from('{}'),
      headers: {
        'acemq-routing-slip': JSON.stringify({ steps: [STOPS[0], STOPS[2]], done: [] }),
        'x-acemq-route': 'a, b ,c',
        'x-acemq-route-position': 1,
        'x-acemq-route-id': 'run-1',
      },
    });
    await until(() => expect(second).toHaveLength(1));
    expect(second[0]?.envelope).toMatchObject({ route: ['a', 'b', 'c'], routePosition: 1, routeId: 'run-1' });
    expect(JSON.parse(second[0]?.envelope.headers['acemq-routing-slip'] as string)).toMatchObject({
      steps: [STOPS[2]],
      done: [STOPS[0]],
    });
  });
});

test('a retried message keeps its slip, and the exchange that it goes on to', async () => {
  const { mq } = await onMemory();
  const pipeline = new Pipeline(ownName(), ['one', 'two'], { retry: fixed(2, 0) });
  await pipeline.declare(mq);
  // The copy of a retry comes through the default exchange.
  await pipeline.follow(mq, 'one', ({ envelope, exchange }) => {
    if (envelope.attempt === 1) throw new Error('not yet');
    return next(exchange);
  });
  const second = await kept(mq, pipeline.queue('two'));
  await pipeline.send(mq, {});
  await until(() => expect(second).toHaveLength(1));
  expect(second[0]).toMatchObject({ payload: '', exchange: pipeline.name });
});

describe('a run with its own stops is not begun', () => {
  test.each<[unknown, object, string]>([
    [[], {}, 'at least one stop { exchange, routingKey, name? }, and is an empty list'],
    [undefined, {}, 'and is undefined'],
    [Array.from({ length: 10_000 }, () => STOPS[1]), {}, 'a routing slip of 10000 stops takes'],
    [STOPS, { mandatory: false }, '"mandatory"'],
    [STOPS, { headers: { 'acemq-routing-slip': '{}' } }, 'must not contain acemq-routing-slip'],
    [STOPS, { headers: { 'x-acemq-id': '1' } }, 'x-acemq-id'],
  ])('with the stops or the options of case %#', async (stops, options, words) => {
    const { mq } = await threeQueues();
    const started = startSlip(mq, stops as typeof STOPS, {}, options);
    await expect(started).rejects.toThrow(ConfigurationError);
    await expect(started).rejects.toThrow(words);
    expect(await mq.messageCount('check')).toBe(0);
  });

  test('where its first stop reaches no queue', async () => {
    const { mq } = await threeQueues();
    const started = startSlip(mq, [{ exchange: 'shipping', routingKey: 'letter' }], {});
    await expect(started).rejects.toMatchObject({ code: 'ACEMQ_PUBLISH_UNROUTABLE' });
  });
});

test.each<[unknown, object | undefined, string]>([
  ['next', {}, 'must be a function that answers next(), end()'],
  [() => next(), { pipeline: '' }, 'the pipeline name must not be blank'],
  [() => next(), { exchange: 7 }, 'the exchange name must be text'],
  [() => next(), { piepline: 'a' }, '"piepline"'],
  [() => next(), [], 'must be an object, not a list'],
])('a queue is not followed with the handler and the options of case %#', async (handler, options, words) => {
  const { mq } = await threeQueues();
  const followed = followSlip(mq, 'check', handler as () => StepAnswer, options);
  await expect(followed).rejects.toThrow(ConfigurationError);
  await expect(followed).rejects.toThrow(words);
});

test('a message that is not of a run is still for mq.consume, whose answers are the same words', async () => {
  const { mq } = await threeQueues();
  const seen: unknown[] = [];
  await mq.consume('check', ({ payload }) => {
    seen.push(payload);
    return accept();
  });
  await startSlip(mq, [STOPS[0] as (typeof STOPS)[0]], 'x');
  await until(() => expect(seen).toEqual(['x']));
});
