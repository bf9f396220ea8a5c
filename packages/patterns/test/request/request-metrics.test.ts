import { NullObserver, type Observer } from '@acemq/observe';
import { manualClock, memoryBroker } from '@acemq/testing';
import { expect, test, vi } from 'vitest';
import { Requester, respond } from '../../src/request/index.ts';
import { RequestTelemetry } from '../../src/request/telemetry.ts';
import { onManualTime, onMemory, PATIENCE, replyByHand } from './setting.ts';

test('every ask is counted once, by its routing key and how it ended', async () => {
  const { mq, queue, metrics } = await onMemory();
  await using _responder = await respond<number, number>(mq, queue, ({ payload }) => {
    if (payload < 0) throw new RangeError('negative');
    return payload;
  });
  await using requester = await Requester.open<number, number>(mq, { routingKey: queue });
  await requester.ask(1);
  await expect(requester.ask(-1)).rejects.toThrow();
  await expect(requester.ask(1, { routingKey: 'nowhere' })).rejects.toThrow();
  const counts = [...metrics.counts].filter(([key]) => key.startsWith('acemq.request.'));
  expect(Object.fromEntries(counts)).toEqual({
    [`acemq.request.total{outcome="answered",routing.key="${queue}"}`]: 2,
    'acemq.request.total{outcome="failed",routing.key="nowhere"}': 1,
  });
  expect(requester).toMatchObject({ answered: 2, failed: 1 });
});

test('how long it took is told in seconds, from the ask to its end', async () => {
  const { mq, clock, broker, queue, metrics } = await onManualTime();
  const requester = await Requester.open(mq, { routingKey: queue, timeout: '3s' });
  const answered = requester.ask(1);
  const timedOut = requester.ask(2).catch(() => {});
  await clock.advance(1_500);
  const correlationId = broker.messages(queue)[0]?.messageId as string;
  await replyByHand(mq, { address: requester.replyQueue, correlationId }, 'yes');
  await clock.advance(10);
  await answered;
  await clock.advance(3_000);
  await timedOut;
  const of = (outcome: string) =>
    metrics.durations.get(`acemq.request.duration{outcome="${outcome}",routing.key="${queue}"}`);
  expect(of('answered')).toMatchObject({ count: 1, total: 1.5 });
  expect(of('timed_out')).toMatchObject({ count: 1, total: 3 });
});

test('it is counted before the promise settles', async () => {
  const { mq, queue, metrics } = await onMemory();
  await using _responder = await respond(mq, queue, () => 1);
  await using requester = await Requester.open(mq, { routingKey: queue });
  const key = `acemq.request.total{outcome="answered",routing.key="${queue}"}`;
  const seen = requester.ask(1).then(() => metrics.counts.get(key));
  expect(await seen).toBe(1);
});

test('the consuming and the publishing of a reply are counted as any other', async () => {
  const { mq, queue, metrics } = await onMemory();
  await using _responder = await respond(mq, queue, () => 1);
  await using requester = await Requester.open(mq, { routingKey: queue });
  await requester.ask(1);
  const { replyQueue } = requester;
  await vi.waitFor(
    () => expect(metrics.counts.get(`acemq.consume.total{outcome="acked",queue="${queue}"}`)).toBe(1),
    PATIENCE,
  );
  expect(metrics.counts.get(`acemq.consume.total{outcome="acked",queue="${replyQueue}"}`)).toBe(1);
  expect(
    metrics.counts.get(`acemq.publish.total{exchange="",outcome="confirmed",routing.key="${replyQueue}"}`),
  ).toBe(1);
});

test('an observer that fails harms no ask', async () => {
  const broken: Observer = {
    count: () => {
      throw new Error('broken');
    },
    observe: () => {
      throw new Error('broken');
    },
    gauge: () => {
      throw new Error('broken');
    },
  };
  const { mq, queue } = await onMemory({ observer: broken }, memoryBroker());
  await using _responder = await respond(mq, queue, () => 1);
  await using requester = await Requester.open(mq, { routingKey: queue });
  expect(await requester.ask(1)).toBe(1);
});

test('without an observer no clock is read and no label made; with one, the same labels come each time', () => {
  const clock = manualClock();
  const elapsed = vi.spyOn(clock, 'elapsed');
  new RequestTelemetry(new NullObserver(), clock).ended('q', 'answered', 0);
  expect(elapsed).not.toHaveBeenCalled();
  const labels: unknown[] = [];
  const observer: Observer = {
    count: (_metric, _delta, given) => labels.push(given),
    observe: (_metric, _value, given) => labels.push(given),
    gauge: () => {},
  };
  const telemetry = new RequestTelemetry(observer, clock);
  telemetry.ended('q', 'answered', 0);
  telemetry.ended('q', 'answered', 0);
  expect(new Set(labels).size).toBe(1);
  expect(Object.isFrozen(labels[0])).toBe(true);
});

test('routing keys without number do not fill the memory with labels', () => {
  const labels = new Set<unknown>();
  const observer: Observer = {
    count: (_metric, _delta, given) => labels.add(given),
    observe: () => {},
    gauge: () => {},
  };
  const telemetry = new RequestTelemetry(observer, manualClock());
  telemetry.ended('q-0', 'failed', 0);
  for (let number = 1; number <= 1000; number += 1) telemetry.ended(`q-${number}`, 'failed', 0);
  telemetry.ended('q-0', 'failed', 0);
  expect(labels.size).toBe(1002);
});
