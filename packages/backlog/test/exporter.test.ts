import { ConfigurationError } from '@acemq/core';
import { type Labels, Metrics, type Observer, prometheusText } from '@acemq/observe';
import { describe, expect, it, vi } from 'vitest';
import { BacklogExporter, type BacklogReading, type BacklogSource, type KindReading } from '../src/index.ts';

/** A clock that goes on when it is told to. */
class HandClock {
  time = 1_700_000_000_000;
  #timers: { due: number; work: () => void }[] = [];
  now(): number {
    return this.time;
  }
  elapsed(): number {
    return this.time;
  }
  after(ms: number, work: () => void): { cancel: () => void } {
    const timer = { due: this.time + ms, work };
    this.#timers.push(timer);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((one) => one !== timer);
      },
    };
  }
  async pass(ms: number): Promise<void> {
    const end = this.time + ms;
    for (;;) {
      const next = this.#timers.filter(({ due }) => due <= end).sort((a, b) => a.due - b.due)[0];
      if (next === undefined) break;
      this.time = next.due;
      this.#timers = this.#timers.filter((one) => one !== next);
      next.work();
      await settled();
    }
    this.time = end;
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function pending<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** Keeps the last value of every gauge and the sum of every counter. */
class Panel implements Observer {
  readonly values: Map<string, number> = new Map();
  count(metric: string, delta: number, labels: Labels): void {
    const key = keyOf(metric, labels);
    this.values.set(key, (this.values.get(key) ?? 0) + delta);
  }
  observe(): void {}
  gauge(metric: string, value: number, labels: Labels): void {
    this.values.set(keyOf(metric, labels), value);
  }
  at(metric: string, kind?: string): number | undefined {
    return this.values.get(keyOf(metric, kind === undefined ? {} : { kind }));
  }
}

function keyOf(metric: string, labels: Labels): string {
  return `${metric}${JSON.stringify(labels)}`;
}

function reading(kinds: readonly KindReading[], deadLength: number | null = 0): BacklogReading {
  return { asOf: 1_700_000_000_000, kinds, deadLength };
}

const renders: KindReading = { kind: 'render_tickets', depth: 300, oldestAge: 61 };

function setting(
  read: BacklogSource['read'],
  options: Partial<ConstructorParameters<typeof BacklogExporter>[0]> = {},
) {
  const clock = new HandClock();
  const panel = new Panel();
  const logger = { info: vi.fn(), warn: vi.fn() };
  const source = { name: 'stream "jobs"', read: vi.fn(read) };
  const exporter = new BacklogExporter({ source, observer: panel, clock, logger, ...options });
  return { clock, panel, logger, source, exporter };
}

it('prints the panel of the night', async () => {
  const metrics = new Metrics();
  const { exporter } = setting(async () => reading([renders]), { observer: metrics });
  await exporter.read();
  // jobs_depth{kind="render_tickets"} 300; jobs_oldest_age_seconds{kind="render_tickets"} 61; jobs_dead_length 0
  expect(prometheusText(metrics)).toBe(
    [
      '# TYPE jobs_backlog_read_timestamp_seconds gauge',
      'jobs_backlog_read_timestamp_seconds 1700000000',
      '# TYPE jobs_dead_length gauge',
      'jobs_dead_length 0',
      '# TYPE jobs_depth gauge',
      'jobs_depth{kind="render_tickets"} 300',
      '# TYPE jobs_oldest_age_seconds gauge',
      'jobs_oldest_age_seconds{kind="render_tickets"} 61',
      '',
    ].join('\n'),
  );
});

it('reads when it starts and every 15 s', async () => {
  // "The worker's exporter computes the three every 15 seconds"
  const { exporter, source, clock } = setting(async () => reading([renders]));
  exporter.start();
  exporter.start();
  expect(source.read).toHaveBeenCalledTimes(1);
  await clock.pass(14_999);
  expect(source.read).toHaveBeenCalledTimes(1);
  await clock.pass(1);
  expect(source.read).toHaveBeenCalledTimes(2);
  exporter.close();
  await clock.pass(60_000);
  expect(source.read).toHaveBeenCalledTimes(2);
});

it('a reading past its deadline is an error, and the next waits until it has ended', async () => {
  const late = pending<BacklogReading>();
  const signals: (AbortSignal | undefined)[] = [];
  const answers = [late.promise, Promise.resolve(reading([renders]))];
  const { exporter, source, clock, panel, logger } = setting((signal) => {
    signals.push(signal);
    return answers.shift() as Promise<BacklogReading>;
  });
  exporter.start();
  await clock.pass(9_999);
  expect(panel.at('jobs_backlog_errors_total')).toBeUndefined();
  await clock.pass(1);
  expect(signals[0]?.aborted).toBe(true);
  expect(panel.at('jobs_backlog_errors_total')).toBe(1);
  expect(logger.warn.mock.calls[0]?.[0]).toBe(
    'stream "jobs" cannot be read: TimeoutError: stream "jobs" was not read within 10s',
  );
  await clock.pass(5_000);
  expect(source.read).toHaveBeenCalledTimes(1);
  expect(panel.at('jobs_backlog_errors_total')).toBe(2);
  late.resolve(reading([{ ...renders, depth: 1 }]));
  await settled();
  expect(panel.at('jobs_depth', 'render_tickets')).toBeUndefined();
  await clock.pass(15_000);
  expect(panel.at('jobs_depth', 'render_tickets')).toBe(300);
  exporter.close();
});

describe('a source that fails', () => {
  it('becomes NaN, never 0 and never the last value, and is logged once per change', async () => {
    let answer: () => BacklogReading = () => reading([{ ...renders, waitingRetry: 2 }], 3);
    const { exporter, panel, logger } = setting(async () => answer());
    await exporter.read();
    const read = panel.at('jobs_backlog_read_timestamp_seconds');
    answer = () => {
      throw new Error('connection lost');
    };
    expect(await exporter.read()).toBeUndefined();
    expect(await exporter.read()).toBeUndefined();
    for (const metric of ['jobs_depth', 'jobs_oldest_age_seconds', 'jobs_waiting_retry']) {
      expect(panel.at(metric, 'render_tickets'), metric).toBeNaN();
    }
    expect(panel.at('jobs_dead_length')).toBeNaN();
    expect(panel.at('jobs_backlog_errors_total')).toBe(2);
    expect(panel.at('jobs_backlog_read_timestamp_seconds')).toBe(read);
    expect(logger.warn.mock.calls.map(([words]) => words)).toEqual([
      'stream "jobs" cannot be read: Error: connection lost',
    ]);
    answer = () => reading([{ ...renders, waitingRetry: 0 }]);
    await exporter.read();
    expect(panel.at('jobs_depth', 'render_tickets')).toBe(300);
    expect(panel.at('jobs_waiting_retry', 'render_tickets')).toBe(0);
    expect(logger.info.mock.calls.map(([words]) => words)).toEqual(['stream "jobs" can be read again']);
  });

  it('so is an age that nobody knows, beside a depth that somebody does', async () => {
    const { exporter, panel } = setting(async () =>
      reading([{ kind: 'q', depth: 4, oldestAge: null }], null),
    );
    await exporter.read();
    expect(panel.at('jobs_depth', 'q')).toBe(4);
    expect(panel.at('jobs_oldest_age_seconds', 'q')).toBeNaN();
    expect(panel.at('jobs_dead_length')).toBeNaN();
  });
});

it('after it was closed its numbers are NaN, and a reading that still runs tells nothing', async () => {
  const answers = [Promise.resolve(reading([renders]))];
  const late = pending<BacklogReading>();
  const { exporter, panel } = setting(() => answers.shift() ?? late.promise);
  await exporter.read();
  const running = exporter.read();
  exporter.close();
  late.resolve(reading([renders]));
  expect(await running).toBeUndefined();
  expect(panel.at('jobs_depth', 'render_tickets')).toBeNaN();
  expect(panel.at('jobs_backlog_errors_total')).toBeUndefined();
});

describe('kinds', () => {
  it('a kind that has drained reads 0, and is forgotten after an hour', async () => {
    let kinds: KindReading[] = [renders];
    const { exporter, panel, clock } = setting(async () => reading(kinds));
    await exporter.read();
    kinds = [];
    await exporter.read();
    expect(panel.at('jobs_depth', 'render_tickets')).toBe(0);
    expect(panel.at('jobs_oldest_age_seconds', 'render_tickets')).toBe(0);
    panel.values.clear();
    clock.time += 3_599_999;
    await exporter.read();
    expect(panel.at('jobs_depth', 'render_tickets')).toBe(0);
    clock.time += 1;
    await exporter.read();
    panel.values.clear();
    await exporter.read();
    expect(panel.at('jobs_depth', 'render_tickets')).toBeUndefined();
  });

  it('past maxKinds the rest are summed under other, and a known kind keeps its series', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => ({
      kind: `k${index}`,
      depth: 2,
      oldestAge: index,
    }));
    let kinds: KindReading[] = many;
    const { exporter, panel } = setting(async () => reading(kinds));
    await exporter.read();
    const series = [...panel.values.keys()].filter((key) => key.startsWith('jobs_depth'));
    expect(series).toHaveLength(101);
    expect(panel.at('jobs_depth', 'k99')).toBe(2);
    expect(panel.at('jobs_depth', 'other')).toBe(19_800);
    expect(panel.at('jobs_oldest_age_seconds', 'other')).toBe(9999);
    kinds = many.slice(200).concat(many.slice(0, 1));
    await exporter.read();
    expect(panel.at('jobs_depth', 'k0')).toBe(2);
    expect(panel.at('jobs_depth', 'k99')).toBe(0);
    expect(panel.at('jobs_depth', 'other')).toBe(19_600);
  });
});

describe('constant labels', () => {
  it('are on every number', async () => {
    const { exporter, panel } = setting(async () => reading([renders]), { labels: { stream: 'jobs' } });
    await exporter.read();
    expect([...panel.values.keys()].every((key) => key.includes('"stream":"jobs"'))).toBe(true);
  });

  it('have the same names and other values on one observer; a second that does not is refused', () => {
    const observer = new Metrics();
    const make = (name: string, labels: Labels): BacklogExporter =>
      new BacklogExporter({ source: { name, read: async () => reading([]) }, observer, labels });
    const first = make('stream "jobs"', { stream: 'jobs' });
    make('stream "mails"', { stream: 'mails' });
    expect(() => make('stream "others"', {})).toThrow(ConfigurationError);
    expect(() => make('stream "others"', { queue: 'x' })).toThrow(
      'the exporter of stream "others" has the labels (queue) and the exporter of stream "jobs", on the same observer, (stream)',
    );
    expect(() => make('stream "others"', { stream: 'jobs' })).toThrow(
      'would write the numbers of the exporter of stream "jobs"',
    );
    first.close();
    expect(() => make('stream "jobs"', { stream: 'jobs' })).not.toThrow();
  });

  it.for([
    [{ kind: 'x' }, 'labels may not have "kind"'],
    [{ 'a-b': 'x' }, 'labels has "a-b"'],
    [{ a: 1 }, 'labels.a must be text, not 1'],
  ] as const)('refuses %o', ([labels, words]) => {
    expect(() => setting(async () => reading([]), { labels: labels as unknown as Labels })).toThrow(words);
  });
});

it.for([
  [{ maxKinds: 0 }, 'maxKinds must be a whole number of at least 1, not 0'],
  [{ interval: 0 }, 'interval must be at least 1ms'],
  [{ source: {} }, 'source must have a method read'],
  [{ logger: { info() {} } }, 'logger must have the methods info, warn; missing: warn'],
  [{ every: 1 }, 'BacklogExporter has no option "every"'],
] as const)('refuses %o', ([options, words]) => {
  expect(() => setting(async () => reading([]), options as object)).toThrow(words);
});
