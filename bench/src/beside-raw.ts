import { measured } from './measuring.ts';
import { median } from './median.ts';
import {
  type Comparison,
  JOBS,
  type Job,
  type Measurement,
  SIDES,
  type Side,
  type Task,
} from './workload.ts';

/**
 * Compares the CPU time that a message costs with AceMQ and with raw amqplib, on the same wire. Every figure
 * is of a process of its own, the sides take turns, and the median of the rounds is printed. Raw is run
 * twice: how far its two figures lie apart is the noise floor.
 */
export async function compareWithRaw({ messages, rounds, url }: Comparison): Promise<void> {
  console.log(
    `CPU time per message, ${messages} messages a process, median of ${rounds} rounds, Node ${process.version}\n`,
  );
  for (const job of JOBS) {
    const sides = SIDES.filter(
      (side) => job === 'publish' || (side !== 'headerless' && side !== 'acemq-send'),
    );
    const samples = new Map<Side, number[]>(sides.map((side) => [side, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const side of sides) {
        const task: Task = { side, job, messages, url };
        samples.get(side)?.push((await measured<Measurement>(task)).microseconds);
      }
    }
    report(job, samples);
  }
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
