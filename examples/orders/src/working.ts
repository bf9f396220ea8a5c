import { setTimeout as pause } from 'node:timers/promises';
import type { Connection, Consumer } from '@acemq/amqp';
import type { Metrics } from '@acemq/observe';
import type { Account } from './account.ts';
import { messageOf } from './message-of.ts';
import { type Output, showProgress } from './progress.ts';
import { type Publishing, publishOrders } from './publishing.ts';
import { RETRIES, type RunQueues } from './queues.ts';
import { shop } from './shop.ts';
import { ended, type Tally, tallyOf } from './tally.ts';

/** Orders worked at once. */
const CONCURRENCY = 4;
/** Milliseconds. Longer than the longest wait of the policy, in which nothing moves either. */
const DEFAULT_PATIENCE = 10_000;
/** Milliseconds between two looks at the figures. */
const LOOK_EVERY = 20;

/** How orders are worked. */
export interface WorkOptions {
  readonly out: Output;
  readonly err: Output;
  /** Ends it early. */
  readonly signal: AbortSignal;
  /** For how many milliseconds nothing may move before what is missing counts as lost. Default 10 s. */
  readonly patience?: number;
}

/** Publishes and consumes at the same time, until every order has come to an end or nothing moves any more. */
export async function workOrders(
  mq: Connection,
  queues: RunQueues,
  lines: AsyncIterable<Uint8Array>,
  metrics: Metrics,
  options: WorkOptions,
): Promise<Account> {
  const { signal, out, err, patience = DEFAULT_PATIENCE } = options;
  await mq.declare(queues.topology);
  const consumer = await mq.consume(queues.source, shop, { retry: RETRIES, concurrency: CONCURRENCY });
  const publishing: Publishing = { read: 0, rawConfirmed: 0, failure: undefined };
  const figures = (): { published: number; tally: Tally } => {
    const tally = tallyOf(metrics, queues.source);
    return { published: tally.sent + publishing.rawConfirmed, tally };
  };
  const endProgress = showProgress(out, figures);
  try {
    await publishOrders(mq, queues.source, lines, publishing);
    await settled(mq, queues, consumer, figures, { signal, patience });
  } finally {
    // What was counted may still be on its way to its queue; the consumer waits for that.
    await consumer.close(signal.aborted ? { timeout: 1_000 } : {});
    endProgress();
  }
  if (publishing.failure !== undefined) {
    err.write(`orders: not published: ${messageOf(publishing.failure)}\n`);
  }
  return { read: publishing.read, ...figures(), lying: await lyingIn(mq, queues) };
}

/**
 * Resolves when every order has come to an end and none waits anywhere, or when nothing has moved for too long. The
 * figures alone do not tell: an order that was delivered twice has two ends.
 */
async function settled(
  mq: Connection,
  queues: RunQueues,
  consumer: Consumer,
  figures: () => { readonly published: number; readonly tally: Tally },
  { signal, patience }: { readonly signal: AbortSignal; readonly patience: number },
): Promise<void> {
  let before = '';
  let moved = performance.now();
  while (!signal.aborted) {
    const { published, tally } = figures();
    const now = JSON.stringify(tally);
    if (ended(tally) >= published && consumer.inFlight === 0) {
      const { source, rungs } = await lyingIn(mq, queues);
      // Queues are asked one after the other: an order that moved meanwhile may have been in none of them.
      const still = consumer.inFlight === 0 && JSON.stringify(figures().tally) === now;
      if (source + rungs === 0 && still) return;
    }
    if (now !== before || consumer.inFlight > 0) moved = performance.now();
    else if (performance.now() - moved > patience) return;
    before = now;
    await pause(LOOK_EVERY);
  }
}

/** The broker's own count, without which the other figures would only agree with themselves. */
async function lyingIn(mq: Connection, queues: RunQueues): Promise<Account['lying']> {
  let rungs = 0;
  for (const rung of queues.rungs) rungs += await mq.messageCount(rung);
  return {
    source: await mq.messageCount(queues.source),
    rungs,
    deadLetters: await mq.messageCount(queues.deadLetters),
    parked: await mq.messageCount(queues.parked),
  };
}
