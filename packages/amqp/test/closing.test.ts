import {
  type AceMQError,
  type Ack,
  accept,
  fixed,
  inProgress,
  type Link,
  type Message,
  reject,
  retry,
  topology,
} from '@acemq/core';
import { type MemoryBroker, manualClock, memoryBroker } from '@acemq/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ConnectOptions, type ConsumeOptions, connect } from '../src/index.ts';
import { deferred, keepingLogger, onManualTime, onMemory } from './setting.ts';

const DONE = { finished: true, unsettled: 0, unconfirmed: 0 };

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: AceMQError) => error.code,
  );

/** Whether a promise has come to its end, and how. */
function watch<T>(work: Promise<T>): { readonly value: T | undefined; readonly done: boolean } {
  const watched = { value: undefined as T | undefined, done: false };
  void work.then((value) => {
    watched.value = value;
    watched.done = true;
  });
  return watched;
}

/** A consumer on manual time whose handler answers when the test says so; `count` messages are there already. */
async function working(
  count: number,
  options: ConsumeOptions = {},
  connectOptions: ConnectOptions = {},
  answer?: (message: Message) => Ack | Promise<Ack>,
) {
  const setting = await onManualTime(connectOptions);
  const { mq, clock, broker, queue } = setting;
  await mq.declare(topology().queue(queue));
  await mq.publisher({ routingKey: queue }).sendAll(Array.from({ length: count }, (_, at) => at));
  const gate = deferred<Ack>();
  const messages: Message[] = [];
  const consumer = await mq.consume(
    queue,
    (message) => {
      messages.push(message);
      return answer === undefined ? gate.promise : answer(message);
    },
    options,
  );
  onTestFinished(() => gate.resolve(accept()));
  await clock.advance(0);
  const state = () => {
    const {
      messages: ready = 0,
      unsettled = 0,
      consumers = 0,
    } = broker.queues.find(({ name }) => name === queue) ?? {};
    return { ready, unsettled, consumers };
  };
  return { ...setting, consumer, gate, messages, state };
}

/** A broker on whose links `change` works before anybody uses them. */
function changed(broker: MemoryBroker, change: (link: Link) => void): MemoryBroker {
  const dial = broker.dial.bind(broker);
  broker.dial = async (request) => {
    const link = await dial(request);
    change(link);
    return link;
  };
  return broker;
}

describe('closing a connection', () => {
  it('that is idle closes both links at once and leaves no timer', async () => {
    const { mq, broker, clock } = await onManualTime();
    expect(await mq.close()).toEqual(DONE);
    expect(broker.links).toEqual([]);
    expect([mq.state, mq.blocked, mq.blockedReason, mq.outstanding]).toEqual(['closed', null, undefined, 0]);
    expect(clock.timers).toBe(0);
  });

  it('twice, at once or later, gives the same answer', async () => {
    const { mq, clock } = await working(1);
    const first = mq.close({ timeout: '5s' });
    const second = mq.close({ timeout: 0 });
    await clock.advance(5_000);
    const later = await mq.close();
    expect(await first).toEqual({ finished: false, unsettled: 1, unconfirmed: 0 });
    expect(await second).toBe(await first);
    expect(later).toBe(await first);
  });

  it('is what await using does', async () => {
    const { mq, broker } = await onMemory();
    await mq[Symbol.asyncDispose]();
    expect(mq.state).toBe('closed');
    expect(broker.links).toEqual([]);
  });

  it('gives an answer that cannot be changed', async () => {
    const { mq } = await onMemory();
    expect(Object.isFrozen(await mq.close())).toBe(true);
  });

  it('refuses everything afterwards, and says that it is closed', async () => {
    const { mq, queue } = await onMemory();
    const orders = mq.publisher({ routingKey: queue });
    await mq.close();
    const codes = await Promise.all(
      [
        orders.send(1),
        mq.publisher({ routingKey: queue }).send(1),
        mq.consume(queue, () => accept()),
        mq.declare(topology().queue(queue)),
        mq.plan(topology().queue(queue)),
        mq.queueExists(queue),
        mq.messageCount(queue),
        mq.deleteQueue(queue),
        mq.deleteExchange('events'),
        mq.pull(queue),
      ].map(codeOf),
    );
    expect(new Set(codes)).toEqual(new Set(['ACEMQ_CONNECTION_CLOSED']));
    await expect(orders.sendAll([1, 2])).rejects.toMatchObject({
      code: 'ACEMQ_PUBLISH_BATCH',
      failed: 2,
      mayHaveArrived: false,
    });
    expect(await mq.publishRaw('', queue, { body: new Uint8Array(), headers: {} })).toMatchObject({
      verdict: 'unsent',
      judged: false,
      error: { code: 'ACEMQ_CONNECTION_CLOSED' },
    });
  });
});

describe('closing while handlers run', () => {
  it('waits for them, and gives back what had not started', async () => {
    const { mq, clock, gate, messages, state } = await working(5, { concurrency: 2 });
    expect(state()).toEqual({ ready: 0, unsettled: 5, consumers: 1 });
    const closed = watch(mq.close());
    await clock.advance(19_999);
    expect(closed.done).toBe(false);
    expect(state()).toEqual({ ready: 3, unsettled: 2, consumers: 0 });
    expect(messages[0]?.signal.aborted).toBe(false);
    gate.resolve(accept());
    await clock.advance(0);
    expect(closed.value).toEqual(DONE);
    expect(state()).toEqual({ ready: 3, unsettled: 0, consumers: 0 });
    expect(messages).toHaveLength(2);
    expect(clock.timers).toBe(0);
  });

  it('starts none of the messages that still come in', async () => {
    const { mq, broker, clock, gate, messages, queue, state } = await working(1);
    const other = await connect(broker, { logger: keepingLogger() });
    onTestFinished(async () => void (await other.close()));
    const closed = watch(mq.close());
    await other.publisher({ routingKey: queue }).send('late');
    await clock.advance(0);
    gate.resolve(accept());
    await clock.advance(0);
    expect(closed.value).toEqual(DONE);
    expect(messages).toHaveLength(1);
    expect(state()).toEqual({ ready: 1, unsettled: 0, consumers: 0 });
  });

  it('aborts their signals at the deadline, leaves their messages to the broker and says how many', async () => {
    const { mq, clock, gate, messages, broker, queue } = await working(4, { concurrency: 3 });
    const closed = watch(mq.close({ timeout: '7s' }));
    await clock.advance(6_999);
    expect([closed.done, messages[0]?.signal.aborted]).toEqual([false, false]);
    await clock.advance(1);
    expect(closed.value).toEqual({ finished: false, unsettled: 3, unconfirmed: 0 });
    expect(messages.map(({ signal }) => signal.aborted)).toEqual([true, true, true]);
    expect(broker.links).toEqual([]);
    expect(broker.messages(queue).filter(({ redelivered }) => redelivered).length).toBeGreaterThanOrEqual(3);
    // What they answer now changes nothing.
    gate.resolve(accept());
    await clock.advance(60_000);
    expect(broker.depth(queue)).toBe(4);
    expect(clock.timers).toBe(0);
  });

  it('has the deadline of the connection unless it is given another', async () => {
    const { mq, clock } = await working(1, {}, { closeTimeout: '3s' });
    const closed = watch(mq.close());
    await clock.advance(2_999);
    expect(closed.done).toBe(false);
    await clock.advance(1);
    expect(closed.done).toBe(true);
  });

  it('with a deadline of nothing does not wait', async () => {
    const { mq, clock } = await working(1);
    const closed = watch(mq.close({ timeout: 0 }));
    await clock.advance(0);
    expect(closed.value).toEqual({ finished: false, unsettled: 1, unconfirmed: 0 });
  });

  it('shares one deadline among all consumers', async () => {
    const { mq, clock, queue } = await working(1);
    await mq.declare(topology().queue(`${queue}-2`));
    await mq.publisher({ routingKey: `${queue}-2` }).send(1);
    await mq.consume(`${queue}-2`, () => new Promise(() => {}));
    await clock.advance(0);
    const closed = watch(mq.close({ timeout: '10s' }));
    await clock.advance(10_000);
    expect(closed.value).toEqual({ finished: false, unsettled: 2, unconfirmed: 0 });
  });

  it('holds its deadline also for a consumer whose own close was given longer', async () => {
    const { mq, clock, consumer, messages } = await working(1);
    const consumerClosed = watch(consumer.close({ timeout: '10m' }));
    const closed = watch(mq.close({ timeout: '2s' }));
    await clock.advance(2_000);
    expect(closed.value).toEqual({ finished: false, unsettled: 1, unconfirmed: 0 });
    expect(consumerClosed.value).toEqual({ finished: false, unsettled: 1 });
    expect(messages[0]?.signal.aborted).toBe(true);
  });

  it('lets them publish what they are at, and its confirm come', async () => {
    const { mq, clock, broker, queue } = await onManualTime();
    await mq.declare(topology().queue(queue).queue(`${queue}-out`));
    const gate = deferred();
    let sent: Promise<unknown> | undefined;
    await mq.consume(queue, async () => {
      await gate.promise;
      sent = mq.publisher({ routingKey: `${queue}-out` }).send('from the handler');
      await sent;
      return accept();
    });
    await mq.publisher({ routingKey: queue }).send(1);
    await clock.advance(0);
    const closed = watch(mq.close());
    await clock.advance(1_000);
    gate.resolve();
    await clock.advance(0);
    expect(closed.value).toEqual(DONE);
    await sent;
    expect([broker.depth(queue), broker.depth(`${queue}-out`)]).toEqual([0, 1]);
  });

  it('refuses every send once the last of them is settled', async () => {
    const { mq, clock, gate, queue } = await working(1);
    const closed = mq.close();
    gate.resolve(accept());
    await clock.advance(0);
    await closed;
    expect(await codeOf(mq.publisher({ routingKey: queue }).send(1))).toBe('ACEMQ_CONNECTION_CLOSED');
  });

  it('puts the message of one that gives up where it belongs', async () => {
    const { mq, clock, gate, broker, queue } = await working(1);
    const closed = watch(mq.close());
    gate.resolve(reject('no more'));
    await clock.advance(0);
    expect(closed.value).toEqual(DONE);
    expect([broker.depth(queue), broker.depth(`${queue}.dlq`)]).toEqual([0, 1]);
  });

  it('gives back the message of one that then asks for a retry, and does not wait for its turn', async () => {
    const { mq, clock, gate, broker, queue } = await working(1, { retry: fixed(3, '10s') });
    const closed = watch(mq.close());
    gate.resolve(retry('later'));
    await clock.advance(0);
    expect(closed.value).toEqual(DONE);
    expect(broker.messages(queue)[0]).toMatchObject({ redelivered: true });
  });
});

describe('a consumer that closes last', () => {
  it('reads until the handlers of the others have ended', async () => {
    const { mq, clock, gate, queue } = await working(1);
    const replies = `${queue}.replies`;
    await mq.declare(topology().queue(replies));
    const seen: unknown[] = [];
    const last = await mq.consume(
      replies,
      ({ payload }: Message) => {
        seen.push(payload);
        return accept();
      },
      { closesLast: true },
    );
    const closed = watch(mq.close({ timeout: '10s' }));
    await clock.advance(0);
    expect(last.running).toBe(true);
    await mq.publisher({ routingKey: replies }).send('what the handler waits for');
    await clock.advance(0);
    expect(seen).toEqual(['what the handler waits for']);
    gate.resolve(accept());
    await clock.advance(0);
    expect(last.running).toBe(false);
    expect(closed.value).toEqual(DONE);
  });

  it('closes with the rest when the deadline has passed', async () => {
    const { mq, clock, queue } = await working(1);
    await mq.declare(topology().queue(`${queue}.replies`));
    const last = await mq.consume(`${queue}.replies`, () => accept(), { closesLast: true });
    const closed = watch(mq.close({ timeout: '1s' }));
    await clock.advance(1_000);
    expect(closed.value).toEqual({ finished: false, unsettled: 1, unconfirmed: 0 });
    expect(last.running).toBe(false);
  });
});

describe('closing while messages wait here for their retry', () => {
  it.each([
    ['a retry', () => retry('again')],
    ['a message in progress', () => inProgress()],
  ])('gives back %s at once, its attempt unchanged', async (_what, answer) => {
    const { mq, broker, clock, queue, consumer, messages } = await working(
      2,
      { retry: fixed(3, '10s'), concurrency: 2 },
      {},
      answer,
    );
    expect(consumer.inFlight).toBe(2);
    const closed = watch(mq.close());
    await clock.advance(0);
    expect(closed.value).toEqual(DONE);
    expect(broker.messages(queue).map(({ headers }) => headers['x-acemq-attempt'])).toEqual([1, 1]);
    expect(messages).toHaveLength(2);
    expect(clock.timers).toBe(0);
  });
});

describe('closing while a copy is held', () => {
  it('waits to the deadline for the alarm to end, then leaves the message to the broker', async () => {
    const { mq, broker, clock, queue } = await onManualTime();
    await mq.declare(topology().queue(queue));
    await mq.publisher({ routingKey: queue }).send(1);
    broker.block();
    let runs = 0;
    const consumer = await mq.consume(queue, () => {
      runs += 1;
      return reject('no');
    });
    await clock.advance(60_000);
    expect([runs, consumer.held, mq.blocked]).toEqual([1, 1, true]);
    const closed = watch(mq.close());
    await clock.advance(19_000);
    expect(closed.done).toBe(false);
    await clock.advance(1_000);
    // Its copy was written into the alarm, and may still be placed.
    expect(closed.value).toEqual({ finished: false, unsettled: 1, unconfirmed: 1 });
    expect(runs).toBe(1);
    expect(broker.messages(queue)).toMatchObject([{ redelivered: true }]);
    expect(broker.links).toEqual([]);
    expect(clock.timers).toBe(0);
  });

  it('places it when the alarm ends before the deadline', async () => {
    const { mq, broker, clock, queue } = await onManualTime();
    await mq.declare(topology().queue(queue));
    await mq.publisher({ routingKey: queue }).send(1);
    broker.block();
    const consumer = await mq.consume(queue, () => reject('no'));
    await clock.advance(15_000);
    expect(consumer.held).toBe(1);
    const closed = watch(mq.close());
    await clock.advance(5_000);
    broker.unblock();
    await clock.advance(2_000);
    expect(closed.value).toEqual(DONE);
    expect(broker.depth(queue)).toBe(0);
    expect(broker.depth(`${queue}.dlq`)).toBe(1);
  });

  it('has nothing to wait for once the copy is placed', async () => {
    const { mq, clock } = await working(1, {}, {}, () => reject('no'));
    const closed = watch(mq.close());
    await clock.advance(0);
    expect(closed.value).toEqual(DONE);
  });
});

describe('closing with publishes outstanding', () => {
  it('waits for the confirms of what nobody awaited', async () => {
    const { mq, broker, queue } = await onMemory({ permits: 10 });
    await mq.declare(topology().queue(queue));
    const orders = mq.publisher({ routingKey: queue });
    const sent = Array.from({ length: 500 }, (_, at) => orders.send(at));
    expect(await mq.close()).toEqual(DONE);
    expect(broker.depth(queue)).toBe(500);
    expect(await Promise.all(sent)).toHaveLength(500);
  });

  it('refuses at once what is sent after it began', async () => {
    const { mq, broker, clock, queue } = await onManualTime();
    await mq.declare(topology().queue(queue));
    const orders = mq.publisher({ routingKey: queue });
    broker.freeze();
    const before = codeOf(orders.send(1));
    await clock.advance(0);
    const closed = watch(mq.close());
    expect(await codeOf(orders.send(2))).toBe('ACEMQ_CONNECTION_CLOSED');
    broker.thaw();
    await clock.advance(0);
    expect(await before).toBe('done');
    expect(closed.value).toEqual(DONE);
    expect(broker.depth(queue)).toBe(1);
  });

  it('says how many had no confirm at the deadline, and each of them rejects', async () => {
    const { mq, broker, clock, queue } = await onManualTime({ permits: 2, confirmTimeout: '1m' });
    await mq.declare(topology().queue(queue));
    const orders = mq.publisher({ routingKey: queue });
    await orders.send('opens the channel');
    broker.freeze();
    const sent = Promise.allSettled([1, 2, 3, 4, 5].map((at) => orders.send(at)));
    const closed = watch(mq.close({ timeout: '5s' }));
    await clock.advance(5_000);
    expect(closed.value).toEqual({ finished: false, unsettled: 0, unconfirmed: 5 });
    const reasons = (await sent).map((one) => (one.status === 'rejected' ? one.reason : undefined));
    expect(reasons.map((reason) => [reason.code, reason.mayHaveArrived])).toEqual([
      ['ACEMQ_PUBLISH_LOST', true],
      ['ACEMQ_PUBLISH_LOST', true],
      ['ACEMQ_CONNECTION_CLOSED', undefined],
      ['ACEMQ_CONNECTION_CLOSED', undefined],
      ['ACEMQ_CONNECTION_CLOSED', undefined],
    ]);
    expect(mq.outstanding).toBe(0);
    await clock.advance(120_000);
    expect(clock.timers).toBe(0);
    broker.thaw();
    await clock.advance(0);
    expect(broker.links).toEqual([]);
  });

  it('into an alarm waits for its end up to the deadline', async () => {
    const { mq, broker, clock, queue } = await onManualTime({ confirmTimeout: '1m' });
    await mq.declare(topology().queue(queue));
    broker.block();
    const sent = codeOf(mq.publisher({ routingKey: queue }).send(1));
    await clock.advance(0);
    expect(mq.blocked).toBe(true);
    const closed = watch(mq.close());
    await clock.advance(10_000);
    expect(closed.done).toBe(false);
    broker.unblock();
    await clock.advance(0);
    expect(closed.value).toEqual(DONE);
    expect(await sent).toBe('done');
  });

  it('into an alarm that does not end meets its deadline', async () => {
    const { mq, broker, clock, queue } = await onManualTime({ confirmTimeout: '1m' });
    await mq.declare(topology().queue(queue));
    broker.block();
    const sent = codeOf(mq.publisher({ routingKey: queue }).send(1));
    const closed = watch(mq.close());
    await clock.advance(20_000);
    expect(closed.value).toEqual({ finished: false, unsettled: 0, unconfirmed: 1 });
    expect(await sent).toBe('ACEMQ_PUBLISH_LOST');
    expect(broker.links).toEqual([]);
  });

  it('whose confirms time out first ends then, and counts none of them as unconfirmed', async () => {
    const { mq, broker, clock, queue } = await onManualTime({ confirmTimeout: '3s' });
    await mq.declare(topology().queue(queue));
    broker.block();
    const sent = codeOf(mq.publisher({ routingKey: queue }).send(1));
    await clock.advance(0);
    const closed = watch(mq.close());
    await clock.advance(3_000);
    expect(await sent).toBe('ACEMQ_PUBLISH_TIMEOUT');
    expect(closed.value).toEqual(DONE);
  });
});

describe('closing a link that does not answer', () => {
  it('drops a frozen one', async () => {
    const { mq, broker, clock } = await working(1);
    broker.freeze();
    const closed = watch(mq.close({ timeout: '5s' }));
    await clock.advance(5_500);
    expect(closed.value).toMatchObject({ finished: false, unsettled: 1 });
    expect(broker.links).toEqual([]);
  });

  it('waits for a goodbye no longer than half a second past the deadline', async () => {
    const clock = manualClock();
    const broker = changed(memoryBroker({ clock }), (link) => {
      link.close = () => new Promise(() => {});
    });
    const { mq } = await onMemory({}, broker);
    const closed = watch(mq.close({ timeout: '2s' }));
    await clock.advance(2_499);
    expect(closed.done).toBe(false);
    await clock.advance(1);
    expect(closed.value).toEqual(DONE);
    expect(broker.links).toEqual([]);
  });

  it('waits for the end of a subscription no longer than the deadline', async () => {
    const clock = manualClock();
    const broker = changed(memoryBroker({ clock }), (link) => {
      const consume = link.consume.bind(link);
      link.consume = async (...args) => {
        const { tag } = await consume(...args);
        return { tag, stop: () => new Promise(() => {}), release: () => new Promise(() => {}) };
      };
    });
    const { mq, queue } = await onMemory({}, broker);
    await mq.declare(topology().queue(queue));
    await mq.consume(queue, () => accept());
    const closed = watch(mq.close({ timeout: '2s' }));
    await clock.advance(2_000);
    expect(closed.value).toEqual(DONE);
  });

  it('is done at once while it is down', async () => {
    const { mq, broker, clock, consumer } = await working(0);
    broker.refuseDials('unreachable');
    broker.dropLinks();
    await clock.advance(3_000);
    const closed = watch(mq.close());
    await clock.advance(0);
    expect(closed.value).toEqual(DONE);
    expect(consumer.running).toBe(false);
    expect(clock.timers).toBe(0);
  });

  it('rejects what waits for it while it is down, as never written', async () => {
    const { mq, broker, clock, queue } = await onManualTime();
    broker.refuseDials('unreachable');
    broker.dropLinks();
    await clock.advance(0);
    const sent = codeOf(mq.publisher({ routingKey: queue }).send(1));
    const closed = watch(mq.close({ timeout: '2s' }));
    await clock.advance(2_000);
    expect(await sent).toBe('ACEMQ_CONNECTION_CLOSED');
    expect(closed.value).toEqual({ finished: false, unsettled: 0, unconfirmed: 1 });
  });

  it('ends a dial that is under way', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const { mq, broker, clock } = await onManualTime();
    broker.dropLinks();
    broker.freeze();
    await clock.advance(2_000);
    const closed = watch(mq.close());
    await clock.advance(0);
    expect(closed.value).toEqual(DONE);
    broker.thaw();
    await clock.advance(0);
    expect(broker.links).toEqual([]);
    expect(clock.timers).toBe(0);
    vi.restoreAllMocks();
  });

  it('ends a restoring that hangs', async () => {
    const clock = manualClock();
    let dials = 0;
    const broker = changed(memoryBroker({ clock }), (link) => {
      dials += 1;
      if (dials > 2) link.declareQueue = () => new Promise(() => {});
    });
    const { mq, queue } = await onMemory({}, broker);
    await mq.declare(topology().queue(queue));
    broker.dropLinks();
    await clock.advance(1_000);
    expect(mq.state).toBe('restoring');
    const closed = watch(mq.close({ timeout: '1s' }));
    await clock.advance(1_500);
    expect(closed.value).toEqual(DONE);
    expect(broker.links).toEqual([]);
    expect(mq.state).toBe('closed');
  });

  it('goes on when it is lost in the middle of the close', async () => {
    const { mq, broker, clock, gate, queue } = await working(2);
    const closed = watch(mq.close());
    await clock.advance(1_000);
    broker.dropLinks();
    await clock.advance(1_000);
    gate.resolve(accept());
    await clock.advance(0);
    expect(closed.done).toBe(true);
    // Its message went back with the link; it is not ours to answer for.
    expect(broker.depth(queue)).toBe(2);
    expect(broker.links).toEqual([]);
    await clock.advance(60_000);
    expect(broker.links).toEqual([]);
  });
});

describe('consuming when a close has begun', () => {
  it('is refused, also when it had been asked for before', async () => {
    const { mq, broker, clock, gate, queue, messages } = await working(1);
    await mq.declare(topology().queue(`${queue}-2`));
    await mq.publisher({ routingKey: `${queue}-2` }).send(1);
    let started = 0;
    const asked = codeOf(
      mq.consume(`${queue}-2`, () => {
        started += 1;
        return accept();
      }),
    );
    const closed = watch(mq.close());
    await clock.advance(5_000);
    expect(await asked).toBe('ACEMQ_CONNECTION_CLOSED');
    expect(await codeOf(mq.consume(queue, () => accept()))).toBe('ACEMQ_CONNECTION_CLOSED');
    gate.resolve(accept());
    await clock.advance(0);
    expect(closed.value).toEqual(DONE);
    expect([started, messages.length]).toEqual([0, 1]);
    expect(broker.depth(`${queue}-2`)).toBe(1);
  });
});

describe('closing a consumer alone', () => {
  it('ends that one, and everything else goes on', async () => {
    const { mq, clock, broker, consumer, gate, state, queue } = await working(3);
    await mq.declare(topology().queue(`${queue}-2`));
    const other = await mq.consume(`${queue}-2`, () => accept());
    const closed = watch(consumer.close());
    await clock.advance(0);
    expect([consumer.running, other.running, closed.done]).toEqual([false, true, false]);
    expect(state()).toEqual({ ready: 2, unsettled: 1, consumers: 0 });
    gate.resolve(accept());
    await clock.advance(0);
    expect(closed.value).toEqual({ finished: true, unsettled: 0 });
    expect(state()).toEqual({ ready: 2, unsettled: 0, consumers: 0 });
    expect(mq.consumers).toEqual([other]);
    await mq.publisher({ routingKey: `${queue}-2` }).send(1);
    await clock.advance(0);
    expect(broker.depth(`${queue}-2`)).toBe(0);
  });

  it('twice gives the same answer, and the earlier deadline counts', async () => {
    const { mq, clock, consumer } = await working(1);
    const first = watch(consumer.close({ timeout: '10m' }));
    const second = watch(consumer.close({ timeout: '1s' }));
    await clock.advance(1_000);
    expect(first.value).toEqual({ finished: false, unsettled: 1 });
    expect(second.value).toEqual(first.value);
    await mq.close();
    expect(clock.timers).toBe(0);
  });

  it('past its deadline aborts its handlers and gives their messages to others', async () => {
    const { mq, clock, consumer, messages, gate, queue } = await working(1);
    void consumer.close({ timeout: '1s' });
    await clock.advance(1_000);
    expect(messages[0]?.signal.aborted).toBe(true);
    const handled: boolean[] = [];
    await mq.consume(queue, ({ redelivered }) => {
      handled.push(redelivered);
      return accept();
    });
    await clock.advance(0);
    expect(handled).toEqual([true]);
    gate.resolve(accept());
    await clock.advance(0);
    expect(handled).toEqual([true]);
  });

  it('leaves publishing alone: sends are accepted before, during and after', async () => {
    const { mq, clock, consumer, gate, queue } = await working(1);
    const orders = mq.publisher({ routingKey: queue });
    const closed = consumer.close();
    await orders.send('during');
    gate.resolve(accept());
    await clock.advance(0);
    await closed;
    await orders.send('after');
    expect(mq.state).toBe('connected');
  });

  it('is what await using does', async () => {
    const { mq, queue } = await onMemory();
    await mq.declare(topology().queue(queue));
    const consumer = await mq.consume(queue, () => accept());
    await consumer[Symbol.asyncDispose]();
    expect(consumer.running).toBe(false);
    expect(mq.consumers).toEqual([]);
  });

  it('from within its own handler does not wait for itself for ever', async () => {
    const { mq, broker, clock, queue } = await onManualTime();
    await mq.declare(topology().queue(queue));
    let report: unknown;
    const consumer = await mq.consume(queue, async () => {
      report = await consumer.close({ timeout: '1s' });
      return accept();
    });
    await mq.publisher({ routingKey: queue }).send(1);
    await clock.advance(1_000);
    expect(report).toEqual({ finished: false, unsettled: 1 });
    expect(broker.depth(queue)).toBe(1);
  });
});
