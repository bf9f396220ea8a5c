import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { median } from './median.ts';
import { type RoundTripSide, SIDES } from './request-reply-sides.ts';
import { onQueueOfItsOwn } from './stage.ts';

/**
 * Compares a request-reply round trip with what it is made of: two raw publishes, each confirmed, and two raw consumes,
 * between the same two processes (amqplib; the same payloads, headers and properties, as many outstanding). The CPU times
 * of both processes are added, medians of the rounds; raw is run twice a round, and how far its two figures lie apart is the
 * noise floor.
 *
 * usage: node dist/request-reply.js [round trips] [rounds]     AMQP_URL says which broker
 */
const url = process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';
const messages = Number(process.argv[2] ?? 10_000);
const rounds = Number(process.argv[3] ?? 5);

const samples = new Map<RoundTripSide, Sample[]>(SIDES.map((side) => [side, []]));
for (let round = 0; round < rounds; round += 1) {
  for (const side of SIDES) samples.get(side)?.push(await measure(side));
}
report();

interface Sample {
  /** Microseconds of CPU time a round trip. */
  readonly requester: number;
  readonly responder: number;
}

/** One sample: two new processes on a queue of their own, warmed up. */
function measure(side: RoundTripSide): Promise<Sample> {
  return onQueueOfItsOwn(url, async (queue) => {
    const responder = await worker({ role: 'responder', side, queue, url, messages });
    const requester = await worker({ role: 'requester', side, queue, url, messages });
    responder.send('measure');
    requester.send('measure');
    const [asked] = (await once(requester, 'message')) as [number];
    responder.send('end');
    const [answered] = (await once(responder, 'message')) as [number];
    for (const process of [requester, responder]) {
      const exited = once(process, 'exit');
      process.send('exit');
      await exited;
    }
    return { requester: asked, responder: answered };
  });
}

/** Resolves when it is warm. */
async function worker(task: object): Promise<ChildProcess> {
  const file = fileURLToPath(new URL('./request-reply-worker.js', import.meta.url));
  const process = fork(file, [JSON.stringify(task)]);
  process.once('exit', (code) => {
    if (code !== 0) throw new Error(`${JSON.stringify(task)} ended with exit code ${code}`);
  });
  await once(process, 'message');
  return process;
}

function report(): void {
  console.log(
    `CPU time per round trip, requester and responder, ${messages} round trips, median of ${rounds} rounds, Node ${process.version}\n`,
  );
  console.log(
    `${''.padEnd(16)}${'requester'.padStart(10)}${'responder'.padStart(10)}${'both, us'.padStart(10)}${'of raw'.padStart(8)}   lowest to highest`,
  );
  const both = ({ requester, responder }: Sample): number => requester + responder;
  const raw = median((samples.get('raw') ?? []).map(both));
  for (const [side, taken] of samples) {
    const sums = taken.map(both);
    const middle = median(sums);
    console.log(
      [
        `  ${side.padEnd(14)}`,
        median(taken.map(({ requester }) => requester))
          .toFixed(1)
          .padStart(10),
        median(taken.map(({ responder }) => responder))
          .toFixed(1)
          .padStart(10),
        middle.toFixed(1).padStart(10),
        (middle / raw).toFixed(2).padStart(8),
        `   ${Math.min(...sums).toFixed(1)} to ${Math.max(...sums).toFixed(1)}`,
      ].join(''),
    );
  }
}
