import { BrokerRefusedError, ConfigurationError, fixed, type Message } from '@acemq/core';
import { describe, expect, test } from 'vitest';
import { next, Pipeline, type StepAnswer } from '../../src/pipeline/index.ts';
import { onMemory, ownName, until } from './setting.ts';

const ALL = { one: () => next(), two: () => next(), three: () => next() };

describe('all steps in one process', () => {
  test('are read until they are closed together, and what a handler is at is finished first', async () => {
    const { mq } = await onMemory();
    const pipeline = new Pipeline(ownName(), ['one', 'two', 'three']);
    await pipeline.declare(mq);
    const started: (() => void)[] = [];
    const running = await pipeline.run(mq, {
      ...ALL,
      one: () => new Promise<StepAnswer>((resolve) => started.push(() => resolve(next()))),
    });
    await pipeline.send(mq, {});
    await until(() => expect(started).toHaveLength(1));
    const closed = running.close();
    started[0]?.();
    expect(await closed).toEqual({ finished: true, unsettled: 0 });
    expect(mq.consumers).toEqual([]);
    expect(await mq.messageCount(pipeline.queue('two'))).toBe(1);
  });

  test('are consumed as the options say, for all of them and for each', async () => {
    const { mq, broker } = await onMemory();
    const pipeline = new Pipeline(ownName(), ['one', 'two'], { retry: { one: fixed(2, '1m') } });
    await pipeline.declare(mq);
    let most = 0;
    let active = 0;
    const busy = async (): Promise<ReturnType<typeof next>> => {
      active += 1;
      most = Math.max(most, active);
      await new Promise((resolve) => setTimeout(resolve, 5));
      active -= 1;
      return next();
    };
    const running = await pipeline.run(
      mq,
      { one: () => next(), two: busy },
      { concurrency: 2, steps: { two: { concurrency: 4, retry: fixed(2, '2m') } } },
    );
    await Promise.all(Array.from({ length: 20 }, () => pipeline.send(mq, {})));
    await until(() => expect([most, active]).toEqual([4, 0]));
    expect(broker.queues.map(({ name }) => name)).toEqual(
      expect.arrayContaining([`${pipeline.queue('one')}.retry.1m`, `${pipeline.queue('two')}.retry.2m`]),
    );
    await running[Symbol.asyncDispose]();
    expect(mq.consumers).toEqual([]);
  });

  test('that cannot all be read leave none running, and say which step it was', async () => {
    const { mq } = await onMemory();
    const pipeline = new Pipeline(ownName(), ['one', 'two', 'three']);
    await pipeline.declare(mq);
    await mq.deleteQueue(pipeline.queue('two'));
    const refused = pipeline.run(mq, ALL);
    await expect(refused).rejects.toThrow(BrokerRefusedError);
    await expect(refused).rejects.toThrow(`no queue '${pipeline.queue('two')}'`);
    await expect(refused).rejects.toThrow(
      `the pipeline "${pipeline.name}" is not declared; its declare(mq) does that`,
    );
    expect(mq.consumers).toEqual([]);
  });

  test.each([
    [{ one: ALL.one, two: ALL.two }, 'the handler of the step "three" must be a function'],
    [{ ...ALL, four: ALL.one }, 'has no option "four"; there are one, three, two'],
    [{ ...ALL, two: 'next' }, 'the step "two" must be a function that answers next(), end(),'],
    [undefined, 'must be an object, not null'],
  ])('are refused before anything is read where the handlers are %o', async (handlers, words) => {
    const { mq } = await onMemory();
    const pipeline = new Pipeline('orders', ['one', 'two', 'three']);
    const refused = pipeline.run(mq, handlers as unknown as typeof ALL);
    await expect(refused).rejects.toThrow(ConfigurationError);
    await expect(refused).rejects.toThrow(words);
  });

  test.each([
    [{ steps: { four: {} } }, '"four"'],
    [{ steps: { two: { prefetch: 0 } } }, 'prefetch'],
    [{ concurency: 3 }, '"concurency"'],
  ])('are refused with the options %j', async (options, words) => {
    const { mq } = await onMemory();
    const pipeline = new Pipeline(ownName(), ['one', 'two', 'three']);
    await pipeline.declare(mq);
    const refused = pipeline.run(mq, ALL, options as object);
    await expect(refused).rejects.toThrow(ConfigurationError);
    await expect(refused).rejects.toThrow(words);
    expect(mq.consumers).toEqual([]);
  });
});

test('a handler may say what its payload is, and one that does not is given anything', async () => {
  const { mq } = await onMemory();
  const pipeline = new Pipeline(ownName(), ['one', 'two']);
  await pipeline.declare(mq);
  const seen: unknown[] = [];
  await pipeline.run(mq, {
    one: ({ payload }: Message<{ readonly n: number }>) => next({ n: payload.n + 1 }),
    two: ({ payload }) => {
      // @ts-expect-error: it is unknown
      seen.push(payload.n);
      return next();
    },
  });
  await pipeline.send(mq, { n: 1 });
  await until(() => expect(seen).toEqual([2]));
});

test('one step is refused that the pipeline does not have, or whose handler is none', async () => {
  const { mq } = await onMemory();
  const pipeline = new Pipeline('orders', ['one']);
  await expect(pipeline.follow(mq, 'two' as 'one', ALL.one)).rejects.toThrow(
    'the pipeline "orders" has no step "two"; there are one',
  );
  await expect(pipeline.follow(mq, 'one', undefined as never)).rejects.toThrow(ConfigurationError);
});

describe('a run is not begun', () => {
  test('where the pipeline was never declared: the caller is told', async () => {
    const { mq } = await onMemory();
    const sent = new Pipeline('orders', ['one']).send(mq, {});
    await expect(sent).rejects.toMatchObject({ code: 'ACEMQ_PUBLISH_FAILED', exchange: 'orders' });
  });

  test('where its first step has no queue: the caller is told', async () => {
    const { mq } = await onMemory();
    const pipeline = new Pipeline(ownName(), ['one']);
    await pipeline.declare(mq);
    await mq.deleteQueue(pipeline.queue('one'));
    await expect(pipeline.send(mq, {})).rejects.toMatchObject({ code: 'ACEMQ_PUBLISH_UNROUTABLE' });
  });

  test.each([
    [{ routingKey: 'two' }, '"routingKey"'],
    [{ headers: { 'acemq-routing-slip': '{}' } }, 'acemq-routing-slip'],
    [{ headers: { 'x-acemq-route': 'a' } }, 'x-acemq-route'],
  ])('with the options %j', async (options, words) => {
    const { mq } = await onMemory();
    const sent = new Pipeline('orders', ['one']).send(mq, {}, options as object);
    await expect(sent).rejects.toThrow(ConfigurationError);
    await expect(sent).rejects.toThrow(words);
  });
});
