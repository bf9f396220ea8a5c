import { ConfigurationError, type StandardSchema, topology } from '@acemq/core';
import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import {
  Requester,
  type RequesterOptions,
  type Responder,
  type RespondOptions,
  respond,
} from '../../src/request/index.ts';
import { onMemory } from './setting.ts';

describe('the options of a requester', () => {
  test.each<[unknown, string]>([
    [null, 'the options of Requester must be an object'],
    [{ routingkey: 'q' }, 'Requester has no option "routingkey"; there are'],
    [{ timeout: 0 }, 'timeout must be at least 1ms, not 0'],
    [{ timeout: 'soon' }, 'timeout must be a whole number of milliseconds'],
    [{ routingKey: 7 }, 'routing key'],
    [{ exchange: ' ' }, 'exchange'],
    [{ replyQueue: '' }, 'queue'],
    [{ declare: false }, 'declare is for a replyQueue that has a name'],
    [{ replyQueue: 'q', declare: 'no' }, 'declare must be true or false, and is "no"'],
    [{ codec: {} }, 'codec must have the methods encode, decode, canDecode'],
    [{ schema: {} }, 'schema must be a Standard Schema validator'],
    [{ replySchema: () => true }, 'replySchema must be a Standard Schema validator'],
    [{ type: ' ' }, 'type must be text that is not blank'],
    [{ version: 0 }, 'version must be a whole number'],
    [{ persistent: 1 }, 'persistent must be true or false'],
    [{ priority: 256 }, 'priority must be a whole number from 0 to 255'],
    [{ expiresAfter: -1 }, 'expiresAfter must be at least 0ms'],
  ])('%j is refused before anything is sent', async (options, words) => {
    const { mq, broker } = await onMemory();
    const queues = broker.queues.length;
    const opening = Requester.open(mq, options as RequesterOptions);
    await expect(opening).rejects.toBeInstanceOf(ConfigurationError);
    await expect(opening).rejects.toThrow(words);
    expect(broker.queues).toHaveLength(queues);
  });

  test('a reply queue that exists otherwise is refused as drift', async () => {
    const { mq } = await onMemory();
    await mq.declare(topology().queue('answers', { type: 'classic' }));
    await expect(Requester.open(mq, { routingKey: 'q', replyQueue: 'answers' })).rejects.toMatchObject({
      code: 'ACEMQ_TOPOLOGY_DRIFT',
    });
  });
});

describe('the options of an ask', () => {
  test.each<[unknown, string]>([
    ['soon', 'the options of ask must be an object, not "soon"'],
    [{ correlationId: 'mine' }, 'ask has no option "correlationId"; there are'],
    [{ id: 'mine' }, 'ask has no option "id"'],
    [{ timeout: '0s' }, 'timeout must be at least 1ms, not "0s"'],
    [{ signal: {} }, 'signal must be an AbortSignal, and is an object'],
    [{ routingKey: 7 }, 'routing key'],
    [{ headers: 'tenant' }, 'headers must be an object, not "tenant"'],
    [{ headers: { 'x-acemq-id': 'mine' } }, 'headers must not start with x-acemq-'],
    [{ version: 1.5 }, 'version must be a whole number'],
    [{ persistent: 'yes' }, 'persistent must be true or false'],
    [{ priority: -1 }, 'priority must be a whole number'],
    [{ expiresAfter: 'later' }, 'expiresAfter must be'],
  ])('%j is refused before anything is sent, and counted as failed', async (options, words) => {
    const { mq, broker, queue, metrics } = await onMemory();
    await using requester = await Requester.open(mq, { routingKey: queue });
    const asking = requester.ask(1, options as object);
    await expect(asking).rejects.toBeInstanceOf(ConfigurationError);
    await expect(asking).rejects.toThrow(words);
    expect(broker.depth(queue)).toBe(0);
    expect(requester).toMatchObject({ failed: 1, outstanding: 0 });
    expect(metrics.counts.get(`acemq.request.total{outcome="failed",routing.key="${queue}"}`)).toBe(1);
  });

  test('without a routing key anywhere, the default exchange is refused', async () => {
    const { mq } = await onMemory();
    await using requester = await Requester.open(mq);
    await expect(requester.ask(1)).rejects.toThrow('needs a routing key');
  });
});

describe('the options of a responder', () => {
  test.each<[unknown, string]>([
    [{ replycodec: 1 }, 'respond has no option "replycodec"; there are'],
    [{ concurrency: 0 }, 'concurrency must be a whole number'],
    [{ codec: {} }, 'codec must have the methods'],
    [{ replyCodec: { encode() {} } }, 'replyCodec must have the methods encode, decode, canDecode'],
    [{ replySchema: 7 }, 'replySchema must be a Standard Schema validator'],
    [{ replyType: '' }, 'replyType must be text that is not blank, and is ""'],
    [{ retry: 'often' }, 'retry must be a policy'],
  ])('%j is refused before anything is consumed', async (options, words) => {
    const { mq, queue } = await onMemory();
    const starting = respond(mq, queue, () => 1, options as RespondOptions<unknown, number>);
    await expect(starting).rejects.toBeInstanceOf(ConfigurationError);
    await expect(starting).rejects.toThrow(words);
    expect(mq.consumers).toEqual([]);
  });

  test('a handler that is no function is refused, and so is a queue that is not there', async () => {
    const { mq, queue } = await onMemory();
    await expect(respond(mq, queue, 'yes' as never)).rejects.toThrow('the handler must be a function');
    await expect(respond(mq, 'nowhere', vi.fn())).rejects.toMatchObject({ replyCode: 404 });
  });
});

test('schemas say what is asked and what is answered', async () => {
  const { mq, queue } = await onMemory();
  const texts = {} as StandardSchema<string, string>;
  const counts = {} as StandardSchema<unknown, number>;
  const open = () => Requester.open(mq, { routingKey: queue, schema: texts, replySchema: counts });
  const answering = () =>
    respond(mq, queue, ({ payload }) => payload.length, { schema: texts as StandardSchema<unknown, string> });
  expectTypeOf(open).returns.resolves.toEqualTypeOf<Requester<string, number>>();
  expectTypeOf(answering).returns.resolves.toEqualTypeOf<Responder<string, number>>();
});
