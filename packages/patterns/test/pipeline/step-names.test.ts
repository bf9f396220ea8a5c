import { ConfigurationError, exponential, fixed } from '@acemq/core';
import { describe, expect, test } from 'vitest';
import { Pipeline, type PipelineOptions } from '../../src/pipeline/index.ts';
import { LONGEST_SLIP } from '../../src/pipeline/routing-slip.ts';

function refusal(name: unknown, steps: unknown, options?: unknown): string {
  try {
    new Pipeline(name as string, steps as string[], options as PipelineOptions);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as Error).message;
  }
  throw new Error('it was not refused');
}

describe('a pipeline is refused when it is made', () => {
  test.each([
    ['', '""'],
    ['.orders', '".orders"'],
    ['or,ders', '"or,ders"'],
    ['or ders', '"or ders"'],
    ['or_ders', '"or_ders"'],
    ['ördern', '"ördern"'],
    [42, '42'],
    [undefined, 'undefined'],
  ])('with the name %j', (name, shown) => {
    const words = refusal(name, ['one']);
    expect(words).toContain(shown);
    expect(words).toContain('letters, digits, dots and dashes');
  });

  test.each(['amq.orders', 'acemq.dlx', 'acemq.retry'])(
    'with the name %s, which belongs to others',
    (name) => {
      expect(refusal(name, ['one'])).toContain(`"${name}"`);
    },
  );

  test.each([['a,b'], [''], ['-a'], [7], [null]])('with the step %j', (step) => {
    expect(refusal('orders', ['one', step])).toContain(JSON.stringify(step));
  });

  test.each([
    [[], 'an empty list'],
    ['one', '"one"'],
    [undefined, 'undefined'],
  ])('with the steps %j', (steps, shown) => {
    expect(refusal('orders', steps)).toContain(shown);
  });

  test('with a step that is there twice', () => {
    expect(refusal('orders', ['one', 'two', 'one'])).toContain('has the step "one" twice');
  });

  test('with steps of which one has the queue that another needs for its dead letters', () => {
    expect(refusal('orders', ['one', 'one.dlq'])).toContain('"orders.one.dlq"');
  });

  test('with names too long for a queue', () => {
    expect(refusal('o'.repeat(120), ['s'.repeat(140)])).toContain('at most 255');
    expect(new Pipeline('o'.repeat(120), ['s'.repeat(120)]).steps).toHaveLength(1);
  });

  test('with more steps than the headers of a message can name', () => {
    const steps = Array.from({ length: 10_000 }, (_, number) => `step-${number}`);
    const words = refusal('orders', steps);
    expect(words).toContain('10000 steps');
    expect(words).toContain(`up to ${LONGEST_SLIP}`);
  });

  test.each([
    [{ retries: fixed(3, '1s') }, 'retries'],
    [{ retry: 3 }, '3'],
    [{ retry: { three: fixed(3, '1s') } }, '"three"'],
    [{ retry: { one: 'often' } }, '"often"'],
    [{ type: 'stream' }, '"stream"'],
  ])('with the options %j', (options, shown) => {
    expect(refusal('orders', ['one', 'two'], options)).toContain(shown);
  });
});

describe('the topology of a pipeline', () => {
  test('has the exchange, and for each step its queue, its dead letters, its rungs and its binding', () => {
    const plan = new Pipeline('orders', ['one', 'two.b'], { retry: exponential(6, '10s', '5m') })
      .topology()
      .plan();
    expect(plan.exchanges.map(({ name, spec }) => [name, spec.type, spec.durable])).toEqual([
      ['orders', 'direct', true],
      ['acemq.dlx', 'direct', true],
      ['acemq.retry', 'direct', true],
    ]);
    expect(plan.queues.map(({ name, type }) => `${name} ${type}`)).toEqual(
      ['orders.one', 'orders.two.b'].flatMap((queue) => [
        `${queue} quorum`,
        `${queue}.retry.40s classic`,
        `${queue}.retry.80s classic`,
        `${queue}.retry.160s classic`,
        `${queue}.dlq classic`,
        `${queue}.parked classic`,
      ]),
    );
    expect(plan.bindings).toContainEqual({ queue: 'orders.one', exchange: 'orders', routingKey: 'one' });
    expect(plan.bindings).toContainEqual({ queue: 'orders.two.b', exchange: 'orders', routingKey: 'two.b' });
    expect(plan.bindings).toContainEqual({
      queue: 'orders.one',
      exchange: 'acemq.retry',
      routingKey: 'orders.one',
    });
  });

  test('has rungs only for the steps that have a policy which needs them, and queues of the type that was asked for', () => {
    const retry = { two: fixed(3, '1m') };
    const plan = new Pipeline('orders', ['one', 'two'], { retry, type: 'classic' }).topology().plan();
    expect(plan.queues.map(({ name }) => name)).toEqual([
      'orders.one',
      'orders.one.dlq',
      'orders.one.parked',
      'orders.two',
      'orders.two.retry.1m',
      'orders.two.dlq',
      'orders.two.parked',
    ]);
    expect(new Set(plan.queues.map(({ type }) => type))).toEqual(new Set(['classic']));
  });

  test('is a new one at each call, so that more may be added', () => {
    const pipeline = new Pipeline('orders', ['one']);
    pipeline.topology().queue('orders.watched').bind('orders.watched', 'orders', 'one');
    expect(pipeline.topology().plan().queues).toHaveLength(3);
  });
});

test('a pipeline knows its names, and refuses others', () => {
  const pipeline = new Pipeline('orders', ['one', 'two']);
  expect(pipeline).toMatchObject({ name: 'orders', steps: ['one', 'two'] });
  expect(pipeline.queue('two')).toBe('orders.two');
  expect(String(pipeline)).toBe('Pipeline(orders: one, two)');
  expect(() => pipeline.queue('three' as 'two')).toThrow(
    'the pipeline "orders" has no step "three"; there are one, two',
  );
});
