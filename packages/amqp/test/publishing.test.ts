import {
  AbortedError,
  BatchPublishError,
  ConfigurationError,
  ConnectionClosedError,
  causing,
  EncodeError,
  PublishError,
  PublishingPausedError,
  topology,
} from '@acemq/core';
import { METRIC_PUBLISH_TOTAL, metricKey } from '@acemq/observe';
import { describe, expect, test, vi } from 'vitest';
import { onManualTime, onMemory, type Setting } from './setting.ts';

async function withQueue(setting: Setting): Promise<void> {
  await setting.mq.declare(topology().queue(setting.queue));
}

function counted(setting: Setting, outcome: string, routingKey = setting.queue, exchange = ''): number {
  const key = metricKey(METRIC_PUBLISH_TOTAL, { exchange, outcome, 'routing.key': routingKey });
  return setting.metrics.counts.get(key) ?? 0;
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.unreachable('it should have been refused'),
    (error: unknown) => error,
  );
}

describe('a send that the broker judges', () => {
  test('resolves to its envelope once the message is in the queue', async () => {
    const setting = await onMemory({ name: 'shop' });
    await withQueue(setting);
    const envelope = await setting.mq
      .publisher({ routingKey: setting.queue })
      .send({ orderId: 'o-1' }, { type: 'order.placed', headers: { tenant: 'acme' } });
    const [waiting] = setting.broker.messages(setting.queue);
    expect(envelope).toMatchObject({
      type: 'order.placed',
      attempt: 1,
      version: 1,
      origin: setting.mq.origin,
    });
    expect(setting.mq.origin).toMatch(/^shop@./);
    expect(waiting).toMatchObject({
      messageId: envelope.id,
      contentType: 'application/json',
      timestamp: Math.floor(envelope.firstSeen / 1000),
    });
    expect(waiting?.headers).toEqual({
      'x-acemq-id': envelope.id,
      'x-acemq-type': 'order.placed',
      'x-acemq-version': 1,
      'x-acemq-correlation': envelope.id,
      'x-acemq-attempt': 1,
      'x-acemq-first-seen': envelope.firstSeen,
      'x-acemq-origin': setting.mq.origin,
      tenant: 'acme',
    });
    expect(counted(setting, 'confirmed')).toBe(1);
  });

  test('to no queue rejects as unroutable and says where, why and how to allow it', async () => {
    const setting = await onMemory();
    const error = (await rejection(
      setting.mq.publisher({ routingKey: 'nobody' }).send({}, { id: 'm-1' }),
    )) as PublishError;
    expect(error).toBeInstanceOf(PublishError);
    expect(error).toMatchObject({
      code: 'ACEMQ_PUBLISH_UNROUTABLE',
      unroutable: true,
      mayHaveArrived: false,
      messageId: 'm-1',
      exchange: '',
      routingKey: 'nobody',
    });
    expect(error.message).toMatch(/m-1.*nobody.*NO_ROUTE.*allowUnroutable/);
    expect(counted(setting, 'unroutable', 'nobody')).toBe(1);
    expect(counted(setting, 'failed', 'nobody')).toBe(0);
  });

  test('to no queue resolves where that is allowed, by the publisher or by the send', async () => {
    const { mq } = await onMemory();
    await mq.publisher({ routingKey: 'nobody', allowUnroutable: true }).send({});
    await mq.publisher({ routingKey: 'nobody' }).send({}, { allowUnroutable: true });
    await expect(
      mq.publisher({ routingKey: 'nobody', allowUnroutable: true }).send({}, { allowUnroutable: false }),
    ).rejects.toMatchObject({ unroutable: true });
  });

  test('that is nacked rejects, and may be sent again without a duplicate', async () => {
    const setting = await onMemory();
    await withQueue(setting);
    setting.broker.nackNext();
    await expect(setting.mq.publisher({ routingKey: setting.queue }).send({})).rejects.toMatchObject({
      code: 'ACEMQ_PUBLISH_NACKED',
      retryable: true,
      mayHaveArrived: false,
      unroutable: false,
    });
    expect(counted(setting, 'failed')).toBe(1);
  });

  test('to an exchange that is not there rejects with the broker’s words and costs no other publish', async () => {
    const setting = await onMemory();
    await withQueue(setting);
    const { mq, queue } = setting;
    const good = mq.publisher({ routingKey: queue });
    const outstanding = Array.from({ length: 50 }, () => good.send({}));
    const error = await rejection(mq.publisher({ exchange: 'nowhere', routingKey: 'x' }).send({}));
    expect(error).toMatchObject({ code: 'ACEMQ_PUBLISH_FAILED', mayHaveArrived: false });
    expect((error as Error).message).toMatch(/404 NOT_FOUND - no exchange 'nowhere'/);
    expect(await Promise.all(outstanding)).toHaveLength(50);
    await good.send({});
    expect(setting.broker.depth(queue)).toBe(51);
  });
});

describe('a send that is refused before anything is written', () => {
  test('names what cannot be encoded, and counts as failed', async () => {
    const setting = await onMemory();
    await withQueue(setting);
    const publisher = setting.mq.publisher({ routingKey: setting.queue });
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    for (const payload of [undefined, () => {}, 10n, circle, new Uint8Array(2)]) {
      expect(await rejection(publisher.send(payload))).toBeInstanceOf(EncodeError);
    }
    expect(counted(setting, 'failed')).toBe(5);
    expect(setting.broker.depth(setting.queue)).toBe(0);
  });

  test('names a header of the library’s own, an empty destination and a direct reply-to', async () => {
    const { mq, queue } = await onMemory();
    const publisher = mq.publisher({ routingKey: queue });
    await expect(publisher.send({}, { headers: { 'x-acemq-attempt': 7 } })).rejects.toThrow(
      /x-acemq-attempt/,
    );
    await expect(mq.publisher().send({})).rejects.toThrow(ConfigurationError);
    await expect(publisher.send({}, { replyTo: 'amq.rabbitmq.reply-to' })).rejects.toThrow(/reply-to/);
  });

  test('is aborted by its signal while it waits for a permit', async () => {
    const setting = await onMemory({ permits: 1 });
    await withQueue(setting);
    setting.broker.freeze();
    const publisher = setting.mq.publisher({ routingKey: setting.queue });
    const first = publisher.send({});
    const abort = new AbortController();
    const second = rejection(publisher.send({}, { signal: abort.signal }));
    abort.abort(new Error('enough'));
    expect(await second).toBeInstanceOf(AbortedError);
    expect(await rejection(publisher.send({}, { signal: AbortSignal.abort() }))).toBeInstanceOf(AbortedError);
    setting.broker.thaw();
    await first;
    expect(setting.broker.depth(setting.queue)).toBe(1);
  });
});

describe('under an alarm', () => {
  test('a send is refused at once, nothing is written, and the alarm’s reason is told', async () => {
    const setting = await onManualTime();
    await withQueue(setting);
    const { broker, mq, queue, clock } = setting;
    const publisher = mq.publisher({ routingKey: queue });
    broker.block('low on disk');
    const onTheWire = rejection(publisher.send({ first: true }));
    await vi.waitFor(() => expect(mq.blocked).toBe(true));
    expect(mq.blockedReason).toBe('low on disk');
    const refused = await rejection(publisher.send({}));
    expect(refused).toBeInstanceOf(PublishingPausedError);
    expect(refused).toMatchObject({ retryable: true, mayHaveArrived: false, reason: 'low on disk' });
    expect(counted(setting, 'refused')).toBe(1);
    expect(counted(setting, 'failed')).toBe(0);
    await clock.advance(10_000);
    expect(await onTheWire).toMatchObject({ code: 'ACEMQ_PUBLISH_TIMEOUT', mayHaveArrived: true });
    expect(counted(setting, 'failed')).toBe(1);
    broker.unblock();
    await vi.waitFor(() => expect(mq.blocked).toBe(false));
    expect(mq.blockedReason).toBeUndefined();
    await publisher.send({ after: true });
    expect(broker.depth(queue)).toBe(2);
  });

  test('what waits for a permit is refused when the block comes, and what is written is confirmed when it ends', async () => {
    const setting = await onMemory({ permits: 2 });
    await withQueue(setting);
    const { broker, mq, queue } = setting;
    const publisher = mq.publisher({ routingKey: queue });
    await publisher.send({});
    broker.block();
    const sends = Array.from({ length: 5 }, () => publisher.send({}));
    const ends = Promise.allSettled(sends);
    await vi.waitFor(() => expect(mq.blocked).toBe(true));
    expect(mq.outstanding).toBe(2);
    broker.unblock();
    const results = await ends;
    expect(results.map((one) => one.status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
    ]);
    expect(counted(setting, 'refused')).toBe(3);
    expect(broker.depth(queue)).toBe(3);
  });
});

describe('without an answer', () => {
  test('a frozen link ends the wait at the confirm time-out, counted from the write', async () => {
    const setting = await onManualTime({ confirmTimeout: '3s' });
    await withQueue(setting);
    const { broker, mq, queue, clock } = setting;
    const publisher = mq.publisher({ routingKey: queue });
    await publisher.send({});
    broker.freeze();
    let ended: unknown;
    void rejection(publisher.send({})).then((error) => {
      ended = error;
    });
    await clock.advance(2_999);
    expect(ended).toBeUndefined();
    await clock.advance(2);
    expect(ended).toMatchObject({ code: 'ACEMQ_PUBLISH_TIMEOUT', mayHaveArrived: true, retryable: true });
    expect(mq.outstanding).toBe(0);
  });

  test('a lost connection settles every outstanding publish as one that may or may not have arrived', async () => {
    const setting = await onMemory();
    await withQueue(setting);
    const { broker, mq, queue } = setting;
    const publisher = mq.publisher({ routingKey: queue });
    await publisher.send({});
    broker.freeze();
    const sends = Array.from({ length: 300 }, () => publisher.send({}));
    const ends = Promise.allSettled(sends);
    await vi.waitFor(() => expect(mq.outstanding).toBe(300));
    broker.dropLinks({ name: (name) => name.endsWith('publish') });
    for (const end of await ends) {
      expect(end).toMatchObject({
        status: 'rejected',
        reason: { code: 'ACEMQ_PUBLISH_LOST', mayHaveArrived: true },
      });
    }
    expect(counted(setting, 'failed')).toBe(300);
    expect(mq.outstanding).toBe(0);
  });

  test('a send while the link is down goes out when it is back, and is written once', async () => {
    const setting = await onMemory({ reconnect: { initial: 1, max: 5 } });
    await withQueue(setting);
    const { broker, mq, queue } = setting;
    broker.refuseDials('unreachable');
    broker.dropLinks();
    const sending = mq.publisher({ routingKey: queue }).send({});
    await vi.waitFor(() => expect(mq.state).toBe('retrying'));
    broker.acceptDials();
    await sending;
    expect(broker.depth(queue)).toBe(1);
  });

  test('a send while the link stays down ends after the time-out and says that nothing was written', async () => {
    const setting = await onManualTime({ confirmTimeout: '4s' });
    await withQueue(setting);
    const { broker, mq, queue, clock } = setting;
    broker.refuseDials('unreachable');
    broker.dropLinks();
    let ended: unknown;
    void rejection(mq.publisher({ routingKey: queue }).send({})).then((error) => {
      ended = error;
    });
    await clock.advance(3_900);
    expect(ended).toBeUndefined();
    await clock.advance(200);
    expect(ended).toMatchObject({ code: 'ACEMQ_PUBLISH_FAILED', retryable: true, mayHaveArrived: false });
    expect((ended as Error).message).toMatch(/no connection.*Nothing was written/);
  });

  test('a permit that does not come ends the wait, and one that comes back begins it anew for the others', async () => {
    const setting = await onManualTime({ confirmTimeout: '4s', permits: 1 });
    await withQueue(setting);
    const { broker, mq, queue, clock } = setting;
    const publisher = mq.publisher({ routingKey: queue });
    await publisher.send({});
    broker.freeze();
    const outcomes: string[] = [];
    const send = (name: string): void => {
      publisher.send({}).then(
        () => outcomes.push(`${name} confirmed`),
        (error: PublishError) => outcomes.push(`${name} ${error.code}`),
      );
    };
    send('first');
    await clock.advance(3_000);
    send('second');
    await clock.advance(1_100);
    expect(outcomes).toEqual(['first ACEMQ_PUBLISH_TIMEOUT']);
    await clock.advance(3_000);
    expect(outcomes).toHaveLength(1);
    broker.thaw();
    await clock.advance(1);
    expect(outcomes).toEqual(['first ACEMQ_PUBLISH_TIMEOUT', 'second confirmed']);
  });
});

describe('many sends', () => {
  test('started together keep to the permits, and each settles once', async () => {
    const setting = await onMemory({ permits: 10 });
    await withQueue(setting);
    const { mq, queue, broker } = setting;
    const publisher = mq.publisher<number>({ routingKey: queue });
    let most = 0;
    let settled = 0;
    const sends = Array.from({ length: 2_000 }, (_, number) =>
      publisher.send(number).then(() => {
        most = Math.max(most, mq.outstanding);
        settled += 1;
      }),
    );
    most = Math.max(most, mq.outstanding);
    await Promise.all(sends);
    expect(settled).toBe(2_000);
    expect(most).toBeLessThanOrEqual(10);
    const order = broker.messages(queue).map(({ body }) => Number(Buffer.from(body).toString()));
    expect(order).toEqual(Array.from({ length: 2_000 }, (_, number) => number));
  });

  test('in a batch resolve to their envelopes in the order of the payloads, from any iterable', async () => {
    const setting = await onMemory({ permits: 3 });
    await withQueue(setting);
    const publisher = setting.mq.publisher<number>({ routingKey: setting.queue });
    expect(await publisher.sendAll([])).toEqual([]);
    const fromSet = await publisher.sendAll(new Set([1, 2, 3, 4, 5]));
    const fromGenerator = await publisher.sendAll(
      (async function* () {
        yield 6;
        yield 7;
      })(),
    );
    const ids = setting.broker.messages(setting.queue).map((message) => message.messageId);
    expect([...fromSet, ...fromGenerator].map((envelope) => envelope.id)).toEqual(ids);
  });

  test('in a batch take payloads only as permits come', async () => {
    const setting = await onMemory({ permits: 4 });
    await withQueue(setting);
    const { mq, queue, broker } = setting;
    const publisher = mq.publisher<number>({ routingKey: queue });
    await publisher.send(0);
    broker.freeze();
    let taken = 0;
    const all = publisher.sendAll(
      (function* () {
        for (; taken < 100; taken += 1) yield taken;
      })(),
    );
    await vi.waitFor(() => expect(mq.outstanding).toBe(4));
    expect(taken).toBeLessThanOrEqual(5);
    broker.thaw();
    expect(await all).toHaveLength(100);
  });

  test('in a batch that fails in part say how many and which, and the rest is sent', async () => {
    const setting = await onMemory();
    await withQueue(setting);
    const publisher = setting.mq.publisher<unknown>({ routingKey: setting.queue });
    const error = (await rejection(publisher.sendAll([1, undefined, 3]))) as BatchPublishError;
    expect(error).toBeInstanceOf(BatchPublishError);
    expect(error).toMatchObject({ total: 3, confirmed: 2, failed: 1, unroutable: false });
    expect(error.message).toMatch(
      /^1 of 3 messages were not confirmed; 2 were\. The first failure was: the payload cannot be written as JSON/,
    );
    expect(error.errors.map((one) => one?.name)).toEqual([undefined, 'EncodeError', undefined]);
    expect(setting.broker.depth(setting.queue)).toBe(2);
    const lost = (await rejection(
      setting.mq.publisher({ routingKey: 'nobody' }).sendAll([1, 2]),
    )) as BatchPublishError;
    expect(lost.unroutable).toBe(true);
  });

  test('in a batch over a dead broker end one time-out later, not one each', async () => {
    const setting = await onManualTime({ permits: 2, confirmTimeout: '5s' });
    await withQueue(setting);
    const { broker, mq, queue, clock } = setting;
    const publisher = mq.publisher<number>({ routingKey: queue });
    await publisher.send(0);
    broker.refuseDials('unreachable');
    broker.dropLinks();
    let ended: unknown;
    void rejection(publisher.sendAll(Array.from({ length: 100 }, (_, number) => number))).then((error) => {
      ended = error;
    });
    await clock.advance(6_000);
    expect(ended).toMatchObject({ total: 100, failed: 100, confirmed: 0, retryable: true });
    expect(counted(setting, 'failed')).toBe(100);
  });

  test('over a link that says nothing end within two time-outs, however many wait for a permit', async () => {
    const setting = await onManualTime({ permits: 2, confirmTimeout: '5s' });
    await withQueue(setting);
    const { broker, mq, queue, clock } = setting;
    const publisher = mq.publisher<number>({ routingKey: queue });
    await publisher.send(0);
    broker.freeze();
    const codes: string[] = [];
    for (let number = 0; number < 50; number += 1) {
      publisher.send(number).catch((error: PublishError) => codes.push(error.code));
      if (number % 10 === 9) await clock.advance(100);
    }
    await clock.advance(10_000);
    expect(codes).toHaveLength(50);
    // What gave up without a permit has not been written: two at first, and two with the permits of those.
    expect(codes.filter((code) => code === 'ACEMQ_PUBLISH_TIMEOUT')).toHaveLength(4);
    expect(codes.filter((code) => code === 'ACEMQ_PUBLISH_FAILED')).toHaveLength(46);
    broker.thaw();
    await publisher.send(1);
  });

  test('in a batch over a link that says nothing end one time-out later too', async () => {
    const setting = await onManualTime({ permits: 2, confirmTimeout: '5s' });
    await withQueue(setting);
    const { broker, mq, queue, clock } = setting;
    const publisher = mq.publisher<number>({ routingKey: queue });
    await publisher.send(0);
    broker.freeze();
    let ended: unknown;
    void rejection(publisher.sendAll(Array.from({ length: 100 }, (_, number) => number))).then((error) => {
      ended = error;
    });
    await clock.advance(6_000);
    expect(ended).toMatchObject({ total: 100, failed: 100, confirmed: 0 });
    expect(mq.outstanding).toBe(0);
    broker.thaw();
    await publisher.sendAll([1, 2, 3]);
  });

  test('from an iterable that fails are waited for before its error is thrown on', async () => {
    const setting = await onMemory();
    await withQueue(setting);
    const failing = (function* () {
      yield 1;
      yield 2;
      throw new Error('the file ended early');
    })();
    const publisher = setting.mq.publisher<number>({ routingKey: setting.queue });
    await expect(publisher.sendAll(failing)).rejects.toThrow('the file ended early');
    expect(setting.mq.outstanding).toBe(0);
    expect(setting.broker.depth(setting.queue)).toBe(2);
  });

  test('caused by a message carry its flow, whether one field or a whole envelope is given', async () => {
    const setting = await onMemory();
    await withQueue(setting);
    const publisher = setting.mq.publisher({ routingKey: setting.queue });
    const first = await publisher.send({});
    const second = await publisher.send({}, causing(first, 'order.shipped', { now: Date.now() }));
    expect(second).toMatchObject({
      type: 'order.shipped',
      correlationId: first.correlationId,
      causationId: first.id,
    });
  });

  test('under one id are refused', async () => {
    const { mq } = await onMemory();
    await expect(mq.publisher({ routingKey: 'q' }).sendAll([1, 2], { id: 'same' })).rejects.toThrow(
      /same id/,
    );
  });
});

describe('a raw publish', () => {
  test('writes bytes and headers as they are, gives an id where there is none, and is not counted', async () => {
    const setting = await onMemory();
    await withQueue(setting);
    const body = Buffer.from('{nope');
    const answer = await setting.mq.publishRaw('', setting.queue, { body, headers: { a: 1 } });
    expect(answer).toMatchObject({ verdict: 'confirmed', judged: true, error: undefined });
    const [waiting] = setting.broker.messages(setting.queue);
    expect(waiting).toMatchObject({ headers: { a: 1 }, contentType: undefined });
    expect(waiting?.messageId).toMatch(/^[0-9a-f-]{36}$/);
    expect([...(waiting?.body ?? [])]).toEqual([...body]);
    expect(setting.metrics.counts.size).toBe(0);
  });

  test('refuses what is no message before anything is written', async () => {
    const { mq, queue } = await onMemory();
    const wrong: [unknown, RegExp][] = [
      [{ body: 'text' }, /body of a raw message must be a Uint8Array, and is "text"/],
      [{}, /body .* undefined/],
      [{ body: new Uint8Array(1), headers: 'none' }, /headers .* "none"/],
      [{ body: new Uint8Array(1), header: {} }, /no option "header"/],
    ];
    for (const [message, words] of wrong) {
      await expect(mq.publishRaw('', queue, message as never)).rejects.toThrow(words);
    }
  });

  test('answers whether the broker judged this message', async () => {
    const setting = await onMemory();
    await withQueue(setting);
    const { mq, broker, queue } = setting;
    const message = { body: new Uint8Array(1), headers: {} };
    expect(await mq.publishRaw('', 'nobody', message)).toMatchObject({ verdict: 'unroutable', judged: true });
    expect(await mq.publishRaw('nowhere', 'x', message)).toMatchObject({ verdict: 'refused', judged: true });
    broker.nackNext();
    expect(await mq.publishRaw('', queue, message)).toMatchObject({ verdict: 'nacked', judged: true });
    broker.freeze();
    const cut = mq.publishRaw('', queue, message);
    await vi.waitFor(() => expect(mq.outstanding).toBe(1));
    broker.dropLinks();
    expect(await cut).toMatchObject({ verdict: 'cut', judged: false });
    await mq.close({ timeout: 0 });
    const after = await mq.publishRaw('', queue, message);
    expect(after).toMatchObject({ verdict: 'unsent', judged: false });
    expect(after.error).toBeInstanceOf(ConnectionClosedError);
  });
});

test('a time of day that is set back by an hour delays no confirm time-out', async () => {
  const setting = await onManualTime({ confirmTimeout: '3s' });
  await withQueue(setting);
  const { mq, queue, clock, broker } = setting;
  const publisher = mq.publisher({ routingKey: queue });
  await publisher.send({});
  broker.freeze();
  const ended = rejection(publisher.send({}));
  const { now } = clock;
  vi.spyOn(clock, 'now').mockImplementation(() => now.call(clock) - 3_600_000);
  await clock.advance(3_001);
  expect(await ended).toMatchObject({ code: 'ACEMQ_PUBLISH_TIMEOUT' });
});
