import { accept, fixed, type HeaderTable, topology } from '@acemq/core';
import { describe, expect, test } from 'vitest';
import { followSlip, next, Pipeline, type StepAnswer, startSlip } from '../../src/pipeline/index.ts';
import { onMemory, ownName, pulled, type Setting, until } from './setting.ts';

const STEPS = ['validate', 'enrich', 'store'] as const;

/** A pipeline of which the second step is worked, and tried five times; counts how often its handler ran. */
async function atEnrich(
  answer: () => unknown = () => next(),
): Promise<Setting & { readonly pipeline: Pipeline; readonly queue: string; readonly runs: () => number }> {
  const setting = await onMemory();
  const pipeline = new Pipeline(ownName(), STEPS, { retry: fixed(5, 0) });
  await pipeline.declare(setting.mq);
  let runs = 0;
  await pipeline.follow(setting.mq, 'enrich', () => {
    runs += 1;
    return answer() as StepAnswer;
  });
  return { ...setting, pipeline, queue: pipeline.queue('enrich'), runs: () => runs };
}

/** Waits for the one dead letter of a queue, and gives the reason on it. */
async function reasonIn({ mq }: Setting, queue: string): Promise<string> {
  await until(async () => expect(await mq.messageCount(`${queue}.dlq`)).toBe(1));
  const [dead] = await pulled(mq, `${queue}.dlq`);
  expect(await mq.messageCount(queue)).toBe(0);
  return String(dead?.headers['x-acemq-error']);
}

describe('a message that cannot be followed is dead-lettered with the reason, once, before the handler sees it:', () => {
  const route = { 'x-acemq-route': 'validate,enrich,store', 'x-acemq-route-id': 'run-1' };
  test.each<[string, HeaderTable, string]>([
    [
      'a position past the end',
      { ...route, 'x-acemq-route-position': 3 },
      'is 3, and its route has 3 steps (validate, enrich, store): allowed are 0 to 2',
    ],
    [
      'a position past the end, as text in bytes',
      { ...route, 'x-acemq-route-position': new TextEncoder().encode('17') },
      'is 17, and its route has 3 steps',
    ],
    [
      'a step of another queue',
      { ...route, 'x-acemq-route-position': 0 },
      'is for the step "validate", number 0',
    ],
    [
      'a step that nobody has, on this queue',
      { 'x-acemq-route': 'audit' },
      'is for the step "audit", number 0',
    ],
    [
      'a slip that is no JSON',
      { 'acemq-routing-slip': 'a,b,c' },
      'the header acemq-routing-slip is not JSON',
    ],
    ['a slip that is a number', { 'acemq-routing-slip': 7 }, 'must be JSON text, and is 7'],
    [
      'a slip with stops of another shape',
      { 'acemq-routing-slip': '{"steps":[{"queue":"a"}]}' },
      'its exchange must be',
    ],
    [
      'a slip whose run is over',
      { 'acemq-routing-slip': '{"steps":[],"done":[]}' },
      '0 stops left and 0 done',
    ],
  ])('%s', async (_, headers, reason) => {
    const setting = await atEnrich();
    await setting.mq.publishRaw(setting.pipeline.name, 'enrich', { body: Buffer.from('{}'), headers });
    const words = await reasonIn(setting, setting.queue);
    expect(words).toContain('the handler reported an unprocessable message: FatalError: ');
    expect(words).toContain(reason);
    expect(setting.runs()).toBe(0);
    expect(
      setting.metrics.counts.get(`acemq.consume.total{outcome="dead_lettered",queue="${setting.queue}"}`),
    ).toBe(1);
  });

  test('a message without any slip, on a queue that belongs to no pipeline', async () => {
    const setting = await onMemory();
    await new Pipeline('orders', ['one']).declare(setting.mq);
    let runs = 0;
    await followSlip(setting.mq, 'orders.one', () => {
      runs += 1;
      return next();
    });
    await setting.mq.publisher({ routingKey: 'orders.one' }).send({});
    expect(await reasonIn(setting, 'orders.one')).toContain(
      'neither the header acemq-routing-slip nor x-acemq-route',
    );
    expect(runs).toBe(0);
  });

  test('a declared route where nobody said its exchange', async () => {
    const setting = await onMemory();
    const pipeline = new Pipeline('orders', ['one', 'two']);
    await pipeline.declare(setting.mq);
    await followSlip(setting.mq, 'orders.one', () => next());
    await pipeline.send(setting.mq, {});
    expect(await reasonIn(setting, 'orders.one')).toContain(
      'give followSlip the option pipeline or exchange',
    );
  });

  test('a body that cannot be read is parked, as everywhere', async () => {
    const { mq, pipeline, queue, runs } = await atEnrich();
    await mq.publishRaw(pipeline.name, 'enrich', { body: Buffer.from('{'), contentType: 'application/json' });
    await until(async () => expect(await mq.messageCount(`${queue}.parked`)).toBe(1));
    expect(runs()).toBe(0);
  });
});

describe('what a step may not answer is fatal, and the reason says what it may:', () => {
  const MAY = 'a step answers next(), end(), retry(), reject(), park() or inProgress()';
  test.each([
    ['accept()', accept(), 'answered accept(), which does not say what becomes of the run'],
    ['nothing', undefined, 'answered undefined'],
    ['its payload', { id: 1 }, 'answered an object'],
    ['text', 'next', 'answered "next"'],
    ['the function itself', next, 'answered a function'],
  ])('%s', async (_, answer, words) => {
    const setting = await atEnrich(() => answer);
    await setting.mq.publisher({ exchange: setting.pipeline.name, routingKey: 'enrich' }).send({});
    const reason = await reasonIn(setting, setting.queue);
    expect(reason).toContain(`the step "enrich" ${words}`);
    expect(reason).toContain(MAY);
    expect(setting.runs()).toBe(1);
    expect(await setting.mq.messageCount(setting.pipeline.queue('store'))).toBe(0);
  });
});

describe('a next stop that the message cannot be sent to', () => {
  test('is tried by the policy of the step, and then named in the reason: a declared route', async () => {
    const setting = await atEnrich();
    await setting.mq.deleteQueue(setting.pipeline.queue('store'));
    await setting.mq.publisher({ exchange: setting.pipeline.name, routingKey: 'enrich' }).send({});
    expect(await reasonIn(setting, setting.queue)).toBe(
      'exhausted 5 attempts: PublishError: the run cannot go on to its next stop "store" ' +
        `(exchange "${setting.pipeline.name}", key "store"): it reached no queue (312 NO_ROUTE)`,
    );
    expect(setting.runs()).toBe(5);
    const labels = `exchange="${setting.pipeline.name}",outcome="unroutable",routing.key="store"`;
    expect(setting.metrics.counts.get(`acemq.publish.total{${labels}}`)).toBe(5);
  });

  test('is tried and named too where it is a queue that is not there, or an exchange that is not', async () => {
    const setting = await onMemory();
    const queue = 'first';
    await new Pipeline('p', ['x']).declare(setting.mq);
    await followSlip(setting.mq, 'p.x', () => next(), { retry: fixed(2, 0) });
    await startSlip(
      setting.mq,
      [
        { exchange: 'p', routingKey: 'x' },
        { exchange: '', routingKey: queue, name: 'n' },
      ],
      {},
    );
    expect(await reasonIn(setting, 'p.x')).toContain(
      'its next stop "n" (the queue "first"): it reached no queue',
    );
    await startSlip(
      setting.mq,
      [
        { exchange: 'p', routingKey: 'x' },
        { exchange: 'none', routingKey: '' },
      ],
      {},
    );
    const reason = await reasonIn(setting, 'p.x');
    expect(reason).toContain(
      'exhausted 2 attempts: PublishError: the run cannot go on to its next stop "none"',
    );
    expect(reason).toContain("404 NOT_FOUND - no exchange 'none'");
  });

  test('says why where its headers, which grow with each stop, have no room left in a message', async () => {
    const setting = await onMemory();
    await setting.mq.declare(topology().queue('q'));
    const positions: number[] = [];
    await followSlip(setting.mq, 'q', (_, run) => {
      positions.push(run.position);
      return next();
    });
    const stops = Array.from({ length: 400 }, () => ({
      exchange: '',
      routingKey: 'q',
      name: 'n'.repeat(25),
    }));
    await startSlip(setting.mq, stops, {}, { headers: { large: 'x'.repeat(28_000) } });
    const reason = await reasonIn(setting, 'q');
    expect(reason).toMatch(/EncodeError: the headers take \d+ bytes; allowed: up to 65536/);
    expect(positions.length).toBeGreaterThan(1);
    expect(positions.length).toBeLessThan(400);
  });

  test('says why where a payload cannot be written, or an interceptor does not let it through', async () => {
    const setting = await atEnrich(() => next({ count: 1n }));
    await setting.mq.publisher({ exchange: setting.pipeline.name, routingKey: 'enrich' }).send({});
    expect(await reasonIn(setting, setting.queue)).toMatch(
      /^exhausted 5 attempts: PublishError: the run cannot go on to its next stop "store" .*: EncodeError: the payload cannot be written as JSON: /,
    );
    const other = await atEnrich();
    await other.mq.publisher({ exchange: other.pipeline.name, routingKey: 'enrich' }).send({});
    await until(async () => expect(await other.mq.messageCount(other.pipeline.queue('store'))).toBe(1));
    other.mq.interceptPublish(async ({ routingKey }, send) => {
      if (routingKey === 'store') throw new TypeError('not on a Sunday');
      await send();
    });
    await other.mq.publisher({ exchange: other.pipeline.name, routingKey: 'enrich' }).send({});
    expect(await reasonIn(other, other.queue)).toContain(': TypeError: not on a Sunday');
  });
});
