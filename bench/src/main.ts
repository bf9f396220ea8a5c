import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { JOBS, type Job, type Measurement, SIDES, type Side, type Task } from './workload.ts';

/**
 * Compares the CPU time that a message costs with AceMQ and with raw amqplib, on the same wire. Every figure
 * is of a process of its own, the sides take turns, and the median of the rounds is printed. Raw is run
 * twice: how far its two figures lie apart is the noise floor.
 *
 * usage: node dist/main.js [messages] [rounds]     AMQP_URL says which broker
 */
const url = process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';
const messages = whole(process.argv[2], 40_000);
const rounds = whole(process.argv[3], 5);

console.log(
  `CPU time per message, ${messages} messages a process, median of ${rounds} rounds, Node ${process.version}\n`,
);
for (const job of JOBS) {
  const sides = SIDES.filter((side) => job === 'publish' || (side !== 'headerless' && side !== 'acemq-send'));
  const samples = new Map<Side, number[]>(sides.map((side) => [side, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const side of sides)
      samples.get(side)?.push((await measure({ side, job, messages, url })).microseconds);
  }
  report(job, samples);
}

function report(job: Job, samples: ReadonlyMap<Side, readonly number[]>): void {
  const raw = median(samples.get('raw') ?? []);
  console.log(`${job.padEnd(16)}${'us/message'.padStart(12)}${'of raw'.padStart(10)}   lowest to highest`);
  for (const [side, values] of samples) {
    const middle = median(values);
    const range = `${Math.min(...values).toFixed(1)} to ${Math.max(...values).toFixed(1)}`;
    console.log(
      `  ${side.padEnd(14)}${middle.toFixed(1).padStart(12)}${(middle / raw).toFixed(2).padStart(10)}   ${range}`,
    );
  }
  console.log('');
}

function measure(task: Task): Promise<Measurement> {
  return new Promise((resolve, reject) => {
    const worker = fork(fileURLToPath(new URL('./worker.js', import.meta.url)), [JSON.stringify(task)]);
    let measured: Measurement | undefined;
    worker.once('message', (message) => {
      measured = message as Measurement;
    });
    worker.once('error', reject);
    worker.once('exit', (code) => {
      if (measured === undefined) reject(new Error(`${task.job} ${task.side} ended with exit code ${code}`));
      else resolve(measured);
    });
  });
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

function whole(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) {
    console.error(`expected a whole number of at least 1, got ${JSON.stringify(text)}`);
    process.exit(2);
  }
  return number;
}
