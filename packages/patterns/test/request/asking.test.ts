import { jsonCodec } from '@acemq/amqp';
import { type Codec, DecodeError, type StandardSchema, topology } from '@acemq/core';
import { describe, expect, test, vi } from 'vitest';
import { Requester, respond } from '../../src/request/index.ts';
import { deferred, loseLinks, onManualTime, onMemory, PATIENCE, replyByHand, type Sum } from './setting.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lets what has been set going come to rest. */
async function rest(): Promise<void> {
  for (let count = 0; count < 20; count += 1) await turn();
}

describe('a request on the wire', () => {
  test('has an id and a correlation of its own, and its address twice', async () => {
    const { mq, broker, queue } = await onMemory();
    const requester = await Requester.open(mq, { routingKey: queue });
    const asked = Promise.allSettled([
      requester.ask({ a: 1 }),
      requester.ask({ a: 2 }, { headers: { tenant: 'x' } }),
    ]);
    await vi.waitFor(() => expect(broker.depth(queue)).toBe(2), PATIENCE);
    const [first, second] = broker.messages(queue);
    expect(first?.headers).toMatchObject({
      'acemq-reply-to': requester.replyQueue,
      'x-acemq-id': first?.messageId,
      'x-acemq-correlation': first?.messageId,
      'x-acemq-type': queue,
    });
    expect(first?.replyTo).toBe(requester.replyQueue);
    expect(second?.messageId).not.toBe(first?.messageId);
    expect(second?.headers).toMatchObject({ tenant: 'x', 'acemq-reply-to': requester.replyQueue });
    expect(first?.headers).not.toHaveProperty('tenant');
    await requester.close();
    await asked;
  });

  test('says what its options say, of the requester and of the ask', async () => {
    const { mq, broker, queue } = await onMemory();
    await using requester = await Requester.open(mq, {
      routingKey: 'elsewhere',
      type: 'sum',
      version: 2,
      priority: 3,
    });
    const options = { routingKey: queue, causationId: 'c-1', version: 3, timeout: '1s' } as const;
    requester.ask({}, options).catch(() => {});
    await vi.waitFor(() => expect(broker.depth(queue)).toBe(1), PATIENCE);
    expect(broker.messages(queue)[0]).toMatchObject({
      priority: 3,
      headers: { 'x-acemq-type': 'sum', 'x-acemq-version': 3, 'x-acemq-causation': 'c-1' },
    });
  });

  test('through an exchange it goes where the exchange routes it', async () => {
    const { mq, queue } = await onMemory();
    await mq.declare(topology().exchange('questions', 'topic').queue('q').bind('q', 'questions', 'sum.#'));
    await using responder = await respond<Sum, number>(mq, 'q', ({ payload }) => payload.a + payload.b);
    await using requester = await Requester.open<Sum, number>(mq, {
      exchange: 'questions',
      routingKey: 'sum.two',
    });
    expect(await requester.ask({ a: 1, b: 2 })).toBe(3);
    expect(responder.answered).toBe(1);
    await expect(requester.ask({ a: 1, b: 2 }, { routingKey: queue })).rejects.toMatchObject({
      code: 'ACEMQ_PUBLISH_UNROUTABLE',
    });
  });

  test('an acemq-reply-to that a caller hands on is written over', async () => {
    const { mq, broker, queue } = await onMemory();
    await using requester = await Requester.open(mq, { routingKey: queue });
    requester.ask({}, { headers: { 'acemq-reply-to': 'of the request before' } }).catch(() => {});
    await vi.waitFor(() => expect(broker.depth(queue)).toBe(1), PATIENCE);
    expect(broker.messages(queue)[0]?.headers['acemq-reply-to']).toBe(requester.replyQueue);
  });
});

describe('the reply queue', () => {
  test('one of its own is exclusive, transient, goes with its consumer and has no arguments', async () => {
    const { mq, broker, queue } = await onMemory();
    const declared = vi.spyOn(mq, 'declare');
    const requester = await Requester.open(mq, { routingKey: queue });
    expect(requester.replyQueue).toMatch(/^acemq-reply-[0-9a-f]{32}$/);
    const [plan] = declared.mock.calls[0] ?? [];
    expect(plan).toMatchObject({
      queues: [
        {
          name: requester.replyQueue,
          spec: { durable: false, autoDelete: true, exclusive: true, arguments: {} },
        },
      ],
    });
    expect(broker.queues.map(({ name }) => name).sort()).toEqual([requester.replyQueue, queue].sort());
    await requester.close();
    expect(broker.queues.map(({ name }) => name)).toEqual([queue]);
  });

  test('two requesters have two', async () => {
    const { mq, queue } = await onMemory();
    const [first, second] = await Promise.all([
      Requester.open(mq, { routingKey: queue }),
      Requester.open(mq, { routingKey: queue }),
    ]);
    expect(first.replyQueue).not.toBe(second.replyQueue);
  });

  test('one with a name is durable, of type quorum, without companions, and stays', async () => {
    const { mq, broker, queue } = await onMemory();
    const requester = await Requester.open(mq, { routingKey: queue, replyQueue: 'answers' });
    expect(requester.replyQueue).toBe('answers');
    expect(broker.queues.find(({ name }) => name === 'answers')).toMatchObject({ type: 'quorum' });
    await requester.close();
    expect(broker.queues.map(({ name }) => name).sort()).toEqual(['answers', queue].sort());
  });

  test('declare: false takes the one that is there, of whatever type', async () => {
    const { mq, broker, queue } = await onMemory();
    await mq.declare(topology().queue('answers', { type: 'classic' }));
    await using respondsSum = await respond<Sum, number>(mq, queue, ({ payload }) => payload.a);
    await using requester = await Requester.open<Sum, number>(mq, {
      routingKey: queue,
      replyQueue: 'answers',
      declare: false,
    });
    expect(await requester.ask({ a: 4, b: 0 })).toBe(4);
    expect(broker.queues.find(({ name }) => name === 'answers')).toMatchObject({ type: 'classic' });
    expect(respondsSum.running).toBe(true);
  });

  test('declare: false without one rejects, and leaves nothing behind', async () => {
    const { mq, queue } = await onMemory();
    await expect(
      Requester.open(mq, { routingKey: queue, replyQueue: 'answers', declare: false }),
    ).rejects.toMatchObject({ code: 'ACEMQ_BROKER_REFUSED', replyCode: 404 });
    expect(mq.consumers).toEqual([]);
  });
});

describe('a reply', () => {
  test('is matched by its correlation, or by its causation', async () => {
    const { mq, broker, queue } = await onMemory();
    await using requester = await Requester.open<unknown, string>(mq, { routingKey: queue });
    const address = requester.replyQueue;
    const answers = [requester.ask(1), requester.ask(2)];
    await vi.waitFor(() => expect(broker.depth(queue)).toBe(2), PATIENCE);
    const ids = broker.messages(queue).map(({ messageId }) => messageId as string);
    await replyByHand(mq, { address, correlationId: 'its own', causationId: ids[1] as string }, 'two');
    await replyByHand(mq, { address, correlationId: ids[0] as string }, 'one');
    expect(await Promise.all(answers)).toEqual(['one', 'two']);
    expect(requester).toMatchObject({ answered: 2, outstanding: 0, unmatched: 0 });
  });

  test('comes as a whole to who asks for it', async () => {
    const { mq, queue } = await onMemory();
    await using _responder = await respond<Sum, number>(mq, queue, ({ payload: { a, b } }) => a + b);
    await using requester = await Requester.open<Sum, number>(mq, { routingKey: queue });
    const { payload, envelope } = await requester.askForReply({ a: 1, b: 2 });
    expect(payload).toBe(3);
    expect(envelope).toMatchObject({ type: `${queue}.reply`, origin: mq.origin });
    expect(envelope.causationId).toBe(envelope.correlationId);
  });

  test('that nobody waits for is accepted, and counted', async () => {
    const { mq, broker, queue } = await onMemory();
    await using requester = await Requester.open(mq, { routingKey: queue });
    await replyByHand(mq, { address: requester.replyQueue, correlationId: 'nobody' }, 'a');
    await vi.waitFor(() => expect(requester.unmatched).toBe(1), PATIENCE);
    expect(requester).toMatchObject({ late: 0, answered: 0 });
    expect(broker.depth(requester.replyQueue)).toBe(0);
  });

  test('after the first is one that nobody waits for', async () => {
    const { mq, broker, queue } = await onMemory();
    await using requester = await Requester.open<unknown, string>(mq, { routingKey: queue });
    const answer = requester.ask(1);
    await vi.waitFor(() => expect(broker.depth(queue)).toBe(1), PATIENCE);
    const correlationId = broker.messages(queue)[0]?.messageId as string;
    const request = { address: requester.replyQueue, correlationId };
    await replyByHand(mq, request, 'first');
    await replyByHand(mq, request, 'second');
    expect(await answer).toBe('first');
    await vi.waitFor(() => expect(requester.unmatched).toBe(1), PATIENCE);
    expect(requester).toMatchObject({ late: 0, answered: 1 });
  });

  test('that says that the responder failed rejects with its words, also where its body cannot be read', async () => {
    const { mq, broker, queue } = await onMemory();
    await using requester = await Requester.open(mq, { routingKey: queue });
    const answer = requester.ask(1);
    await vi.waitFor(() => expect(broker.depth(queue)).toBe(1), PATIENCE);
    await mq.publishRaw('', requester.replyQueue, {
      body: Buffer.from('{'),
      contentType: 'application/json',
      headers: {
        'x-acemq-correlation': broker.messages(queue)[0]?.messageId ?? '',
        'acemq-error': 'RangeError: too large',
      },
    });
    await expect(answer).rejects.toMatchObject({
      code: 'ACEMQ_RESPONDER',
      type: 'RangeError',
      message: 'too large',
    });
    expect(requester.answered).toBe(1);
  });

  test('that cannot be decoded rejects, and is not set aside', async () => {
    const { mq, broker, metrics, queue } = await onMemory();
    await using requester = await Requester.open(mq, { routingKey: queue });
    const answer = requester.ask(1);
    await vi.waitFor(() => expect(broker.depth(queue)).toBe(1), PATIENCE);
    await mq.publishRaw('', requester.replyQueue, {
      body: Buffer.from('{'),
      contentType: 'application/json',
      headers: { 'x-acemq-correlation': broker.messages(queue)[0]?.messageId ?? '' },
    });
    await expect(answer).rejects.toBeInstanceOf(DecodeError);
    expect(requester).toMatchObject({ answered: 1, failed: 0 });
    await rest();
    expect([...metrics.counts.keys()].filter((key) => key.includes('dead.lettered'))).toEqual([]);
    expect(mq.consumers[0]?.held).toBe(0);
  });

  test.each<[string, Codec]>([
    [
      'throws something of its own',
      {
        ...ofJson(),
        decode: () => {
          throw new TypeError('broken');
        },
      },
    ],
    ['answers with a promise', { ...ofJson(), decode: () => Promise.reject(new Error('late')) }],
  ])('whose codec %s rejects with DecodeError', async (_what, codec) => {
    const { mq, queue } = await onMemory();
    await using _responder = await respond(mq, queue, () => 1);
    await using requester = await Requester.open(mq, { routingKey: queue, codec });
    await expect(requester.ask(1)).rejects.toMatchObject({ code: 'ACEMQ_DECODE' });
  });
});

function ofJson(): Codec {
  const codec = jsonCodec();
  return {
    contentType: codec.contentType,
    encode: (payload) => codec.encode(payload),
    decode: (body, contentType) => codec.decode(body, contentType),
    canDecode: (contentType) => codec.canDecode(contentType),
  };
}

/** A schema of numbers, that may take its time. */
function numbers(wait?: Promise<void>): StandardSchema<unknown, number> {
  const check = (value: unknown) =>
    typeof value === 'number' ? { value: value * 10 } : { issues: [{ message: 'expected a number' }] };
  return {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => (wait === undefined ? check(value) : wait.then(() => check(value))),
    },
  };
}

describe('an interceptor', () => {
  test('that fails on a reply costs its ask the time-out, and nothing else', async () => {
    const { mq, queue } = await onMemory();
    await using _responder = await respond(mq, queue, () => 'yes');
    await using requester = await Requester.open(mq, { routingKey: queue });
    const remove = mq.interceptConsume(async (context, next) => {
      if (context.queue === requester.replyQueue) throw new Error('not this one');
      return next();
    });
    await expect(requester.ask(1, { timeout: 100 })).rejects.toMatchObject({ code: 'ACEMQ_REQUEST_TIMEOUT' });
    remove();
    expect(await requester.ask(2)).toBe('yes');
  });

  test('that sends a request elsewhere gives it the type of there, unless it has one', async () => {
    const { mq, broker, queue } = await onMemory();
    await mq.declare(topology().queue('elsewhere'));
    await using requester = await Requester.open(mq, { routingKey: queue });
    mq.interceptPublish(async (context, next) => {
      context.routingKey = 'elsewhere';
      await next();
    });
    requester.ask(1).catch(() => {});
    requester.ask(2, { type: 'sum' }).catch(() => {});
    await vi.waitFor(() => expect(broker.depth('elsewhere')).toBe(2), PATIENCE);
    const types = broker.messages('elsewhere').map(({ headers }) => headers['x-acemq-type']);
    expect(types).toEqual(['elsewhere', 'sum']);
  });

  test('may change the reply before the asker gets it', async () => {
    const { mq, queue } = await onMemory();
    await using _responder = await respond(mq, queue, () => 'yes');
    await using requester = await Requester.open(mq, { routingKey: queue });
    mq.interceptConsume((context, next) => {
      if (context.queue === requester.replyQueue) context.payload = `${context.payload}, changed`;
      return next();
    });
    expect(await requester.ask(1)).toBe('yes, changed');
  });
});

describe('the schema of the replies', () => {
  test.each([
    ['at once', undefined],
    ['later', Promise.resolve()],
  ])('answering %s, it makes the answer, or rejects what does not fit', async (_when, wait) => {
    const { mq, queue } = await onMemory();
    await using _responder = await respond(mq, queue, ({ payload }) => payload);
    await using requester = await Requester.open(mq, { routingKey: queue, replySchema: numbers(wait) });
    expect(await requester.ask(4)).toBe(40);
    await expect(requester.ask('four')).rejects.toMatchObject({
      code: 'ACEMQ_DECODE',
      message: 'the payload does not fit its schema: expected a number',
    });
    expect(requester).toMatchObject({ answered: 2, outstanding: 0 });
  });

  test('that never answers ends at the deadline, and a repetition meanwhile is unmatched', async () => {
    const { mq, clock, broker, queue } = await onManualTime();
    const requester = await Requester.open(mq, {
      routingKey: queue,
      replySchema: numbers(new Promise(() => undefined)),
    });
    const answer = requester.ask(1);
    answer.catch(() => {});
    await clock.advance(10);
    const correlationId = broker.messages(queue)[0]?.messageId as string;
    await replyByHand(mq, { address: requester.replyQueue, correlationId }, 1);
    await replyByHand(mq, { address: requester.replyQueue, correlationId }, 1);
    await clock.advance(10);
    expect(requester).toMatchObject({ outstanding: 1, unmatched: 1 });
    await clock.advance(30_000);
    await expect(answer).rejects.toThrow('the schema of the replies has not answered');
    expect(requester).toMatchObject({ timedOut: 1, answered: 0, late: 0 });
  });
});

describe('a deadline', () => {
  test('is 30 s from the ask, and may be given otherwise', async () => {
    const { mq, clock, queue } = await onManualTime();
    const requester = await Requester.open(mq, { routingKey: queue });
    const ended: string[] = [];
    requester.ask(1).catch((error) => ended.push(`usual: ${error.code}`));
    requester.ask(2, { timeout: '5s' }).catch((error) => ended.push(`own: ${error.code}`));
    await clock.advance(4_999);
    expect(ended).toEqual([]);
    await clock.advance(1);
    expect(ended).toEqual(['own: ACEMQ_REQUEST_TIMEOUT']);
    await clock.advance(24_999);
    expect(ended).toHaveLength(1);
    await clock.advance(1);
    expect(ended).toEqual(['own: ACEMQ_REQUEST_TIMEOUT', 'usual: ACEMQ_REQUEST_TIMEOUT']);
    expect(requester).toMatchObject({ timedOut: 2, failed: 0, answered: 0, outstanding: 0 });
  });

  test('says which request had no reply, and that it may have been worked', async () => {
    const { mq, clock, broker, queue } = await onManualTime();
    const requester = await Requester.open(mq, { routingKey: queue, timeout: '2s' });
    const answer = requester.ask(1);
    answer.catch(() => {});
    await clock.advance(2_000);
    await expect(answer).rejects.toMatchObject({
      retryable: true,
      message: `no reply to the request ${broker.messages(queue)[0]?.messageId} (${queue}) came within 2s. It may have been worked, or be worked yet`,
    });
  });

  test('once over, its reply is late: counted, accepted, and handed to nobody', async () => {
    const { mq, clock, broker, queue } = await onManualTime();
    const requester = await Requester.open(mq, { routingKey: queue, timeout: '1s' });
    const answer = requester.ask(1);
    answer.catch(() => {});
    await clock.advance(1_000);
    await expect(answer).rejects.toMatchObject({ code: 'ACEMQ_REQUEST_TIMEOUT' });
    const correlationId = broker.messages(queue)[0]?.messageId as string;
    await replyByHand(mq, { address: requester.replyQueue, correlationId }, 'late');
    await replyByHand(mq, { address: requester.replyQueue, correlationId }, 'and again');
    await clock.advance(10);
    expect(requester).toMatchObject({ unmatched: 2, late: 1, timedOut: 1, answered: 0 });
    expect(broker.depth(requester.replyQueue)).toBe(0);
  });

  test('a thousand of them take one timer', async () => {
    const { mq, clock, queue } = await onManualTime();
    const requester = await Requester.open(mq, { routingKey: queue });
    const before = clock.timers;
    const asked = Promise.allSettled(Array.from({ length: 1000 }, (_, number) => requester.ask(number)));
    // One for the replies, one for the confirms.
    expect(clock.timers - before).toBeLessThanOrEqual(2);
    await requester.close();
    for (const one of await asked) expect(one.status).toBe('rejected');
  });
});

describe('a signal', () => {
  test('ends the wait at once, and the reply that comes then is late', async () => {
    const { mq, broker, queue } = await onMemory();
    await using requester = await Requester.open(mq, { routingKey: queue });
    const aborting = new AbortController();
    const answer = requester.ask(1, { signal: aborting.signal });
    await vi.waitFor(() => expect(broker.depth(queue)).toBe(1), PATIENCE);
    aborting.abort('enough');
    await expect(answer).rejects.toMatchObject({ code: 'ACEMQ_ABORTED', cause: 'enough' });
    expect(requester).toMatchObject({ failed: 1, timedOut: 0, outstanding: 0 });
    const correlationId = broker.messages(queue)[0]?.messageId as string;
    await replyByHand(mq, { address: requester.replyQueue, correlationId }, 'late');
    await vi.waitFor(() => expect(requester).toMatchObject({ unmatched: 1, late: 1 }), PATIENCE);
  });

  test('that is aborted already sends nothing', async () => {
    const { mq, broker, queue } = await onMemory();
    await using requester = await Requester.open(mq, { routingKey: queue });
    await expect(requester.ask(1, { signal: AbortSignal.abort('no') })).rejects.toMatchObject({
      code: 'ACEMQ_ABORTED',
      message: 'the request was aborted before it was sent',
    });
    await rest();
    expect(broker.depth(queue)).toBe(0);
    expect(requester.failed).toBe(1);
  });

  test('is not listened to any more once the reply is there', async () => {
    const { mq, queue } = await onMemory();
    await using _responder = await respond(mq, queue, () => 1);
    await using requester = await Requester.open(mq, { routingKey: queue });
    const aborting = new AbortController();
    const removed = vi.spyOn(aborting.signal, 'removeEventListener');
    expect(await requester.ask(1, { signal: aborting.signal })).toBe(1);
    expect(removed).toHaveBeenCalledTimes(1);
    aborting.abort();
    expect(requester).toMatchObject({ answered: 1, failed: 0 });
  });

  test('takes a request back that waits for a connection', async () => {
    const { mq, broker, queue } = await onMemory({ reconnect: { initial: 50, max: 50 } });
    await using requester = await Requester.open(mq, { routingKey: queue });
    broker.refuseDials('unreachable');
    broker.dropLinks();
    const aborting = new AbortController();
    const answer = requester.ask(1, { signal: aborting.signal });
    answer.catch(() => {});
    await rest();
    aborting.abort();
    await expect(answer).rejects.toMatchObject({ code: 'ACEMQ_ABORTED' });
    broker.acceptDials();
    await vi.waitFor(() => expect(mq.state).toBe('connected'), PATIENCE);
    await mq.publisher({ routingKey: queue }).send('after it');
    expect(broker.depth(queue)).toBe(1);
  });
});

describe('a request that does not get out', () => {
  test('rejects as unroutable where there is no queue for it', async () => {
    const { mq } = await onMemory();
    await using requester = await Requester.open(mq, { routingKey: 'nobody' });
    await expect(requester.ask(1)).rejects.toMatchObject({ code: 'ACEMQ_PUBLISH_UNROUTABLE' });
    expect(requester).toMatchObject({ failed: 1, outstanding: 0 });
  });

  test('rejects where the broker nacks it', async () => {
    const { mq, broker, queue } = await onMemory();
    await using requester = await Requester.open(mq, { routingKey: queue });
    broker.nackNext();
    await expect(requester.ask(1)).rejects.toMatchObject({ code: 'ACEMQ_PUBLISH_NACKED' });
  });

  test('rejects at once where the broker has blocked publishing', async () => {
    const { mq, broker, queue } = await onMemory();
    await using requester = await Requester.open(mq, { routingKey: queue, timeout: '5s' });
    broker.block();
    mq.publisher({ routingKey: queue })
      .send('it finds out')
      .catch(() => {});
    await vi.waitFor(() => expect(mq.blocked).toBe(true), PATIENCE);
    await expect(requester.ask(1)).rejects.toMatchObject({ code: 'ACEMQ_PUBLISHING_PAUSED' });
    expect(requester.failed).toBe(1);
    broker.unblock();
  });

  test('rejects where the request cannot be encoded, or does not fit its schema', async () => {
    const { mq, broker, queue } = await onMemory();
    await using requester = await Requester.open<unknown>(mq, { routingKey: queue, schema: numbers() });
    await expect(requester.ask('four')).rejects.toMatchObject({ code: 'ACEMQ_ENCODE' });
    await using other = await Requester.open<unknown>(mq, { routingKey: queue });
    await expect(other.ask(1n)).rejects.toMatchObject({ code: 'ACEMQ_ENCODE' });
    expect(broker.depth(queue)).toBe(0);
    expect([requester.failed, other.failed]).toEqual([1, 1]);
  });

  test('that an interceptor refuses rejects with what it threw', async () => {
    const { mq, queue } = await onMemory();
    await using requester = await Requester.open(mq, { routingKey: queue });
    mq.interceptPublish(async () => {
      throw new RangeError('not today');
    });
    await expect(requester.ask(1)).rejects.toThrow(new RangeError('not today'));
  });
});

describe('closing', () => {
  test('rejects what waits, and says why', async () => {
    const { mq, queue } = await onMemory();
    const requester = await Requester.open(mq, { routingKey: queue });
    const answer = requester.ask(1);
    answer.catch(() => {});
    await requester.close();
    await requester.close();
    await expect(answer).rejects.toMatchObject({
      code: 'ACEMQ_REQUEST_TIMEOUT',
      message: expect.stringContaining('the requester was closed before the reply'),
    });
    expect(requester).toMatchObject({ failed: 1, timedOut: 0, outstanding: 0 });
    expect(mq.consumers).toEqual([]);
  });

  test('what is asked then rejects, and counts as failed', async () => {
    const { mq, broker, queue } = await onMemory();
    const requester = await Requester.open(mq, { routingKey: queue });
    await requester.close();
    await expect(requester.ask(1)).rejects.toMatchObject({ code: 'ACEMQ_CONNECTION_CLOSED' });
    expect(requester.failed).toBe(1);
    expect(broker.depth(queue)).toBe(0);
    expect(String(requester)).toBe(`Requester(${queue}, closed)`);
  });

  test('the connection closed rejects what waits too', async () => {
    const { mq, queue } = await onMemory();
    const requester = await Requester.open(mq, { routingKey: queue });
    const answer = requester.ask(1);
    answer.catch(() => {});
    await mq.close();
    await expect(answer).rejects.toMatchObject({
      code: 'ACEMQ_REQUEST_TIMEOUT',
      message: expect.stringContaining('the connection was closed before the reply'),
    });
    await expect(requester.ask(1)).rejects.toMatchObject({ code: 'ACEMQ_CONNECTION_CLOSED' });
    await requester.close();
  });

  test('of the connection waits for a handler that asks, and the handler gets its answer', async () => {
    const { mq, broker, queue } = await onMemory();
    const { mq: elsewhere } = await onMemory({}, broker);
    await mq.declare(topology().queue('outer'));
    const requester = await Requester.open<string, string>(mq, { routingKey: queue });
    const asking = deferred();
    const closed = deferred();
    const answers: string[] = [];
    await respond(mq, 'outer', async () => {
      asking.resolve();
      await closed.promise;
      answers.push(await requester.ask('one more, while it closes'));
      return 'done';
    });
    await using outer = await Requester.open(elsewhere, { routingKey: 'outer' });
    const answer = outer.ask(1);
    await asking.promise;
    const closing = mq.close({ timeout: '10s' });
    await using _inner = await respond(elsewhere, queue, () => 'inner');
    closed.resolve();
    expect(await answer).toBe('done');
    expect(answers).toEqual(['inner']);
    expect(await closing).toEqual({ finished: true, unsettled: 0, unconfirmed: 0 });
  });

  test('leaves no timer and no listener', async () => {
    const { mq, clock, queue } = await onManualTime();
    const before = clock.timers;
    const requester = await Requester.open(mq, { routingKey: queue });
    const asked = Promise.allSettled([requester.ask(1), requester.ask(2, { timeout: '7s' })]);
    await clock.advance(100);
    const closing = requester.close();
    await clock.advance(100);
    await closing;
    await asked;
    await clock.advance(60_000);
    expect(clock.timers).toBe(before);
  });

  test('the connection alone leaves no timer either', async () => {
    const { mq, clock, queue } = await onManualTime();
    const requester = await Requester.open(mq, { routingKey: queue });
    const asked = Promise.allSettled([requester.ask(1), requester.ask(2, { timeout: '7s' })]);
    await clock.advance(10);
    const closing = mq.close();
    await clock.advance(100);
    await closing;
    await asked;
    expect(clock.timers).toBe(0);
  });

  test('its queue is not declared again after a lost link', async () => {
    const setting = await onMemory();
    const { mq, broker, queue } = setting;
    const requester = await Requester.open(mq, { routingKey: queue });
    await requester.close();
    await loseLinks(setting);
    expect(broker.queues.map(({ name }) => name)).toEqual([queue]);
  });

  test('without a link it resolves at once, and its queue is forgotten all the same', async () => {
    const setting = await onMemory({ reconnect: { initial: 50, max: 50 } });
    const { mq, broker, queue } = setting;
    const requester = await Requester.open(mq, { routingKey: queue });
    let recovered = 0;
    mq.onState(({ type }) => {
      if (type === 'recovered') recovered += 1;
    });
    broker.refuseDials('unreachable');
    broker.dropLinks();
    const began = performance.now();
    await requester.close();
    expect(performance.now() - began).toBeLessThan(5_000);
    broker.acceptDials();
    await vi.waitFor(() => expect(recovered).toBe(2), PATIENCE);
    await vi.waitFor(() => expect(broker.queues.map(({ name }) => name)).toEqual([queue]), PATIENCE);
    await loseLinks(setting);
    expect(broker.queues.map(({ name }) => name)).toEqual([queue]);
  });
});
