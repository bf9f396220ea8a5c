import { checkOptions, type Duration, milliseconds } from '@acemq/core';
import { fraction } from './fraction.ts';
import { increase } from './increase.ts';

/** The three numbers of one kind at one moment. `null` is not known. */
export interface BacklogSample {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly depth: number | null;
  /** Seconds. */
  readonly oldestAge: number | null;
  /** A counter: one that falls was started again. */
  readonly completed: number | null;
  readonly deadLength: number | null;
  /** Those of the depth that a consumer was given and has not finished. */
  readonly held?: number | null;
}

/**
 * What the three lines look like.
 *
 * - `saturated`: more arrives than is completed;
 * - `stopped`: jobs wait, and nothing is completed;
 * - `poison`: everything moves except what is stuck;
 * - `bug`: jobs are given up;
 * - `healthy`: none of these;
 * - `unclear`: too little is known to say.
 */
export type Shape = 'saturated' | 'stopped' | 'poison' | 'bug' | 'healthy' | 'unclear';

/** What `diagnose` says. */
export interface Diagnosis {
  readonly shape: Shape;
  /** For the operator; `nothing to say` where the lines are healthy. */
  readonly sentence: string;
}

/** From when a line is what it looks like. */
export interface DiagnosisOptions {
  /**
   * How far back is looked; older samples are passed over. Five minutes by default: what was before them is over, or shows
   * still.
   */
  readonly window?: Duration;
  /**
   * For how long nothing is completed before the workers count as stopped, and how old a job must be at least. 15 seconds by
   * default, one reading, so that two show it whenever the workers died. Set it above your slowest job.
   */
  readonly stoppedFor?: Duration;
  /**
   * How old a job must be before it counts as stuck. 30 seconds by default: the age of a long job grows by a second a second
   * too, until it is done. Set it above your slowest job.
   */
  readonly stuckFor?: Duration;
  /**
   * How old the oldest job must be before the workers count as saturated. 10 seconds by default: depth rises for a moment in
   * every burst that they can work off.
   */
  readonly lateAfter?: Duration;
  /**
   * By which part of what was completed depth may change and still be flat. 0.1 by default: two workers that fall behind by 1
   * job a second at 4 a second are off by 0.25. What chance alone does to arrivals is always flat.
   */
  readonly flatWithin?: number;
}

interface Thresholds {
  readonly window: number;
  readonly stoppedFor: number;
  readonly stuckFor: number;
  readonly lateAfter: number;
  readonly flatWithin: number;
}

/** Fewer jobs than a batch of a worker are never a backlog that rises. */
const BATCH = 10;

/** An age grows by a second a second where the oldest job stays the oldest. The rest is for the edges of a reading. */
const STUCK_GROWTH = 0.95;

/** A line that rises by less than this, in seconds a second, is not seen on a dashboard of some minutes. */
const RISING_AGE = 0.1;

/** Arrivals at random differ by the root of their number; by twice that, one time in twenty. */
const CHANCE = 2;

/** Readings that are a minute apart may be a little less. */
const PUNCTUAL = 0.9;

/** How many of the last samples are looked at: two readings, and what they are compared with. */
const LOOKED_AT = 3;

const SAY: Readonly<Record<'saturated' | 'dead workers' | 'dead reclaim' | 'poison' | 'bug', string>> = {
  saturated:
    'work arrives faster than it is completed, and it will until the arrivals stop: add workers or find the slow dependency',
  'dead workers': 'jobs wait and nothing is completed: the workers are dead, start them',
  'dead reclaim':
    'workers hold all the jobs and nothing is completed: they are dead or hang, and nothing reclaims what they hold',
  poison:
    'everything moves except the oldest jobs: one of them is poison and blocks those that were taken with it, until its delivery limit',
  bug: 'jobs are given up: a code bug on a class of jobs; read the reasons on the dead ones',
};

/**
 * Which of the known shapes the last minutes of one kind have. Asks for two samples at least; with three, the last two
 * intervals must both say it.
 *
 * @param samples - In the order in which they were taken.
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for an option that is unknown or cannot be used.
 */
export function diagnose(samples: readonly BacklogSample[], options: DiagnosisOptions = {}): Diagnosis {
  const limits = thresholds(options);
  const newest = samples.at(-1);
  const inWindow = samples.filter(({ at }) => newest !== undefined && newest.at - at <= limits.window);
  const recent = inWindow.slice(-LOOKED_AT);
  const [first] = recent;
  if (newest === undefined || first === undefined || first === newest) {
    return say('unclear', 'nothing to say yet: two readings are needed');
  }
  if ((increase(recent, 'deadLength') ?? 0) > 0) return say('bug', SAY.bug);
  if (recent.some(({ depth, oldestAge }) => depth === null || oldestAge === null)) {
    return say('unclear', 'nothing to say: depth or age is not known');
  }
  if (newest.depth === 0) return say('healthy', 'nothing to say');
  if (recent.some(({ completed }) => completed === null)) {
    return say('unclear', 'nothing to say: nobody counts what is completed');
  }
  return stopped(inWindow, limits) ?? poison(recent, limits) ?? saturated(recent, limits) ?? healthy();
}

function healthy(): Diagnosis {
  return say('healthy', 'nothing to say');
}

/** Throughput at zero while there is work. */
function stopped(samples: readonly BacklogSample[], { stoppedFor }: Thresholds): Diagnosis | undefined {
  const newest = samples.at(-1) as BacklogSample;
  if (num(newest.oldestAge) * 1000 < stoppedFor) return undefined;
  const since = samples.findLastIndex(({ at }) => newest.at - at >= stoppedFor * PUNCTUAL);
  if (since < 0) return undefined;
  const quiet = samples.slice(since);
  if (increase(quiet, 'completed') !== 0 || quiet.some(({ depth }) => depth === 0)) return undefined;
  const allHeld = typeof newest.held === 'number' && newest.held >= num(newest.depth);
  return say('stopped', allHeld ? SAY['dead reclaim'] : SAY['dead workers']);
}

/** Depth flat, throughput normal, and an age that grows by a second a second. */
function poison(samples: readonly BacklogSample[], limits: Thresholds): Diagnosis | undefined {
  const newest = samples.at(-1) as BacklogSample;
  if (num(newest.oldestAge) * 1000 < limits.stuckFor) return undefined;
  const stuck = pairs(samples).every(([before, after]) => {
    const growth = (num(after.oldestAge) - num(before.oldestAge)) / seconds(before, after);
    return growth >= STUCK_GROWTH && num(increase([before, after], 'completed')) > 0;
  });
  if (!stuck || !isFlat(samples, limits)) return undefined;
  return say('poison', SAY.poison);
}

/** Depth and age rise while jobs are completed. */
function saturated(samples: readonly BacklogSample[], limits: Thresholds): Diagnosis | undefined {
  const newest = samples.at(-1) as BacklogSample;
  if (num(newest.oldestAge) * 1000 < limits.lateAfter) return undefined;
  const rising = pairs(samples).every(
    ([before, after]) =>
      num(after.depth) > num(before.depth) &&
      num(after.oldestAge) - num(before.oldestAge) >= RISING_AGE * seconds(before, after) &&
      num(increase([before, after], 'completed')) > 0,
  );
  if (!rising || isFlat(samples, limits)) return undefined;
  return say('saturated', SAY.saturated);
}

/** What was completed is the measure, since a depth has none of its own. */
function isFlat(samples: readonly BacklogSample[], { flatWithin }: Thresholds): boolean {
  const change = Math.abs(num(samples.at(-1)?.depth) - num(samples[0]?.depth));
  const completed = num(increase(samples, 'completed'));
  return change <= Math.max(BATCH, flatWithin * completed, CHANCE * Math.sqrt(completed));
}

function pairs(samples: readonly BacklogSample[]): readonly (readonly [BacklogSample, BacklogSample])[] {
  return samples.slice(1).map((after, index) => [samples[index] as BacklogSample, after] as const);
}

function seconds(before: BacklogSample, after: BacklogSample): number {
  return (after.at - before.at) / 1000;
}

/** Only for samples whose numbers were found to be known. */
function num(value: number | null | undefined): number {
  return value ?? 0;
}

function say(shape: Shape, sentence: string): Diagnosis {
  return Object.freeze({ shape, sentence });
}

function thresholds(options: DiagnosisOptions): Thresholds {
  checkOptions(options, ['window', 'stoppedFor', 'stuckFor', 'lateAfter', 'flatWithin'], 'diagnose');
  return {
    window: milliseconds(options.window ?? '5m', 'window', { min: 1 }),
    stoppedFor: milliseconds(options.stoppedFor ?? '15s', 'stoppedFor', { min: 1 }),
    stuckFor: milliseconds(options.stuckFor ?? '30s', 'stuckFor', { min: 1 }),
    lateAfter: milliseconds(options.lateAfter ?? '10s', 'lateAfter', { min: 1 }),
    flatWithin: fraction(options.flatWithin ?? 0.1, 'flatWithin'),
  };
}
