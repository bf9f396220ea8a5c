import { setTimeout as sleep } from 'node:timers/promises';
import type { Ack, Message } from '@acemq/core';
import { answerOf, stepOf } from './fate.ts';
import { assignment, connectForSoak, serve } from './hand.ts';
import { Journal } from './journal.ts';
import { QUEUES, RETRIES } from './queues.ts';

/** Handlers take up to so many milliseconds, so that a fault finds some of them at work. */
const LONGEST_WORK = 15;
const CONCURRENCY = 4;

const journal = new Journal(assignment.journal);
const mq = await connectForSoak();
let handled = 0;

async function work({ payload, envelope }: Message<{ readonly number: number }>): Promise<Ack> {
  const { number } = payload;
  await sleep(number % (LONGEST_WORK + 1));
  const step = stepOf(number, envelope.attempt);
  journal.worked(number, step);
  handled += 1;
  return answerOf(step);
}

const consumers = await Promise.all(
  QUEUES.map(({ name }) => mq.consume(name, work, { retry: RETRIES, concurrency: CONCURRENCY })),
);
const sum = (of: (consumer: (typeof consumers)[number]) => number): number =>
  consumers.reduce((total, consumer) => total + of(consumer), 0);

serve(mq, {
  progress: () => ({
    done: handled,
    open: sum((consumer) => consumer.inFlight),
    held: sum((consumer) => consumer.held),
  }),
  rest: async () => ({ sent: 0, unsettled: 0 }),
  farewell: () => ({ unexpected: [], slowest: 0, late: sum((consumer) => consumer.lateSettlements) }),
});
