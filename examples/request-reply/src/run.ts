import { randomUUID } from 'node:crypto';
import { connect } from '@acemq/amqp';
import { RequestTimeoutError, ResponderError, type Transport, topology } from '@acemq/core';
import { Metrics } from '@acemq/observe';
import { Requester, respond } from '@acemq/patterns/request';
import { isFetched, type Price, type PriceRequest, priceOf } from './prices.ts';

/** What became of the asks, and what both sides counted. */
export interface Outcome {
  readonly asks: number;
  /** Right answers. */
  readonly prices: number;
  /** What the responder said that it could not answer, by the class of the error. */
  readonly refused: ReadonlyMap<string, number>;
  readonly timedOut: number;
  /** Whatever else went wrong. */
  readonly others: readonly unknown[];
  readonly requester: Readonly<Record<'answered' | 'timedOut' | 'failed' | 'unmatched' | 'late', number>>;
  readonly responder: Readonly<Record<'answered' | 'failed' | 'unanswerable', number>>;
  /** Requests that were dead-lettered, by their reason. */
  readonly deadLetters: readonly string[];
  /** `acemq.request.total`, by outcome. */
  readonly metric: Readonly<Record<string, number>>;
}

/** Asks for so many prices at once, over one reply queue. */
export async function run(target: string | Transport, asks: number): Promise<Outcome> {
  const metrics = new Metrics();
  const mq = await connect(target, { name: 'shop', observer: metrics });
  const queue = `prices-${randomUUID().slice(0, 8)}`;
  await mq.declare(topology().queue(queue));
  const responder = await respond<PriceRequest, Price>(mq, queue, priceOf, { concurrency: 50 });
  const requester = await Requester.open<PriceRequest, Price>(mq, { routingKey: queue });
  try {
    // Somebody who does not say where the reply belongs.
    await mq.publisher<PriceRequest>({ routingKey: queue }).send({ sku: 'SKU-1' });
    const asked = Array.from({ length: asks }, (_, number) =>
      // Whoever wants a price that has to be fetched is in a hurry.
      requester.ask({ sku: `SKU-${number}` }, isFetched(number) ? { timeout: '200ms' } : {}),
    );
    const settled = await Promise.allSettled(asked);
    // The prices that were fetched come in all the same, and nobody waits for them.
    const late = (): boolean => requester.unmatched >= requester.timedOut && responder.unanswerable >= 1;
    for (let waits = 0; waits < 300 && !late(); waits += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await responder.close();
    const deadLetters: string[] = [];
    for (let dead = await mq.pull(`${queue}.dlq`); dead; dead = await mq.pull(`${queue}.dlq`)) {
      deadLetters.push(String(dead.headers['x-acemq-error']));
      dead.ack();
    }
    const { answered, timedOut, failed, unmatched, late: lateOnes } = requester;
    return {
      asks,
      ...sorted(settled),
      requester: { answered, timedOut, failed, unmatched, late: lateOnes },
      responder: {
        answered: responder.answered,
        failed: responder.failed,
        unanswerable: responder.unanswerable,
      },
      deadLetters,
      metric: totals(metrics),
    };
  } finally {
    await requester.close();
    for (const name of [queue, `${queue}.dlq`, `${queue}.parked`]) await mq.deleteQueue(name);
    await mq.close();
  }
}

function sorted(
  settled: readonly PromiseSettledResult<Price>[],
): Pick<Outcome, 'prices' | 'refused' | 'timedOut' | 'others'> {
  let prices = 0;
  let timedOut = 0;
  const refused = new Map<string, number>();
  const others: unknown[] = [];
  for (const [number, one] of settled.entries()) {
    if (one.status === 'fulfilled') {
      if (one.value.cents === 100 + number) prices += 1;
      else others.push(one.value);
    } else if (one.reason instanceof RequestTimeoutError) {
      timedOut += 1;
    } else if (one.reason instanceof ResponderError) {
      const type = one.reason.type ?? '';
      refused.set(type, (refused.get(type) ?? 0) + 1);
    } else {
      others.push(one.reason);
    }
  }
  return { prices, refused, timedOut, others };
}

function totals(metrics: Metrics): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [key, count] of metrics.counts) {
    const [, outcome] = /^acemq\.request\.total\{outcome="(\w+)"/.exec(key) ?? [];
    if (outcome !== undefined) found[outcome] = (found[outcome] ?? 0) + count;
  }
  return found;
}
