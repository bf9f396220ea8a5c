import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, connect } from '@acemq/amqp';
import {
  deadLetterQueueName,
  describeError,
  HEADER_ERROR,
  HEADER_ROUTE_ID,
  randomId,
  type Transport,
} from '@acemq/core';
import { METRIC_CONSUME_TOTAL, Metrics } from '@acemq/observe';
import { type Account, accountTable, faultsOf } from './account.ts';
import { onboardingPipeline, runOnboarding } from './onboarding.ts';
import { applicants, RegistersInMemory } from './registers-in-memory.ts';

/** What a run of the example is given. */
export interface RunOptions {
  /** How many apply. */
  readonly count: number;
  /** A URL of RabbitMQ, or the in-memory broker. */
  readonly target: string | Transport;
  readonly out: { write(text: string): unknown };
  readonly err: { write(text: string): unknown };
}

/** In milliseconds: how long the last run may take to come to an end. */
const PATIENCE = 60_000;

/** Takes them all on, accounts for every run, and resolves to an exit code: 0 when each has come to one end. */
export async function runExample({ count, target, out, err }: RunOptions): Promise<number> {
  const metrics = new Metrics();
  let mq: Connection;
  try {
    mq = await connect(target, { name: 'onboarding', observer: metrics, connectTimeout: '5s' });
  } catch (error) {
    err.write(`pipeline: ${describeError(error)}\n`);
    return 2;
  }
  // A name of its own, so that two runs on one broker do not meet.
  const pipeline = onboardingPipeline(`onboarding-${randomId().slice(0, 8)}`);
  try {
    const where = typeof target === 'string' ? 'RabbitMQ' : 'the in-memory broker';
    out.write(`${count} runs of ${pipeline.name} (${pipeline.steps.join(', ')}),\non ${where}\n\n`);
    await pipeline.declare(mq);
    const registers = new RegistersInMemory();
    const running = await runOnboarding(mq, pipeline, registers);
    const ids = await Promise.all(applicants(count).map((one) => pipeline.send(mq, one)));
    const dead = deadLetterQueueName(pipeline.queue('enrich'));
    const deadline = Date.now() + PATIENCE;
    for (;;) {
      const over = registers.stored.size + registers.ended.size + (await mq.messageCount(dead));
      if (over >= count || Date.now() > deadline) break;
      await sleep(20);
    }
    await running.close();
    const retried = metrics.counts.get(
      `${METRIC_CONSUME_TOTAL}{outcome="retried",queue="${pipeline.queue('enrich')}"}`,
    );
    const account: Account = {
      begun: new Set(ids),
      completed: new Set(registers.stored.keys()),
      ended: registers.ended,
      dead: await reasonsIn(mq, dead),
      retried: retried ?? 0,
    };
    out.write(accountTable(account));
    const faults = faultsOf(account);
    for (const fault of faults) err.write(`pipeline: ${fault}\n`);
    return faults.length === 0 ? 0 : 1;
  } finally {
    for (const { name } of pipeline.topology().plan().queues) await mq.deleteQueue(name);
    await mq.deleteExchange(pipeline.name);
    await mq.close();
  }
}

/** The reason on each dead letter, by the id of its run. */
async function reasonsIn(mq: Connection, queue: string): Promise<Map<string, string>> {
  const reasons = new Map<string, string>();
  for (let dead = await mq.pull(queue); dead !== undefined; dead = await mq.pull(queue)) {
    reasons.set(String(dead.headers[HEADER_ROUTE_ID]), String(dead.headers[HEADER_ERROR]));
    dead.ack();
  }
  return reasons;
}
