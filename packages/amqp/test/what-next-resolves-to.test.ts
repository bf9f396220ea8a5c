import { type PublishInterceptor, topology } from '@acemq/core';
import { METRIC_PUBLISH_TOTAL, metricKey } from '@acemq/observe';
import { expect, test } from 'vitest';
import { onMemory } from './setting.ts';

type Heard = readonly [resolved: boolean, error: unknown];

/** What the outer interceptor hears from its `next`, and the caller from `send`. */
async function heard(
  inner: PublishInterceptor,
  declare: boolean,
): Promise<{ readonly outside: Heard | undefined; readonly caller: Heard; readonly counts: unknown }> {
  const { mq, queue, metrics } = await onMemory();
  if (declare) await mq.declare(topology().queue(queue));
  const told = (work: Promise<unknown>): Promise<Heard> =>
    work.then(
      () => [true, undefined],
      (error: unknown) => [false, error],
    );
  let outside: Heard | undefined;
  mq.interceptPublish(async (_context, next) => {
    outside = await told(next());
  });
  mq.interceptPublish(inner);
  const caller = await told(mq.publisher({ routingKey: queue }).send({}));
  const counted = (outcome: string): number | undefined =>
    metrics.counts.get(metricKey(METRIC_PUBLISH_TOTAL, { exchange: '', 'routing.key': queue, outcome }));
  const counts = {
    confirmed: counted('confirmed'),
    unroutable: counted('unroutable'),
    failed: counted('failed'),
  };
  return { outside, caller, counts };
}

const none = { confirmed: undefined, unroutable: undefined, failed: undefined };
const nothingSent = expect.objectContaining({
  code: 'ACEMQ_PUBLISH_FAILED',
  message: expect.stringContaining('nothing was sent'),
});

test('next rejects where an interceptor further in sends nothing', async () => {
  const { outside, caller, counts } = await heard(async () => {}, true);
  expect(outside).toEqual([false, nothingSent]);
  expect(caller).toEqual([false, nothingSent]);
  expect(counts).toEqual({ ...none, failed: 1 });
});

test('next rejects where an interceptor further in keeps the error to itself', async () => {
  const { outside, caller, counts } = await heard((_context, next) => next().catch(() => {}), false);
  expect(outside).toEqual([false, expect.objectContaining({ unroutable: true })]);
  expect(caller).toEqual(outside);
  expect(counts).toEqual({ ...none, unroutable: 1 });
});

test('next resolves with the broker’s answer, where an interceptor further in did not wait for it', async () => {
  let answered = false;
  const { outside, counts } = await heard(async (_context, next) => {
    void next().then(() => {
      answered = true;
    });
  }, true);
  expect(outside).toEqual([true, undefined]);
  expect(answered).toBe(true);
  expect(counts).toEqual({ ...none, confirmed: 1 });
});
