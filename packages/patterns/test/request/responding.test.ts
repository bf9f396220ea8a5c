import { bytesCodec, jsonCodec, textCodec } from '@acemq/amqp';
import { accept, FatalError, fixed, type StandardSchema, topology } from '@acemq/core';
import { describe, expect, test, vi } from 'vitest';
import { Requester, respond } from '../../src/request/index.ts';
import { deferred, onMemory, PATIENCE, type Setting, type Sum } from './setting.ts';

const numbersOnly: StandardSchema<number, unknown> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) =>
      typeof value === 'number' ? { value } : { issues: [{ message: 'expected a number' }] },
  },
};

/** The reasons in the dead-letter queue of the setting's queue, once there are as many. */
async function reasons({ broker, queue }: Setting, count = 1): Promise<unknown[]> {
  await vi.waitFor(() => expect(broker.depth(`${queue}.dlq`)).toBe(count), PATIENCE);
  return broker.messages(`${queue}.dlq`).map(({ headers }) => headers['x-acemq-error']);
}

describe('an answer', () => {
  test('is what the handler returns, at once or later', async () => {
    const { mq, broker, queue } = await onMemory();
    await using responder = await respond<Sum, number>(mq, queue, async ({ payload: { a, b } }) => a + b);
    await using requester = await Requester.open<Sum, number>(mq, { routingKey: queue });
    expect(await requester.ask({ a: 1, b: 2 })).toBe(3);
    expect(responder).toMatchObject({ answered: 1, failed: 0, unanswerable: 0, running: true, queue });
    await responder.close();
    expect(broker.depth(queue)).toBe(0);
    expect(responder.running).toBe(false);
    expect(String(responder)).toBe(`Responder(${queue}, closed)`);
  });

  test('of nothing is null', async () => {
    const { mq, queue } = await onMemory();
    await using _responder = await respond<unknown, void>(mq, queue, () => {});
    await using requester = await Requester.open(mq, { routingKey: queue });
    expect(await requester.ask(1)).toBeNull();
  });

  test.each([0, '', false, [], { deep: { er: [1, null] } }])('may be %j', async (value) => {
    const { mq, queue } = await onMemory();
    await using _responder = await respond(mq, queue, () => value);
    await using requester = await Requester.open(mq, { routingKey: queue });
    expect(await requester.ask(1)).toEqual(value);
  });

  test('goes to the default exchange under the correlation of its request, with its id as causation', async () => {
    const { mq, broker, queue } = await onMemory();
    await mq.declare(topology().queue('answers', { type: 'classic' }));
    await using _responder = await respond(mq, queue, () => 'yes');
    const request = await mq
      .publisher({ routingKey: queue, type: 'order.price', version: 4 })
      .send({}, { replyTo: 'answers', correlationId: 'flow-1', headers: { tenant: 'x' } });
    await vi.waitFor(() => expect(broker.depth('answers')).toBe(1), PATIENCE);
    const [reply] = broker.messages('answers');
    expect(reply).toMatchObject({ exchange: '', routingKey: 'answers', replyTo: undefined });
    expect(reply?.headers).toEqual({
      'x-acemq-id': reply?.messageId,
      'x-acemq-type': 'order.price.reply',
      'x-acemq-version': 1,
      'x-acemq-correlation': 'flow-1',
      'x-acemq-causation': request.id,
      'x-acemq-attempt': 1,
      'x-acemq-first-seen': expect.any(Number),
      'x-acemq-origin': mq.origin,
    });
    expect(reply?.messageId).not.toBe(request.id);
  });

  test('has the type and the codec that the options say', async () => {
    const { mq, broker, queue } = await onMemory();
    await mq.declare(topology().queue('answers', { type: 'classic' }));
    await using _responder = await respond<unknown, string>(mq, queue, () => 'yes', {
      replyType: 'answer',
      replyCodec: textCodec(),
    });
    await mq.publisher({ routingKey: queue }).send({}, { replyTo: 'answers' });
    await vi.waitFor(() => expect(broker.depth('answers')).toBe(1), PATIENCE);
    const [reply] = broker.messages('answers');
    expect(reply?.headers['x-acemq-type']).toBe('answer');
    expect(reply?.contentType).toMatch(/^text\/plain/);
  });

  test('that nobody reads is no fault: the request is accepted', async () => {
    const setting = await onMemory();
    const { mq, broker, queue, metrics } = setting;
    await using responder = await respond(mq, queue, () => 'yes');
    await mq.publisher({ routingKey: queue }).send({}, { replyTo: 'gone' });
    await vi.waitFor(() => expect(responder.answered).toBe(1), PATIENCE);
    await responder.close();
    expect(broker.depth(queue)).toBe(0);
    expect(broker.depth(`${queue}.dlq`)).toBe(0);
    expect(
      metrics.counts.get(`acemq.publish.total{exchange="",outcome="confirmed",routing.key="gone"}`),
    ).toBe(1);
  });

  test('is counted before it leaves', async () => {
    const { mq, queue } = await onMemory();
    const counted: number[] = [];
    await using responder = await respond(mq, queue, () => 'yes');
    mq.interceptPublish(async ({ routingKey }, next) => {
      if (routingKey !== queue) counted.push(responder.answered);
      await next();
    });
    await using requester = await Requester.open(mq, { routingKey: queue });
    await requester.ask(1);
    expect(counted).toEqual([1]);
  });

  test('goes through the interceptors, as the request did', async () => {
    const { mq, queue } = await onMemory();
    await using _responder = await respond(mq, queue, () => 'yes');
    await using requester = await Requester.open(mq, { routingKey: queue });
    const seen: string[] = [];
    mq.interceptPublish(async ({ envelope }, next) => {
      seen.push(`publish ${envelope.type}`);
      await next();
    });
    mq.interceptConsume((context, next) => {
      seen.push(`consume ${context.envelope.type} ${JSON.stringify(context.payload)}`);
      return next();
    });
    await requester.ask({ a: 1 });
    expect(seen).toEqual([
      `publish ${queue}`,
      `consume ${queue} {"a":1}`,
      `publish ${queue}.reply`,
      `consume ${queue}.reply "yes"`,
    ]);
  });

  test('for an address in the property alone gets there', async () => {
    const { mq, broker, queue } = await onMemory();
    await mq.declare(
      topology().queue('by-header', { type: 'classic' }).queue('by-property', { type: 'classic' }),
    );
    await using _responder = await respond(mq, queue, () => 'yes');
    const requests = mq.publisher({ routingKey: queue });
    await requests.send({}, { replyTo: 'by-property' });
    await requests.send({}, { replyTo: 'by-property', headers: { 'acemq-reply-to': 'by-header' } });
    await vi.waitFor(() => expect(broker.depth('by-header')).toBe(1), PATIENCE);
    expect(broker.depth('by-property')).toBe(1);
  });
});

describe('a responder that fails', () => {
  test('tells its asker the class and the message, and dead-letters the request at once', async () => {
    const setting = await onMemory({ retry: fixed(5, '10ms') });
    const { mq, queue, metrics } = setting;
    let runs = 0;
    await using responder = await respond(mq, queue, () => {
      runs += 1;
      throw new RangeError('too large');
    });
    await using requester = await Requester.open(mq, { routingKey: queue });
    await expect(requester.ask(1)).rejects.toMatchObject({
      name: 'ResponderError',
      type: 'RangeError',
      message: 'too large',
    });
    expect(await reasons(setting)).toEqual(['the handler rejected it: RangeError: too large']);
    expect(runs).toBe(1);
    expect(responder).toMatchObject({ answered: 0, failed: 1 });
    expect(requester).toMatchObject({ answered: 1, failed: 0 });
    expect(metrics.counts.get(`acemq.consume.total{outcome="rejected",queue="${queue}"}`)).toBe(1);
  });

  test('replies with null and the header acemq-error', async () => {
    const { mq, broker, queue } = await onMemory();
    await mq.declare(topology().queue('answers', { type: 'classic' }));
    await using _responder = await respond(mq, queue, () => Promise.reject(new TypeError('no')));
    const { id } = await mq.publisher({ routingKey: queue }).send({}, { replyTo: 'answers' });
    await vi.waitFor(() => expect(broker.depth('answers')).toBe(1), PATIENCE);
    const [reply] = broker.messages('answers');
    expect(Buffer.from(reply?.body ?? []).toString()).toBe('null');
    expect(reply?.headers).toMatchObject({
      'acemq-error': 'TypeError: no',
      'x-acemq-correlation': id,
      'x-acemq-causation': id,
      'x-acemq-type': `${queue}.reply`,
    });
  });

  test('in a codec that has no null, replies with nothing', async () => {
    const { mq, broker, queue } = await onMemory();
    await mq.declare(topology().queue('answers', { type: 'classic' }));
    await using _responder = await respond<unknown, Uint8Array>(
      mq,
      queue,
      () => {
        throw new TypeError('no');
      },
      { replyCodec: bytesCodec() },
    );
    await mq.publisher({ routingKey: queue }).send({}, { replyTo: 'answers' });
    await vi.waitFor(() => expect(broker.depth('answers')).toBe(1), PATIENCE);
    expect(broker.messages('answers')[0]?.body).toHaveLength(0);
  });

  test('cuts what it says to 2,000 characters', async () => {
    const setting = await onMemory();
    const { mq, queue } = setting;
    await using _responder = await respond(mq, queue, () => {
      throw new Error('x'.repeat(100_000));
    });
    await using requester = await Requester.open(mq, { routingKey: queue });
    const error = await requester.ask(1).catch((reason: Error) => reason);
    expect((error as Error).message).toHaveLength(2000 - 'Error: '.length);
  });

  test.each([undefined, null, 'only words', { no: 'error' }])('may throw %j', async (thrown) => {
    const setting = await onMemory();
    const { mq, queue } = setting;
    await using responder = await respond(mq, queue, () => {
      throw thrown;
    });
    await using requester = await Requester.open(mq, { routingKey: queue });
    await expect(requester.ask(1)).rejects.toMatchObject({ code: 'ACEMQ_RESPONDER' });
    expect(await reasons(setting)).toHaveLength(1);
    expect(responder.failed).toBe(1);
  });

  test('is one whose answer cannot be encoded', async () => {
    const setting = await onMemory();
    const { mq, queue } = setting;
    await using responder = await respond(mq, queue, () => 1n);
    await using requester = await Requester.open(mq, { routingKey: queue });
    await expect(requester.ask(1)).rejects.toMatchObject({ code: 'ACEMQ_RESPONDER', type: 'EncodeError' });
    expect(await reasons(setting)).toEqual([expect.stringContaining('the handler rejected it: EncodeError')]);
    expect(responder).toMatchObject({ answered: 0, failed: 1 });
  });

  test('is one whose answer does not fit the schema', async () => {
    const setting = await onMemory();
    const { mq, queue } = setting;
    await using responder = await respond<unknown, number>(mq, queue, () => 'four' as unknown as number, {
      replySchema: numbersOnly,
    });
    await using requester = await Requester.open(mq, { routingKey: queue });
    await expect(requester.ask(1)).rejects.toMatchObject({
      type: 'EncodeError',
      message: 'the payload does not fit its schema: expected a number',
    });
    expect(await reasons(setting)).toHaveLength(1);
    expect(responder).toMatchObject({ answered: 0, failed: 1 });
  });

  test('is one that returns an Ack', async () => {
    const setting = await onMemory();
    const { mq, queue } = setting;
    await using _responder = await respond(mq, queue, () => accept());
    await using requester = await Requester.open(mq, { routingKey: queue });
    await expect(requester.ask(1)).rejects.toMatchObject({ type: 'ConfigurationError' });
    expect(await reasons(setting)).toEqual([
      expect.stringContaining('the handler of a responder returns the answer itself'),
    ]);
  });
});

describe('a request that cannot be answered', () => {
  test('names no address: it is dead-lettered, and its handler is not run', async () => {
    const setting = await onMemory({ retry: fixed(5, '10ms') });
    const { mq, queue } = setting;
    const handler = vi.fn(() => 'yes');
    await using responder = await respond(mq, queue, handler);
    const requests = mq.publisher({ routingKey: queue });
    await requests.send({});
    await requests.send({}, { headers: { 'acemq-reply-to': 'x'.repeat(300) } });
    expect(await reasons(setting, 2)).toEqual([
      'the handler rejected it: FatalError: there is no reply address: the header acemq-reply-to names no queue, and the property reply-to names no queue',
      expect.stringContaining('the header acemq-reply-to takes more than 255 bytes'),
    ]);
    expect(handler).not.toHaveBeenCalled();
    expect(responder).toMatchObject({ unanswerable: 2, answered: 0, failed: 0 });
  });

  test('that cannot be decoded is parked, as any message', async () => {
    const { mq, broker, queue } = await onMemory();
    await using responder = await respond(mq, queue, () => 'yes');
    await mq.publishRaw('', queue, { body: Buffer.from('{'), contentType: 'application/json', headers: {} });
    await vi.waitFor(() => expect(broker.depth(`${queue}.parked`)).toBe(1), PATIENCE);
    expect(responder).toMatchObject({ answered: 0, failed: 0, unanswerable: 0 });
  });
});

describe('a reply that cannot be sent', () => {
  test('has the request tried again, and is not counted', async () => {
    const setting = await onMemory();
    const { mq, broker, queue, metrics } = setting;
    const policy = fixed(3, '1ms');
    let runs = 0;
    await using responder = await respond(
      mq,
      queue,
      () => {
        runs += 1;
        return runs;
      },
      { retry: policy },
    );
    await using requester = await Requester.open(mq, { routingKey: queue });
    broker.nackNext(1, requester.replyQueue);
    expect(await requester.ask(1)).toBe(2);
    expect(responder).toMatchObject({ answered: 1, failed: 0 });
    expect(metrics.counts.get(`acemq.consume.total{outcome="retried",queue="${queue}"}`)).toBe(1);
  });

  test('out of attempts, dead-letters the request with the reason', async () => {
    const setting = await onMemory();
    const { mq, broker, queue } = setting;
    await using responder = await respond(mq, queue, () => 1, { retry: fixed(2, '1ms') });
    await mq.declare(topology().queue('answers', { type: 'classic' }));
    broker.nackNext(2, 'answers');
    await mq.publisher({ routingKey: queue }).send({}, { replyTo: 'answers' });
    const [reason] = await reasons(setting);
    expect(reason).toMatch(
      /^exhausted 2 attempts: Error: the reply could not be sent to "answers" \(PublishError: /,
    );
    expect(responder).toMatchObject({ answered: 0, failed: 0 });
  });

  test('is, where it was to say that the responder failed, tried again too', async () => {
    const setting = await onMemory();
    const { mq, broker, queue } = setting;
    let runs = 0;
    await using responder = await respond(
      mq,
      queue,
      () => {
        runs += 1;
        throw new FatalError('never');
      },
      { retry: fixed(3, '1ms') },
    );
    await using requester = await Requester.open(mq, { routingKey: queue });
    broker.nackNext(1, requester.replyQueue);
    await expect(requester.ask(1)).rejects.toMatchObject({ type: 'FatalError', message: 'never' });
    expect(await reasons(setting)).toEqual(['the handler rejected it: FatalError: never']);
    expect(runs).toBe(2);
    expect(responder).toMatchObject({ answered: 0, failed: 1 });
  });
});

describe('consuming', () => {
  test('takes the options of a consumer', async () => {
    const { mq, queue } = await onMemory();
    const gate = deferred();
    let most = 0;
    let now = 0;
    await using responder = await respond<number, number>(
      mq,
      queue,
      async ({ payload }) => {
        now += 1;
        most = Math.max(most, now);
        await gate.promise;
        now -= 1;
        return payload;
      },
      { concurrency: 3, declare: false, codec: jsonCodec() },
    );
    await using requester = await Requester.open<number, number>(mq, { routingKey: queue });
    const answers = [1, 2, 3, 4, 5].map((number) => requester.ask(number));
    await vi.waitFor(() => expect(most).toBe(3), PATIENCE);
    gate.resolve();
    expect(await Promise.all(answers)).toEqual([1, 2, 3, 4, 5]);
    expect(responder.answered).toBe(5);
    expect(await mq.queueExists(`${queue}.dlq`)).toBe(false);
  });

  test('a close waits for the handlers that run, and for their replies', async () => {
    const { mq, queue } = await onMemory();
    const gate = deferred();
    const running = deferred();
    const responder = await respond(mq, queue, async () => {
      running.resolve();
      await gate.promise;
      return 'yes';
    });
    await using requester = await Requester.open(mq, { routingKey: queue });
    const answer = requester.ask(1);
    await running.promise;
    const closing = responder.close();
    gate.resolve();
    expect(await closing).toEqual({ finished: true, unsettled: 0 });
    expect(await answer).toBe('yes');
  });
});
