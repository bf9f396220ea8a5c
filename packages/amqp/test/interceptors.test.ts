import {
  type AceMQError,
  type Ack,
  accept,
  ConfigurationError,
  type ConsumeContext,
  type ConsumeInterceptor,
  type Envelope,
  FatalError,
  fixed,
  HEADER_CORRELATION,
  HEADER_TYPE,
  type Message,
  type PublishInterceptor,
  PublishingPausedError,
  park,
  reject,
  retry,
  type Settlement,
  topology,
  withEnvelope,
} from '@acemq/core';
import {
  METRIC_CONSUME_DURATION,
  METRIC_CONSUME_TOTAL,
  METRIC_PUBLISH_DURATION,
  METRIC_PUBLISH_TOTAL,
  metricKey,
} from '@acemq/observe';
import { describe, expect, it, vi } from 'vitest';
import { deferred, onManualTime, onMemory, type Setting } from './setting.ts';

const textOf = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

/** A setting whose queue is there. */
async function withQueue(setting = onMemory()): Promise<Setting> {
  const made = await setting;
  await made.mq.declare(topology().queue(made.queue));
  return made;
}

const sends = ({ metrics, queue }: Setting, outcome: string, exchange = ''): number =>
  metrics.counts.get(metricKey(METRIC_PUBLISH_TOTAL, { exchange, 'routing.key': queue, outcome })) ?? 0;

const errorOf = (work: Promise<unknown>): Promise<AceMQError> =>
  work.then(
    () => Promise.reject(new Error('it did not reject')),
    (error: AceMQError) => error,
  );

describe('publish interceptors', () => {
  it('stand around the publish in the order in which they were added', async () => {
    const { mq, queue } = await withQueue();
    const steps: string[] = [];
    for (const name of ['outer', 'inner']) {
      mq.interceptPublish(async (_context, next) => {
        steps.push(`${name} before`);
        await next();
        steps.push(`${name} after`);
      });
    }
    await mq.publisher({ routingKey: queue }).send(1);
    expect(steps).toEqual(['outer before', 'inner before', 'inner after', 'outer after']);
  });

  it('are told what is to be sent, and see the confirm when next resolves', async () => {
    const { mq, broker, queue } = await withQueue();
    const seen: unknown[] = [];
    mq.interceptPublish(async (context, next) => {
      const { exchange, routingKey, payload, persistent, mandatory, replyTo } = context;
      seen.push({ exchange, routingKey, payload, persistent, mandatory, replyTo }, broker.depth(queue));
      await next();
      seen.push(broker.depth(queue));
    });
    await mq.publisher({ routingKey: queue, persistent: false }).send({ a: 1 }, { replyTo: 'answers' });
    expect(seen).toEqual([
      {
        exchange: '',
        routingKey: queue,
        payload: { a: 1 },
        persistent: false,
        mandatory: true,
        replyTo: 'answers',
      },
      0,
      1,
    ]);
  });

  it('may change all of it, and what they leave is what goes out', async () => {
    const setting = await withQueue();
    const { mq, broker, queue } = setting;
    await mq.declare(
      topology().exchange('events', 'direct').queue(`${queue}-2`).bind(`${queue}-2`, 'events', 'moved'),
    );
    mq.interceptPublish(async (context, next) => {
      context.exchange = 'events';
      context.routingKey = 'moved';
      context.payload = { changed: true };
      context.replyTo = 'elsewhere';
      context.envelope = withEnvelope(context.envelope, {
        correlationId: 'flow-1',
        headers: { tenant: 'acme' },
      });
      await next();
    });
    const envelope = await mq.publisher({ routingKey: queue }).send({ changed: false });
    const [message] = broker.messages(`${queue}-2`);
    expect(textOf(message?.body)).toBe('{"changed":true}');
    expect(message).toMatchObject({ exchange: 'events', routingKey: 'moved', replyTo: 'elsewhere' });
    expect(message?.headers).toMatchObject({ tenant: 'acme', [HEADER_CORRELATION]: 'flow-1' });
    // The type was the routing key, and follows it.
    expect(message?.headers[HEADER_TYPE]).toBe('moved');
    expect(envelope).toMatchObject({ correlationId: 'flow-1', type: 'moved' });
    expect(broker.depth(queue)).toBe(0);
  });

  it('do not change a type that was given when they change the routing key', async () => {
    const { mq, broker, queue } = await withQueue();
    mq.interceptPublish((context, next) => {
      context.routingKey = queue;
      return next();
    });
    await mq.publisher({ routingKey: 'somewhere', type: 'somewhere' }).send(1);
    expect(broker.messages(queue)[0]?.headers[HEADER_TYPE]).toBe('somewhere');
  });

  it('may let a message reach no queue, or forbid it', async () => {
    const { mq } = await withQueue();
    const remove = mq.interceptPublish((context, next) => {
      context.mandatory = !context.mandatory;
      return next();
    });
    const events = mq.publisher({ routingKey: 'nowhere' });
    await events.send(1);
    await expect(events.send(1, { allowUnroutable: true })).rejects.toMatchObject({ unroutable: true });
    remove();
    await expect(events.send(1)).rejects.toMatchObject({ unroutable: true });
  });

  it('cannot send it to where the publisher could not', async () => {
    const setting = await withQueue();
    const { mq, queue } = setting;
    const changes: Partial<Parameters<PublishInterceptor>[0]>[] = [
      { exchange: '', routingKey: '' },
      { routingKey: 'k'.repeat(256) },
      { replyTo: 'amq.rabbitmq.reply-to' },
    ];
    for (const change of changes) {
      const remove = mq.interceptPublish((context, next) => next.call(Object.assign(context, change)));
      await expect(mq.publisher({ routingKey: queue }).send(1)).rejects.toThrow(ConfigurationError);
      remove();
    }
    expect(mq.outstanding).toBe(0);
  });

  it('leave no empty reply address behind, which others would take for one', async () => {
    const { mq, broker, queue } = await withQueue();
    mq.interceptPublish((context, next) => {
      context.replyTo = '';
      return next();
    });
    await mq.publisher({ routingKey: queue }).send(1, { replyTo: 'answers' });
    expect(broker.messages(queue)[0]?.replyTo).toBeUndefined();
  });

  it('see the payload before its schema does, and the schema sees what they leave', async () => {
    const { mq, broker, queue } = await withQueue();
    const schema = {
      '~standard': {
        version: 1 as const,
        vendor: 'test',
        validate: async (value: unknown) =>
          value === 'good' ? { value } : { issues: [{ message: `not ${String(value)}` }] },
      },
    };
    const orders = mq.publisher({ routingKey: queue, schema });
    const remove = mq.interceptPublish((context, next) => {
      context.payload = 'good';
      return next();
    });
    await orders.send('bad');
    remove();
    mq.interceptPublish((context, next) => {
      context.payload = 'bad';
      return next();
    });
    await expect(orders.send('good')).rejects.toMatchObject({ code: 'ACEMQ_ENCODE' });
    expect(broker.depth(queue)).toBe(1);
  });

  it('refuse by throwing: the send rejects with that very error, nothing is written, and it counts as failed', async () => {
    const setting = await withQueue();
    const { mq, broker, queue } = setting;
    const refusal = new Error('not on a Sunday');
    mq.interceptPublish(async () => {
      throw refusal;
    });
    expect(await errorOf(mq.publisher({ routingKey: queue }).send(1))).toBe(refusal);
    expect(broker.depth(queue)).toBe(0);
    expect([sends(setting, 'failed'), sends(setting, 'confirmed'), sends(setting, 'refused')]).toEqual([
      1, 0, 0,
    ]);
  });

  it('refuse by throwing in place of a promise, too', async () => {
    const setting = await withQueue();
    setting.mq.interceptPublish(() => {
      throw new Error('at once');
    });
    await expect(setting.mq.publisher({ routingKey: setting.queue }).send(1)).rejects.toThrow('at once');
    expect(sends(setting, 'failed')).toBe(1);
  });

  it('count as refused what they refuse because publishing is paused', async () => {
    const setting = await withQueue();
    setting.mq.interceptPublish(async () => {
      throw new PublishingPausedError('paused by hand');
    });
    await expect(setting.mq.publisher({ routingKey: setting.queue }).send(1)).rejects.toThrow(
      'paused by hand',
    );
    expect([sends(setting, 'refused'), sends(setting, 'failed')]).toEqual([1, 0]);
  });

  it('that end the publish without calling next are no success: nothing was sent', async () => {
    const setting = await withQueue();
    const { mq, broker, queue } = setting;
    mq.interceptPublish(async () => {});
    const error = await errorOf(mq.publisher({ routingKey: queue }).send(1));
    expect(error).toMatchObject({ code: 'ACEMQ_PUBLISH_FAILED', mayHaveArrived: false });
    expect(error.message).toContain('without calling next');
    expect(broker.depth(queue)).toBe(0);
    expect(sends(setting, 'failed')).toBe(1);
  });

  it('cannot send later what they have ended', async () => {
    const setting = await withQueue();
    const { mq, broker, queue } = setting;
    const gate = deferred();
    let late: Promise<void> | undefined;
    mq.interceptPublish(async (_context, next) => {
      late = gate.promise.then(next);
    });
    await expect(mq.publisher({ routingKey: queue }).send(1)).rejects.toThrow('without calling next');
    gate.resolve();
    await expect(late).rejects.toThrow(/next after it had returned/);
    expect(broker.depth(queue)).toBe(0);
    expect(sends(setting, 'failed')).toBe(1);
  });

  it('that call next twice are told so, and the message is sent once', async () => {
    const setting = await withQueue();
    const { mq, broker, queue } = setting;
    mq.interceptPublish(async (_context, next) => {
      await next();
      await next();
    });
    await expect(mq.publisher({ routingKey: queue }).send(1)).rejects.toThrow(/next twice/);
    expect(broker.depth(queue)).toBe(1);
    expect([sends(setting, 'confirmed'), sends(setting, 'failed')]).toEqual([1, 0]);
  });

  it('that call next twice at once send the message once, also while a schema takes its time', async () => {
    const setting = await withQueue();
    const { mq, broker, queue } = setting;
    const schema = {
      '~standard': { version: 1 as const, vendor: 'test', validate: async (value: unknown) => ({ value }) },
    };
    mq.interceptPublish(async (_context, next) => {
      await Promise.allSettled([next(), next()]);
    });
    await mq.publisher({ routingKey: queue, schema }).send(1);
    expect(broker.depth(queue)).toBe(1);
    expect(sends(setting, 'confirmed')).toBe(1);
  });

  it('cannot hide that the broker did not take the message', async () => {
    const setting = await withQueue();
    const { mq, queue, broker } = setting;
    mq.interceptPublish(async (_context, next) => {
      await next().catch(() => {});
    });
    broker.nackNext();
    await expect(mq.publisher({ routingKey: queue }).send(1)).rejects.toMatchObject({
      code: 'ACEMQ_PUBLISH_NACKED',
    });
    expect(sends(setting, 'failed')).toBe(1);
  });

  it('cannot hide that the message could not be encoded', async () => {
    const setting = await withQueue();
    setting.mq.interceptPublish(async (_context, next) => {
      await next().catch(() => {});
    });
    await expect(setting.mq.publisher({ routingKey: setting.queue }).send(5n)).rejects.toMatchObject({
      code: 'ACEMQ_ENCODE',
    });
    expect(sends(setting, 'failed')).toBe(1);
  });

  it('may turn a failure into another error', async () => {
    const { mq, broker, queue } = await withQueue();
    mq.interceptPublish(async (_context, next) => {
      try {
        await next();
      } catch (error) {
        throw new Error('in other words', { cause: error });
      }
    });
    broker.nackNext();
    await expect(mq.publisher({ routingKey: queue }).send(1)).rejects.toMatchObject({
      message: 'in other words',
      cause: { code: 'ACEMQ_PUBLISH_NACKED' },
    });
  });

  it('that throw after the confirm make the send reject, and what is counted is what the broker said', async () => {
    const setting = await withQueue();
    setting.mq.interceptPublish(async (_context, next) => {
      await next();
      throw new Error('afterwards');
    });
    await expect(setting.mq.publisher({ routingKey: setting.queue }).send(1)).rejects.toThrow('afterwards');
    expect([sends(setting, 'confirmed'), sends(setting, 'failed')]).toEqual([1, 0]);
  });

  it('are timed with the publish', async () => {
    const setting = await withQueue();
    let now = 1_000;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    setting.mq.interceptPublish(async (_context, next) => {
      now += 250;
      await next();
      now += 4_000;
    });
    await setting.mq.publisher({ routingKey: setting.queue }).send(1);
    clock.mockRestore();
    const key = metricKey(METRIC_PUBLISH_DURATION, {
      exchange: '',
      'routing.key': setting.queue,
      outcome: 'confirmed',
    });
    // From before the chain to the broker's answer, and not what comes after it.
    expect(setting.metrics.durations.get(key)).toMatchObject({ count: 1, total: 0.25 });
  });

  it('do not send what was aborted while they ran', async () => {
    const setting = await withQueue();
    const { mq, broker, queue } = setting;
    const abort = new AbortController();
    mq.interceptPublish(async (_context, next) => {
      abort.abort();
      await next();
    });
    const sent = mq.publisher({ routingKey: queue }).send(1, { signal: abort.signal });
    await expect(sent).rejects.toMatchObject({ code: 'ACEMQ_ABORTED' });
    expect(broker.depth(queue)).toBe(0);
    expect(sends(setting, 'failed')).toBe(1);
  });

  it('that are added or taken away while a message is under way do not change its chain', async () => {
    const { mq, queue } = await withQueue();
    const steps: string[] = [];
    const step =
      (name: string): PublishInterceptor =>
      (_context, next) => {
        steps.push(name);
        return next();
      };
    const gate = deferred();
    mq.interceptPublish(async (_context, next) => {
      await gate.promise;
      await next();
    });
    const remove = mq.interceptPublish(step('before'));
    const orders = mq.publisher({ routingKey: queue });
    const first = orders.send(1);
    remove();
    mq.interceptPublish(step('after'));
    gate.resolve();
    await first;
    await orders.send(2);
    expect(steps).toEqual(['before', 'after']);
  });

  it('work for publishers that were made before them', async () => {
    const { mq, queue } = await withQueue();
    const orders = mq.publisher({ routingKey: queue });
    let seen = 0;
    mq.interceptPublish((_context, next) => {
      seen += 1;
      return next();
    });
    await orders.sendAll([1, 2, 3]);
    expect(seen).toBe(3);
  });

  it('are taken away one by one, also when the same function was added twice', async () => {
    const { mq, queue } = await withQueue();
    let seen = 0;
    const count: PublishInterceptor = (_context, next) => {
      seen += 1;
      return next();
    };
    const removals = [mq.interceptPublish(count), mq.interceptPublish(count)];
    const orders = mq.publisher({ routingKey: queue });
    await orders.send(1);
    expect(seen).toBe(2);
    removals[0]?.();
    removals[0]?.();
    await orders.send(1);
    expect(seen).toBe(3);
    removals[1]?.();
    await orders.send(1);
    expect(seen).toBe(3);
  });

  it('do not see what is published raw, nor the copies that the library makes', async () => {
    const { mq, broker, queue } = await withQueue();
    let seen = 0;
    mq.interceptPublish((_context, next) => {
      seen += 1;
      return next();
    });
    await mq.publishRaw('', queue, { body: new Uint8Array([49]), headers: {} });
    await mq.consume(queue, () => reject('no'));
    await vi.waitFor(() => expect(broker.depth(`${queue}.dlq`)).toBe(1));
    expect(seen).toBe(0);
  });

  it('are refused when they are no functions', async () => {
    const { mq } = await onMemory();
    expect(() => mq.interceptPublish(undefined as never)).toThrow(ConfigurationError);
    expect(() => mq.interceptConsume({ before() {} } as never)).toThrow(ConfigurationError);
  });
});

/** What became of the messages of one consumer. */
interface Worked extends Setting {
  readonly handled: Message[];
  readonly settled: Settlement[];
}

/** A consumer with these interceptors inside one that notes every settlement; one message is sent. */
async function work(
  interceptors: readonly ConsumeInterceptor[],
  answer: (message: Message) => Ack | Promise<Ack> = () => accept(),
  payload: unknown = 'payload',
): Promise<Worked> {
  const setting = await withQueue();
  const { mq, queue } = setting;
  const handled: Message[] = [];
  const settled: Settlement[] = [];
  mq.interceptConsume((context, next) => {
    context.whenSettled((settlement) => settled.push(settlement));
    return next();
  });
  for (const interceptor of interceptors) mq.interceptConsume(interceptor);
  await mq.consume(
    queue,
    (message) => {
      handled.push(message);
      return answer(message);
    },
    { retry: fixed(2, 0) },
  );
  await mq.publisher({ routingKey: queue }).send(payload);
  return { ...setting, handled, settled };
}

const outcomes = ({ settled }: Worked): string[] => settled.map(({ outcome }) => outcome);

describe('consume interceptors', () => {
  it('stand around the handler in the order in which they were added, and see its answer', async () => {
    const steps: unknown[] = [];
    const step =
      (name: string): ConsumeInterceptor =>
      async (_context, next) => {
        steps.push(`${name} before`);
        const ack = await next();
        steps.push(`${name} after`, ack);
        return ack;
      };
    const ack = accept();
    const worked = await work([step('outer'), step('inner')], () => {
      steps.push('handler');
      return ack;
    });
    await vi.waitFor(() => expect(outcomes(worked)).toEqual(['acked']));
    expect(steps).toEqual([
      'outer before',
      'inner before',
      'handler',
      'inner after',
      ack,
      'outer after',
      ack,
    ]);
  });

  it('are told what the handler is told, after the body was decoded', async () => {
    let seen: ConsumeContext | undefined;
    const worked = await work([
      (context, next) => {
        seen = context;
        return next();
      },
    ]);
    await vi.waitFor(() => expect(worked.handled).toHaveLength(1));
    const [message] = worked.handled;
    expect(seen).toMatchObject({
      queue: worked.queue,
      exchange: '',
      routingKey: worked.queue,
      contentType: 'application/json',
      redelivered: false,
      payload: 'payload',
    });
    expect(textOf(seen?.body)).toBe('"payload"');
    expect(seen?.signal).toBe(message?.signal);
    expect(seen?.envelope).toBe(message?.envelope);
  });

  it('hand things along in state, which is one delivery alone has', async () => {
    const found: unknown[] = [];
    const worked = await work([
      (context, next) => {
        found.push(context.state.size);
        context.state.set('at', found.length);
        return next();
      },
      (context, next) => {
        found.push(context.state.get('at'));
        return next();
      },
    ]);
    await worked.mq.publisher({ routingKey: worked.queue }).send('another');
    await vi.waitFor(() => expect(worked.settled).toHaveLength(2));
    expect(found).toEqual([0, 1, 0, 3]);
  });

  it('change what the handler sees and what a copy is written with', async () => {
    const change: ConsumeInterceptor = (context, next) => {
      context.payload = { was: context.payload };
      context.envelope = withEnvelope(context.envelope, { headers: { tenant: 'acme' } });
      return next();
    };
    const worked = await work([change], () => reject('no'));
    await vi.waitFor(() => expect(worked.broker.depth(`${worked.queue}.dlq`)).toBe(1));
    expect(worked.handled[0]?.payload).toEqual({ was: 'payload' });
    expect(worked.handled[0]?.envelope.headers).toEqual({ tenant: 'acme' });
    const [dead] = worked.broker.messages(`${worked.queue}.dlq`);
    expect(dead?.headers).toMatchObject({ tenant: 'acme' });
    // The body goes as it came.
    expect(textOf(dead?.body)).toBe('"payload"');
  });

  it.each([
    ['accept', () => accept(), 'acked'],
    ['reject', () => reject('no'), 'rejected'],
    ['park', () => park('later'), 'parked'],
  ])('decide with %s without calling next, and the handler does not run', async (_what, answer, outcome) => {
    const worked = await work([async () => answer()]);
    await vi.waitFor(() => expect(outcomes(worked)).toEqual([outcome]));
    expect(worked.handled).toEqual([]);
  });

  it('may replace the answer of the handler', async () => {
    const worked = await work([
      async (_context, next) => {
        await next();
        return park('on second thoughts');
      },
    ]);
    await vi.waitFor(() => expect(worked.broker.depth(`${worked.queue}.parked`)).toBe(1));
    expect(outcomes(worked)).toEqual(['parked']);
  });

  it('that answer nothing dead-letter the message, and the reason says what they returned', async () => {
    const worked = await work([(async () => undefined) as never]);
    await vi.waitFor(() => expect(worked.broker.depth(`${worked.queue}.dlq`)).toBe(1));
    expect(worked.settled[0]?.reason).toBe('the handler returned undefined instead of an Ack');
  });

  it('that throw are treated as a handler that threw: retried, then dead-lettered', async () => {
    const worked = await work([
      async () => {
        throw new Error('a broken interceptor');
      },
    ]);
    await vi.waitFor(() => expect(worked.broker.depth(`${worked.queue}.dlq`)).toBe(1));
    expect(outcomes(worked)).toEqual(['retried', 'dead_lettered']);
    expect(worked.settled[1]?.reason).toBe('exhausted 2 attempts: Error: a broken interceptor');
    expect(worked.handled).toEqual([]);
  });

  it('that throw at once, without a promise, are treated the same', async () => {
    const worked = await work([
      () => {
        throw new Error('at once');
      },
    ]);
    await vi.waitFor(() => expect(outcomes(worked)).toEqual(['retried', 'dead_lettered']));
  });

  it('that throw a FatalError, anywhere among the causes, dead-letter at once', async () => {
    const worked = await work([
      async () => {
        throw new Error('outside', { cause: new FatalError('inside') });
      },
    ]);
    await vi.waitFor(() => expect(worked.broker.depth(`${worked.queue}.dlq`)).toBe(1));
    expect(outcomes(worked)).toEqual(['dead_lettered']);
    expect(worked.settled[0]?.reason).toBe(
      'the handler reported an unprocessable message: Error: outside (FatalError: inside)',
    );
  });

  it('may catch what the handler throws', async () => {
    const worked = await work([(_context, next) => next().catch((error: unknown) => park(error))], () => {
      throw new Error('the handler broke');
    });
    await vi.waitFor(() => expect(outcomes(worked)).toEqual(['parked']));
    expect(worked.settled[0]?.reason).toBe('the handler parked it: Error: the handler broke');
  });

  it('that throw after the handler has answered overrule its answer', async () => {
    const worked = await work([
      async (_context, next) => {
        await next();
        throw new Error('afterwards');
      },
    ]);
    await vi.waitFor(() => expect(outcomes(worked)).toEqual(['retried', 'dead_lettered']));
    expect(worked.handled).toHaveLength(2);
  });

  it('that call next twice run the handler twice, and the message is settled once', async () => {
    const answers = [retry('first'), accept()];
    const worked = await work(
      [
        async (_context, next) => {
          await next();
          return next();
        },
      ],
      () => answers.shift() as Ack,
    );
    await vi.waitFor(() => expect(outcomes(worked)).toEqual(['acked']));
    expect(worked.handled).toHaveLength(2);
    await vi.waitFor(() => {
      expect(worked.broker.queues.find(({ name }) => name === worked.queue)?.unsettled).toBe(0);
    });
  });

  it('do not run for a body that cannot be decoded', async () => {
    const seen: string[] = [];
    const worked = await work([
      (context, next) => {
        seen.push(String(context.payload));
        return next();
      },
    ]);
    await worked.mq.publishRaw('', worked.queue, { body: new Uint8Array([123]), headers: {} });
    await vi.waitFor(() => expect(worked.broker.depth(`${worked.queue}.parked`)).toBe(1));
    expect(seen).toEqual(['payload']);
  });

  it('are timed with the handler', async () => {
    let now = 1_000;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    const worked = await work([
      async (_context, next) => {
        now += 250;
        const ack = await next();
        now += 250;
        return ack;
      },
    ]);
    const key = metricKey(METRIC_CONSUME_DURATION, { queue: worked.queue, outcome: 'acked' });
    await vi.waitFor(() => expect(worked.metrics.durations.get(key)).toMatchObject({ count: 1, total: 0.5 }));
    clock.mockRestore();
  });

  it('that are added later are met by the next message, and those taken away are not', async () => {
    const seen: string[] = [];
    const note =
      (name: string): ConsumeInterceptor =>
      (context, next) => {
        seen.push(`${name} ${String(context.payload)}`);
        return next();
      };
    const worked = await work([], undefined, 'one');
    await vi.waitFor(() => expect(worked.settled).toHaveLength(1));
    const remove = worked.mq.interceptConsume(note('late'));
    const orders = worked.mq.publisher({ routingKey: worked.queue });
    await orders.send('two');
    await vi.waitFor(() => expect(worked.settled).toHaveLength(2));
    remove();
    await orders.send('three');
    await vi.waitFor(() => expect(worked.settled).toHaveLength(3));
    expect(seen).toEqual(['late two']);
  });

  it('that are taken away while a message is in them still finish it', async () => {
    const gate = deferred();
    const setting = await withQueue();
    const steps: string[] = [];
    const remove = setting.mq.interceptConsume(async (_context, next) => {
      steps.push('in');
      await gate.promise;
      const ack = await next();
      steps.push('out');
      return ack;
    });
    await setting.mq.consume(setting.queue, () => {
      steps.push('handler');
      return accept();
    });
    await setting.mq.publisher({ routingKey: setting.queue }).send(1);
    await vi.waitFor(() => expect(steps).toEqual(['in']));
    remove();
    gate.resolve();
    await vi.waitFor(() => expect(steps).toEqual(['in', 'handler', 'out']));
  });
});

describe('whenSettled', () => {
  it('is called once, when it is decided and before anything is done about it', async () => {
    const { mq, broker, clock, metrics, queue } = await onManualTime();
    await mq.declare(topology().queue(queue));
    const told: [Settlement, number][] = [];
    const counted: (number | undefined)[] = [];
    const retried = metricKey(METRIC_CONSUME_TOTAL, { queue, outcome: 'retried' });
    mq.interceptConsume((context, next) => {
      context.whenSettled((settlement) => {
        counted.push(metrics.counts.get(retried));
        told.push([settlement, broker.queues.find(({ name }) => name === queue)?.unsettled ?? 0]);
      });
      return next();
    });
    await mq.consume(queue, () => retry('again'), { retry: fixed(2, '5s') });
    void mq.publisher({ routingKey: queue }).send(1);
    await clock.advance(0);
    // Told before the wait, with the delivery still out.
    expect(told).toHaveLength(1);
    expect(told[0]?.[0]).toMatchObject({ outcome: 'retried', delay: 5_000, inBroker: false });
    expect(told[0]?.[1]).toBe(1);
    // And before it is counted.
    expect([counted[0], metrics.counts.get(retried)]).toEqual([undefined, 1]);
    await clock.advance(4_999);
    expect(told).toHaveLength(1);
    await clock.advance(1);
    expect(told.map(([{ outcome }]) => outcome)).toEqual(['retried', 'dead_lettered']);
    expect(broker.depth(`${queue}.dlq`)).toBe(1);
  });

  it('tells what the copy will carry', async () => {
    let envelope: Envelope | undefined;
    const worked = await work(
      [
        (context, next) => {
          context.whenSettled((settlement) => {
            envelope = settlement.envelope;
          });
          return next();
        },
      ],
      () => reject('no'),
    );
    await vi.waitFor(() => expect(worked.broker.depth(`${worked.queue}.dlq`)).toBe(1));
    expect(envelope).toMatchObject({ attempt: 1, error: 'the handler rejected it: no' });
    expect(worked.broker.messages(`${worked.queue}.dlq`)[0]?.headers['x-acemq-error']).toBe(envelope?.error);
  });

  it('takes any number of listeners, and tells them in order', async () => {
    const told: number[] = [];
    const worked = await work([
      (context, next) => {
        for (const at of [1, 2, 3]) expect(context.whenSettled(() => told.push(at))).toBe(true);
        return next();
      },
    ]);
    await vi.waitFor(() => expect(worked.settled).toHaveLength(1));
    expect(told).toEqual([1, 2, 3]);
  });

  it('answers false and never calls once it is decided', async () => {
    let context: ConsumeContext | undefined;
    const worked = await work([
      (one, next) => {
        context = one;
        return next();
      },
    ]);
    await vi.waitFor(() => expect(worked.settled).toHaveLength(1));
    let called = 0;
    const late = (): void => {
      called += 1;
    };
    expect(context?.whenSettled(late)).toBe(false);
    await worked.mq.close();
    expect(called).toBe(0);
  });

  it('may be asked from within a listener, and answers false', async () => {
    const answers: boolean[] = [];
    const worked = await work([
      (context, next) => {
        context.whenSettled(() => answers.push(context.whenSettled(() => answers.push(true))));
        return next();
      },
    ]);
    await vi.waitFor(() => expect(worked.settled).toHaveLength(1));
    expect(answers).toEqual([false]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('a broken listener');
      },
    ],
    ['rejects', () => Promise.reject(new Error('a broken listener'))],
  ])('logs a listener that %s, tells the others and settles the message', async (_what, listener) => {
    let told = 0;
    const worked = await work([
      (context, next) => {
        context.whenSettled(listener as () => void);
        context.whenSettled(() => {
          told += 1;
        });
        return next();
      },
    ]);
    await vi.waitFor(() => {
      expect(worked.log.filter(({ level }) => level === 'error')).toEqual([
        {
          level: 'error',
          message: 'a listener of a settlement failed',
          details: expect.objectContaining({ queue: worked.queue, error: new Error('a broken listener') }),
        },
      ]);
    });
    expect(told).toBe(1);
    const acked = metricKey(METRIC_CONSUME_TOTAL, { queue: worked.queue, outcome: 'acked' });
    expect(worked.metrics.counts.get(acked)).toBe(1);
    await vi.waitFor(() => {
      expect(worked.broker.queues.find(({ name }) => name === worked.queue)?.unsettled).toBe(0);
    });
  });
});
