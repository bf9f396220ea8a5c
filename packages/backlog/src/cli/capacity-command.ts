import type { Duration } from '@acemq/core';
import { columns, count, flags, given, type Surroundings, time, wholeNumber } from '@acemq/terminal';
import { capacity } from '../capacity.ts';
import { HEALTHY } from './exit-codes.ts';

export function capacityCommand(args: readonly string[], { stdout }: Surroundings): number {
  const values = flags(args, {
    arrivals: { type: 'string' },
    over: { type: 'string' },
    'service-time': { type: 'string' },
    threads: { type: 'string' },
    workers: { type: 'string' },
    'acceptable-wait': { type: 'string' },
    json: { type: 'boolean' },
  });
  const wait = values['acceptable-wait'];
  const answer = capacity({
    arrivals: wholeNumber(values.arrivals, 'arrivals'),
    over: given(values.over, 'over') as Duration,
    serviceTime: given(values['service-time'], 'service-time') as Duration,
    threads: wholeNumber(values.threads, 'threads'),
    ...(values.workers === undefined ? {} : { workers: wholeNumber(values.workers, 'workers') }),
    ...(wait === undefined ? {} : { acceptableWait: wait as Duration }),
  });
  if (values.json) {
    stdout.write(`${JSON.stringify(answer)}\n`);
    return HEALTHY;
  }
  const { arrivalRate, ratePerWorker, keepUp, fewest, rows } = answer;
  stdout.write(
    `${count(arrivalRate)} jobs a second arrive, and a worker completes ${count(ratePerWorker)}.\n` +
      `${workers(keepUp)} up with it.${
        fewest === keepUp ? '' : ` For a wait of at most ${wait}, ${fewest} will do.`
      }\n\n`,
  );
  stdout.write(
    columns([
      ['workers', 'a second', 'done after', 'backlog', 'last job waits'],
      ...rows.map((row) => [
        String(row.workers),
        count(row.rate),
        time(row.doneAfter),
        count(row.backlog),
        time(row.lastWait),
      ]),
    ]),
  );
  return HEALTHY;
}

function workers(n: number): string {
  return n === 1 ? 'One worker keeps' : `${n} workers keep`;
}
