import { parseArgs } from 'node:util';
import { type Duration, describeError, milliseconds, systemClock } from '@acemq/core';
import { OneReading } from '../one-reading.ts';
import type { BacklogReading } from '../reading.ts';
import { HEALTHY, TOO_OLD, UNREADABLE } from './exit-codes.ts';
import { History, type KindHistory } from './history.ts';
import type { Surroundings } from './main.ts';
import { wholeNumber } from './numbers.ts';
import { openSource } from './open-source.ts';
import { panel } from './panel.ts';

/** How long a reading may take. */
const DEADLINE = 10_000;

/** Moves to the first line and clears what is below. */
const AFRESH = '\u001b[H\u001b[J';

export async function watchCommand(args: readonly string[], around: Surroundings): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      redis: { type: 'string' },
      stream: { type: 'string' },
      group: { type: 'string' },
      'kind-field': { type: 'string' },
      rabbitmq: { type: 'string' },
      queue: { type: 'string' },
      vhost: { type: 'string' },
      postgres: { type: 'string' },
      table: { type: 'string' },
      interval: { type: 'string' },
      readings: { type: 'string' },
      limit: { type: 'string' },
      json: { type: 'boolean' },
    },
  });
  const interval = milliseconds((values.interval ?? '5s') as Duration, '--interval', { min: 100 });
  const limit = milliseconds((values.limit ?? '60s') as Duration, '--limit', { min: 1 }) / 1000;
  const readings =
    values.readings === undefined ? Number.POSITIVE_INFINITY : wholeNumber(values.readings, 'readings');
  const { source, close } = await openSource(values, around.env);
  const stop = interruption(around);
  const reader = new OneReading(source, DEADLINE, systemClock);
  const history = new History();
  let code = HEALTHY;
  try {
    for (let n = 1; n <= readings && !stop.signal.aborted; n += 1) {
      const due = systemClock.elapsed() + interval;
      const reading = await Promise.race([reader.read(), stop.come]).catch((error: unknown) => ({ error }));
      if (reading === undefined) break;
      if ('error' in reading) {
        code = UNREADABLE;
        tellError(around, values.json === true, source.name, reading.error);
      } else {
        const kinds = history.add(reading);
        code = kinds.some(({ now }) => (now.oldestAge ?? 0) > limit) ? TOO_OLD : HEALTHY;
        if (values.json) around.stdout.write(`${JSON.stringify(asJson(reading, kinds, code === HEALTHY))}\n`);
        else around.stdout.write(`${around.stdout.isTTY ? AFRESH : ''}${panel(source.name, reading, kinds)}`);
        if (!values.json && !around.stdout.isTTY && n < readings) around.stdout.write('\n');
      }
      if (n < readings) await pause(due - systemClock.elapsed(), stop.signal);
    }
  } finally {
    reader.end(undefined);
    await close();
  }
  return code;
}

function tellError({ stdout, stderr }: Surroundings, json: boolean, name: string, error: unknown): void {
  const words = `${name} cannot be read: ${describeError(error)}`;
  if (json) stdout.write(`${JSON.stringify({ error: words })}\n`);
  else stderr.write(`${words}\n`);
}

function asJson(reading: BacklogReading, kinds: readonly KindHistory[], isHealthy: boolean): object {
  return {
    asOf: new Date(reading.asOf).toISOString(),
    healthy: isHealthy,
    kinds: kinds.map(({ now, throughput, diagnosis }) => ({ ...now, throughput, ...diagnosis })),
    deadLength: reading.deadLength,
    ...(reading.lag === undefined ? {} : { lag: reading.lag }),
  };
}

function interruption(around: Surroundings): {
  readonly signal: AbortSignal;
  readonly come: Promise<undefined>;
} {
  const controller = new AbortController();
  const come = new Promise<undefined>((resolve) => {
    controller.signal.addEventListener('abort', () => resolve(undefined));
  });
  around.on('SIGINT', () => controller.abort());
  around.on('SIGTERM', () => controller.abort());
  return { signal: controller.signal, come };
}

/** Ends early when it is interrupted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const timer = systemClock.after(Math.max(0, ms), resolve);
    signal.addEventListener('abort', () => {
      timer.cancel();
      resolve();
    });
  });
}
