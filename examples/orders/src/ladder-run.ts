import { setTimeout as pause } from 'node:timers/promises';
import { type Connection, connect } from '@acemq/amqp';
import { fixed, randomId, retryQueueName, topology } from '@acemq/core';
import { ConsumerProcess } from './consumer-process.ts';
import { DONE, NOT_BEGUN, STOPPED, WRONG } from './exit-codes.ts';
import type { LadderReport } from './ladder-report.ts';
import { messageOf } from './message-of.ts';
import type { Output } from './progress.ts';
import { removeQueues } from './removing.ts';

/** What one showing of the ladder is given. */
export interface LadderOptions {
  /** A URL of RabbitMQ. */
  readonly url: string;
  /** The program of a consumer process. */
  readonly worker: URL;
  readonly out: Output;
  readonly err: Output;
  /** Ends it early; its processes and queues are removed all the same. */
  readonly signal: AbortSignal;
  /** The time of the rung, in milliseconds; at least a few seconds, for a process has to be started within it. Default 6,000. */
  readonly delay?: number;
}

/** How long each step may take that is not the wait itself, in milliseconds. */
const STEP = 15_000;

const isReady = (report: LadderReport): report is LadderReport & { type: 'ready' } => report.type === 'ready';
const isAttempt =
  (attempt: number) =>
  (report: LadderReport): report is LadderReport & { type: 'delivered' } =>
    report.type === 'delivered' && report.attempt === attempt;

/**
 * Shows what a rung is for: a message fails, its consumer process is killed in the middle of the wait, another one is
 * started, and the message comes back when the rung's time is over. Resolves to an exit code: 0 when it did, 1 when it
 * came too early or not at all, 2 without a RabbitMQ, 130 when it was ended early.
 */
export async function showLadder(options: LadderOptions): Promise<number> {
  const { url, out, err, signal, delay = 6_000 } = options;
  const say = (text: string): void => void err.write(`ladder: ${text.replaceAll(/\s+/g, ' ')}\n`);
  let mq: Connection;
  try {
    mq = await connect(url, { name: 'ladder', connectTimeout: '5s', signal });
  } catch (error) {
    if (signal.aborted) return STOPPED;
    say(`this program needs a RabbitMQ, at AMQP_URL or on this machine: ${messageOf(error)}`);
    return NOT_BEGUN;
  }
  const queue = `ladder-${randomId().slice(0, 8)}`;
  const shape = topology().queue(queue, { retry: fixed(2, delay).waitInBrokerFrom(1) });
  const processes: ConsumerProcess[] = [];
  const start = (): ConsumerProcess => {
    const started = new ConsumerProcess(options.worker, [url, queue, String(delay)]);
    processes.push(started);
    return started;
  };
  try {
    await mq.declare(shape);
    return await show(mq, queue, delay, start, { out, signal });
  } catch (error) {
    if (signal.aborted) return STOPPED;
    say(messageOf(error));
    return WRONG;
  } finally {
    await Promise.all(processes.map((one) => one.kill()));
    await removeQueues(mq, { topology: shape }, say);
    await mq.close({ timeout: 5_000 });
    if (signal.aborted) say('ended early');
  }
}

async function show(
  mq: Connection,
  queue: string,
  delay: number,
  start: () => ConsumerProcess,
  { out, signal }: { readonly out: Output; readonly signal: AbortSignal },
): Promise<number> {
  const rung = retryQueueName(queue, delay);
  out.write(`One message, one rung of ${delay / 1000} s: the queue ${rung}\n\n`);
  const first = start();
  expected(await first.report(isReady, STEP, signal), 'the first consumer process did not come up');
  await mq.publisher({ routingKey: queue }).send({ hello: 'ladder' });
  const failed = expected(
    await first.report(isAttempt(1), STEP, signal),
    'the message did not reach the first consumer process',
  );
  const line = (at: number, text: string): void =>
    void out.write(`${((at - failed.at) / 1000).toFixed(2).padStart(7)} s  ${text}\n`);
  await until(async () => (await mq.messageCount(rung)) === 1, 'the message did not reach its rung', signal);
  line(failed.at, `attempt 1 fails in process ${first.pid}; the message waits in the broker`);

  await pause(Math.max(0, failed.at + delay / 3 - Date.now()), undefined, { signal });
  await first.kill();
  line(Date.now(), `process ${first.pid} is killed, with no time to say a word`);
  const second = start();
  expected(await second.report(isReady, STEP, signal), 'the second consumer process did not come up');
  line(Date.now(), `process ${second.pid} consumes; a wait held by ${first.pid} would have ended here`);
  const back = expected(
    await second.report(isAttempt(2), delay + STEP, signal),
    'the message did not come back',
  );
  line(back.at, `attempt 2 arrives in process ${second.pid}`);

  const waited = back.at - failed.at;
  const kept = waited >= delay;
  out.write(
    `\nThe message came back after ${(waited / 1000).toFixed(2)} s, ${kept ? 'not before' : 'BEFORE'} the rung's ${delay / 1000} s.\n`,
  );
  return kept ? DONE : WRONG;
}

async function until(
  condition: () => Promise<boolean>,
  otherwise: string,
  signal: AbortSignal,
): Promise<void> {
  const deadline = Date.now() + STEP;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(otherwise);
    await pause(20, undefined, { signal });
  }
}

function expected<T>(report: T | undefined, otherwise: string): T {
  if (report === undefined) throw new Error(otherwise);
  return report;
}
