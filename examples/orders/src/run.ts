import type { Readable } from 'node:stream';
import { type Connection, connect } from '@acemq/amqp';
import { ConfigurationError, randomId, type Transport } from '@acemq/core';
import { Metrics, prometheusText } from '@acemq/observe';
import { type Account, faultsOf } from './account.ts';
import { DONE, NOT_BEGUN, STOPPED, WRONG } from './exit-codes.ts';
import { messageOf } from './message-of.ts';
import { type OrderLines, openOrders } from './order-lines.ts';
import { queuesOf, RETRIES, type RunQueues } from './queues.ts';
import { removeQueues } from './removing.ts';
import { accountTable, opening, scrape, setAsideList } from './report.ts';
import { lookInto } from './set-aside.ts';
import { type WorkOptions, workOrders } from './working.ts';

/** What one run of the shop is given. */
export interface RunOptions extends WorkOptions {
  /** A file of orders, or `-` for `stdin`. */
  readonly source: string;
  /** What the source is called. Default: as it was given. */
  readonly name?: string;
  readonly stdin: Readable;
  /** A URL of RabbitMQ, or the in-memory broker. */
  readonly target: string | Transport;
  /** The queue of the orders. Default: a name of this run's own. */
  readonly queue?: string;
  /** Whether the report has the whole scrape, durations too. Default false. */
  readonly wholeScrape?: boolean;
}

/** How many dead letters, and how many parked messages, are looked at for the report. */
const LOOKED_AT = 200;

/** Works all orders of a source through queues of their own, accounts for them, and resolves to an exit code. */
export async function runOrders(options: RunOptions): Promise<number> {
  const { source, stdin, target, out, err, signal } = options;
  const queues = queuesOf(options.queue ?? `orders-${randomId().slice(0, 8)}`);
  const metrics = new Metrics();
  const say = (text: string): void => void err.write(`orders: ${text.replaceAll(/\s+/g, ' ')}\n`);
  let orders: OrderLines | undefined;
  let mq: Connection;
  try {
    orders = await openOrders(source, stdin, signal);
    mq = await connect(target, { name: 'orders', observer: metrics, connectTimeout: '5s', signal });
  } catch (error) {
    orders?.close();
    if (signal.aborted) return STOPPED;
    // A URL comes from the environment, so a message about it has to say where it is to be corrected.
    const where = typeof target === 'string' && error instanceof ConfigurationError ? 'AMQP_URL: ' : '';
    say(where + messageOf(error));
    return NOT_BEGUN;
  }
  try {
    const broker = typeof target === 'string' ? 'RabbitMQ' : 'the in-memory broker';
    out.write(opening(options.name ?? orders.name, queues.source, broker, RETRIES.toString()));
    const account = await workOrders(mq, queues, orders.lines, metrics, options);
    if (signal.aborted) return STOPPED;
    out.write(`\n${accountTable(account, queues)}\n`);
    await showSetAside(mq, queues, account, out);
    out.write(scrape(prometheusText(metrics), account, options.wholeScrape ?? false));
    const faults = faultsOf(account);
    for (const fault of faults) say(fault);
    return faults.length === 0 ? DONE : WRONG;
  } catch (error) {
    if (signal.aborted) return STOPPED;
    say(messageOf(error));
    return WRONG;
  } finally {
    orders.close();
    await removeQueues(mq, queues, say);
    await mq.close({ timeout: 5_000 });
    if (signal.aborted) say('ended early');
  }
}

async function showSetAside(
  mq: Connection,
  queues: RunQueues,
  account: Account,
  out: RunOptions['out'],
): Promise<void> {
  const { deadLetters, parked } = account.lying;
  const dead = await lookInto(mq, queues.deadLetters, LOOKED_AT);
  out.write(setAsideList('Dead-lettered', dead, deadLetters));
  out.write(setAsideList('Parked', await lookInto(mq, queues.parked, LOOKED_AT), parked));
}
