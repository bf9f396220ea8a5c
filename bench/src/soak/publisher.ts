import { BatchPublishError, PublishError, PublishingPausedError } from '@acemq/core';
import { assignment, connectForSoak, serve, textOf } from './hand.ts';
import { Journal, type Outcome } from './journal.ts';
import { EXCHANGE, queueOf } from './queues.ts';

/** A hundred single sends a second, and two batches. */
const TICK = 20;
const SINGLES_A_TICK = 2;
const TICKS_A_BATCH = 25;
const BATCH = 40;
/** How long what was sent may take to be settled at the end; every send has ended long before. */
const REST_PATIENCE = 30_000;
const MOST_UNEXPECTED = 20;

interface Numbered {
  readonly number: number;
}

const { first, stride } = assignment;
const journal = new Journal(assignment.journal);
const mq = await connectForSoak();
const publisher = mq.publisher<Numbered>({ exchange: EXCHANGE });
const unexpected: string[] = [];
let sent = 0;
let settled = 0;
let slowest = 0;
let ticks = 0;
let rested: (() => void) | undefined;

const ticking = setInterval(() => {
  for (let one = 0; one < SINGLES_A_TICK; one += 1) sendOne(nextNumber());
  ticks += 1;
  if (ticks % TICKS_A_BATCH === 0) sendBatch(Array.from({ length: BATCH }, nextNumber));
}, TICK);

serve(mq, {
  progress: () => ({ done: settled, open: sent - settled, held: 0 }),
  async rest() {
    clearInterval(ticking);
    if (settled < sent) {
      let patience: NodeJS.Timeout | undefined;
      const over = new Promise<void>((resolve) => {
        patience = setTimeout(resolve, REST_PATIENCE);
      });
      const done = new Promise<void>((resolve) => {
        rested = resolve;
      });
      await Promise.race([done, over]);
      clearTimeout(patience);
    }
    return { sent, unsettled: sent - settled + mq.outstanding };
  },
  farewell: () => ({ unexpected, slowest, late: 0 }),
});

function nextNumber(): number {
  const number = first + sent * stride;
  sent += 1;
  return number;
}

function sendOne(number: number): void {
  const started = performance.now();
  publisher.send({ number }, { routingKey: queueOf(number) }).then(
    () => settle(number, 'confirmed', started),
    (error: unknown) => settle(number, outcomeOf(error), started),
  );
}

function sendBatch(numbers: readonly number[]): void {
  const started = performance.now();
  const payloads = numbers.map((number) => ({ number }));
  publisher.sendAll(payloads, { routingKey: queueOf(numbers[0] as number) }).then(
    () => {
      for (const number of numbers) settle(number, 'confirmed', started);
    },
    (error: unknown) => {
      numbers.forEach((number, index) => {
        const own = error instanceof BatchPublishError ? error.errors[index] : error;
        settle(number, own === undefined ? 'confirmed' : outcomeOf(own), started);
      });
    },
  );
}

function settle(number: number, outcome: Outcome, started: number): void {
  journal.sent(number, outcome);
  slowest = Math.max(slowest, performance.now() - started);
  settled += 1;
  if (settled === sent) rested?.();
}

/** What the error says about the message, and nothing that is merely likely. */
function outcomeOf(error: unknown): Outcome {
  if (error instanceof PublishingPausedError) return 'unwritten';
  if (error instanceof PublishError) {
    if (error.mayHaveArrived) return 'uncertain';
    if (error.code === 'ACEMQ_PUBLISH_NACKED') return 'nacked';
    if (error.code === 'ACEMQ_PUBLISH_FAILED' && error.retryable) return 'unwritten';
  }
  if (unexpected.length < MOST_UNEXPECTED) unexpected.push(textOf(error));
  return 'unexpected';
}
