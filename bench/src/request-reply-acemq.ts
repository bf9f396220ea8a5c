import { Metrics } from '@acemq/observe';
import { Requester, respond } from '@acemq/patterns/request';
import { openAcemq } from './acemq.ts';
import { AT_ONCE, answerTo, makeRoundTrips, type RoundTripTask } from './request-reply-sides.ts';
import { payloadOf } from './workload.ts';

/** Answers with a handler as an application has one. */
export async function answerWithAcemq({ url, queue, side }: RoundTripTask): Promise<void> {
  const mq = await openAcemq(url, observerOf(side));
  await respond(mq, queue, async ({ payload }) => answerTo(payload), {
    concurrency: AT_ONCE,
    prefetch: AT_ONCE,
    declare: false,
  });
}

/** Asks, on a reply queue of its own. */
export async function askWithAcemq({
  url,
  queue,
  side,
}: RoundTripTask): Promise<(messages: number) => Promise<void>> {
  const mq = await openAcemq(url, observerOf(side));
  const requester = await Requester.open<object, object>(mq, { routingKey: queue });
  return (messages) => makeRoundTrips(messages, (number) => requester.ask(payloadOf(number)));
}

function observerOf(side: RoundTripTask['side']): Metrics | undefined {
  return side === 'acemq-metrics' ? new Metrics() : undefined;
}
