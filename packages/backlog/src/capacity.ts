import { ConfigurationError, checkOptions, type Duration, milliseconds, shown } from '@acemq/core';

/** A burst of jobs and the workers for it. */
export interface CapacityOptions {
  /** How many jobs come; a whole number of at least 1. */
  readonly arrivals: number;
  /** How long it takes until all have come. */
  readonly over: Duration;
  /** How long one job takes a thread: the 95th percentile of the job's span in the trace. */
  readonly serviceTime: Duration;
  /** How many jobs one worker works at the same time; a whole number of at least 1. */
  readonly threads: number;
  /** How many workers there are now; a row of the answer shows them. */
  readonly workers?: number;
  /** How long the last job may wait before it is started. Nothing by default: the workers must keep up. */
  readonly acceptableWait?: Duration;
}

/** What a number of workers makes of the burst. All times are in seconds. */
export interface CapacityRow {
  readonly workers: number;
  /** Jobs a second that they complete. */
  readonly rate: number;
  /** Whether they complete jobs at least as fast as these arrive. */
  readonly keepsUp: boolean;
  /** From the first arrival to the end of the last job. */
  readonly doneAfter: number;
  /** Jobs not started when the last one arrives. */
  readonly backlog: number;
  /** How long the last job waits before it is started. */
  readonly lastWait: number;
}

/** How many workers a burst needs. */
export interface Capacity {
  /** Jobs a second that arrive. */
  readonly arrivalRate: number;
  /** Jobs a second that one worker completes. */
  readonly ratePerWorker: number;
  /** The fewest workers that fall behind by nothing. */
  readonly keepUp: number;
  /** The fewest workers for which the last job waits no longer than `acceptableWait`. */
  readonly fewest: number;
  /** From one worker to the most that matter: those that keep up, `fewest` and `workers`, each with one failed. */
  readonly rows: readonly CapacityRow[];
}

/** The most rows that an answer has: past it only the last ones are told. */
const MOST_ROWS = 100;

/** Hides what floating point adds to a division that comes out even. */
const ROUNDING = 1e-9;

/**
 * How many workers a burst needs, by arithmetic: jobs arrive evenly and each takes the same time. What a peak inside the
 * burst does is not in it; `simulate` shows that.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for an option that is unknown or cannot be used.
 */
export function capacity(options: CapacityOptions): Capacity {
  checkOptions(
    options,
    ['arrivals', 'over', 'serviceTime', 'threads', 'workers', 'acceptableWait'],
    'capacity',
  );
  const arrivals = atLeastOne(options.arrivals, 'arrivals');
  const over = milliseconds(options.over, 'over', { min: 1 }) / 1000;
  const serviceTime = milliseconds(options.serviceTime, 'serviceTime', { min: 1 }) / 1000;
  const threads = atLeastOne(options.threads, 'threads');
  const now = options.workers === undefined ? 1 : atLeastOne(options.workers, 'workers');
  const acceptable = milliseconds(options.acceptableWait ?? 0, 'acceptableWait') / 1000;

  const arrivalRate = arrivals / over;
  const ratePerWorker = threads / serviceTime;
  const keepUp = Math.max(1, Math.ceil(arrivalRate / ratePerWorker - ROUNDING));
  // The last job waits for (arrivals / rate) - over seconds, so the rate must be at least arrivals / (over + wait).
  const fewest = Math.max(1, Math.ceil(arrivals / (over + acceptable) / ratePerWorker - ROUNDING));
  const most = Math.max(keepUp, fewest, now, 2);
  const row = (workers: number): CapacityRow => {
    const rate = workers * ratePerWorker;
    const keepsUp = workers >= keepUp;
    const backlog = keepsUp ? 0 : arrivals - rate * over;
    return Object.freeze({
      workers,
      rate,
      keepsUp,
      doneAfter: keepsUp ? over + serviceTime : arrivals / rate,
      backlog,
      lastWait: backlog / rate,
    });
  };
  const first = Math.max(1, most - MOST_ROWS + 1);
  const rows = Array.from({ length: most - first + 1 }, (_, index) => row(first + index));
  return Object.freeze({ arrivalRate, ratePerWorker, keepUp, fewest, rows: Object.freeze(rows) });
}

/**
 * How long a backlog takes to drain when nothing more arrives, in seconds: the division that age has done already.
 *
 * @param depth - How many jobs wait.
 * @param completedPerSecond - How many are completed a second; with 0 it never drains (`Infinity`), unless it is empty.
 */
export function drainTime(depth: number, completedPerSecond: number): number {
  return depth === 0 ? 0 : depth / completedPerSecond;
}

export function atLeastOne(value: unknown, option: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  throw new ConfigurationError(`${option} must be a whole number of at least 1, not ${shown(value)}`);
}
