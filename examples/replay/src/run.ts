import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, connect } from '@acemq/amqp';
import { deadLetterQueueName, parkedQueueName, type Transport, topology } from '@acemq/core';
import { browse, replay } from '@acemq/patterns/replay';
import { orders, RETRIES, Shop } from './shop.ts';

interface Output {
  write(text: string): unknown;
}

/** What the example runs with. */
export interface ExampleOptions {
  /** How many orders. */
  readonly count: number;
  /** A URL, or a broker in this process. */
  readonly target: string | Transport;
  readonly out: Output;
  readonly err: Output;
}

/** Milliseconds until it is no longer waited for what should have come. */
const PATIENCE = 60_000;

/** Runs the example. Resolves to the exit code: 0 when every order is where it belongs, 1 when not, 2 without a broker. */
export async function runExample({ count, target, out, err }: ExampleOptions): Promise<number> {
  let mq: Connection;
  try {
    mq = await connect(target, { name: 'replay example' });
  } catch (error) {
    err.write(`replay: ${(error as Error).name}: ${(error as Error).message}\n`);
    return 2;
  }
  const queue = `orders-${randomUUID().slice(0, 8)}`;
  const dlq = deadLetterQueueName(queue);
  const parked = parkedQueueName(queue);
  const line = (number: number | string, words: string): void => {
    out.write(`  ${String(number).padStart(5)}  ${words}\n`);
  };
  try {
    await mq.declare(topology().queue(queue, { retry: RETRIES }));
    const shop = new Shop();
    await shop.open(mq, queue);
    out.write(
      `${count} orders through ${queue},\non ${typeof target === 'string' ? 'RabbitMQ' : 'the in-memory broker'}\n\n`,
    );
    await mq.publisher({ routingKey: queue }).sendAll(orders(count));
    const settled = async (): Promise<number> =>
      shop.shipped.size + (await mq.messageCount(dlq)) + (await mq.messageCount(parked));
    await until(async () => (await settled()) === count);
    out.write('With the bug\n');
    line(shop.shipped.size, 'shipped');
    line(await mq.messageCount(dlq), `in ${dlq}`);
    line(await mq.messageCount(parked), `in ${parked}`);

    const reasons = new Map<string, number>();
    await browse(mq, dlq, ({ reason = 'no reason' }) => {
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    });
    out.write('\nWhy\n');
    for (const [reason, times] of reasons) line(times, reason);

    const only = ({ reason }: { readonly reason: string | undefined }): boolean =>
      reason?.includes('tariff') === true;
    const dry = await replay(mq, dlq, { only, dryRun: true });
    const tooEarly = await replay(mq, dlq, { only, limit: 3 });
    await until(async () => (await mq.messageCount(dlq)) === dry.moved);
    shop.isMended = true;
    const report = await replay(mq, dlq, { only, rate: 200 });
    await until(async () => (await settled()) === count && (await mq.messageCount(dlq)) === 0);
    out.write('\nReplayed\n');
    line(dry.moved, 'would be moved, said the dry run');
    line(tooEarly.moved, 'moved before the bug was mended, and set aside again');
    line(report.moved, 'moved after it, 200 a second');
    line(shop.shipped.size, 'shipped');
    line(await mq.messageCount(dlq), `in ${dlq}`);
    line(await mq.messageCount(parked), `in ${parked}, for somebody to look at`);
    const isWhole = (await settled()) === count && report.moved === dry.moved;
    out.write(isWhole ? `\nAll ${count} are accounted for.\n` : '\nThe numbers do not add up.\n');
    return isWhole ? 0 : 1;
  } catch (error) {
    err.write(`replay: ${(error as Error).name}: ${(error as Error).message}\n`);
    return 1;
  } finally {
    for (const consumer of mq.consumers) await consumer.close();
    for (const one of [queue, dlq, parked]) await mq.deleteQueue(one);
    await mq.close();
  }
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error('what should have come did not come within a minute');
    await sleep(20);
  }
}
