import { ConfigurationError, type Duration, milliseconds, systemClock } from '@acemq/core';
import { flags, type Surroundings, wholeNumber } from '@acemq/terminal';
import { OneReading } from '../one-reading.ts';
import { HEALTHY, TOO_OLD, UNREADABLE } from './exit-codes.ts';
import { History } from './history.ts';
import { openSource } from './open-source.ts';
import { jsonLines, pictures } from './showing.ts';

/** How long a reading may take. */
const DEADLINE = 10_000;

export async function watchCommand(args: readonly string[], around: Surroundings): Promise<number> {
  const values = flags(args, {
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
    once: { type: 'boolean' },
    json: { type: 'boolean' },
  });
  const interval = milliseconds((values.interval ?? '5s') as Duration, '--interval', { min: 100 });
  const limit = milliseconds((values.limit ?? '60s') as Duration, '--limit', { min: 1 }) / 1000;
  if (values.once && values.readings !== undefined) {
    throw new ConfigurationError('--once is --readings 1: say one of them');
  }
  const asked = values.once ? '1' : values.readings;
  const readings = asked === undefined ? Number.POSITIVE_INFINITY : wholeNumber(asked, 'readings');
  const { source, close } = await openSource(values, around.env);
  const stop = interruption(around);
  const reader = new OneReading(source, DEADLINE, systemClock);
  const history = new History();
  const show = values.json ? jsonLines(around) : pictures(around);
  let code = HEALTHY;
  try {
    for (let n = 1; n <= readings && !stop.signal.aborted; n += 1) {
      const due = systemClock.elapsed() + interval;
      const reading = await Promise.race([reader.read(), stop.come]).catch((error: unknown) => ({ error }));
      if (reading === undefined) break;
      if ('error' in reading) {
        code = UNREADABLE;
        show.unread(source.name, reading.error);
      } else {
        const kinds = history.add(reading);
        code = kinds.some(({ now }) => (now.oldestAge ?? 0) > limit) ? TOO_OLD : HEALTHY;
        show.reading({ name: source.name, reading, kinds, limit });
      }
      if (n < readings) await pause(due - systemClock.elapsed(), stop.signal);
    }
  } finally {
    show.end();
    reader.end(undefined);
    await close();
  }
  return code;
}

/** The second time a signal ends the process at once. */
function interruption(around: Surroundings): {
  readonly signal: AbortSignal;
  readonly come: Promise<undefined>;
} {
  const controller = new AbortController();
  const come = new Promise<undefined>((resolve) => {
    controller.signal.addEventListener('abort', () => resolve(undefined));
  });
  around.once('SIGINT', () => controller.abort());
  around.once('SIGTERM', () => controller.abort());
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
