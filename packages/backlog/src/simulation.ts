import { ConfigurationError, checkOptions, type Duration, milliseconds, shown } from '@acemq/core';
import { type ArrivalPhase, arrivalTimes, lengthOf } from './arrivals.ts';
import { atLeastOne } from './capacity.ts';
import { FinishTimes } from './finish-times.ts';
import { exponentialTime, seededRandom } from './random.ts';

/** The night that is run. */
export interface SimulationOptions {
  /** How many jobs come `over` that time, or the phases of the night, each with its rate. */
  readonly arrivals: number | readonly ArrivalPhase[];
  /** How long it takes until all have come. Not with phases, which say it themselves. */
  readonly over?: Duration;
  /** How long a job takes a thread; the mean of it where service is random. */
  readonly serviceTime: Duration;
  /** How many jobs a worker works at the same time. */
  readonly threads: number;
  /** How many workers there are; 1 by default. */
  readonly workers?: number;
  /** `even` (the default): at equal distances. `random`: a Poisson process of that rate. */
  readonly arriving?: 'even' | 'random';
  /** `constant` (the default): each job takes the same time. `random`: exponentially distributed. */
  readonly service?: 'constant' | 'random';
  /** Decides everything that is random; a whole number, 1 by default. */
  readonly seed?: number;
  /** The moments at which the three numbers are read. None by default. */
  readonly readAt?: readonly Duration[];
  /** Is told the state after every event; the object is the same each time. */
  readonly onEvent?: (state: SimulationState) => void;
}

/** The state of a run after an event. */
export interface SimulationState {
  /** Seconds from the start. */
  readonly time: number;
  readonly arrived: number;
  readonly waiting: number;
  readonly working: number;
  readonly done: number;
  /** The number of the job that was started last, from 1; 0 before the first. */
  readonly started: number;
}

/** What the panel of a dashboard would show at one moment. */
export interface SimulatedReading {
  /** Seconds from the start. */
  readonly time: number;
  /** Jobs that have arrived and are not finished. */
  readonly depth: number;
  /** Seconds since the oldest of them arrived; 0 without one. */
  readonly oldestAge: number;
  readonly completed: number;
}

/** How a night went. All times are in seconds from the first moment. */
export interface Simulation {
  readonly arrived: number;
  readonly lastArrival: number;
  /** When the last job ended. */
  readonly finishedAt: number;
  /** Jobs that were not started when the arrivals ended. */
  readonly backlog: number;
  /** From a job's arrival to its start. */
  readonly meanWait: number;
  readonly longestWait: number;
  readonly lastWait: number;
  readonly readings: readonly SimulatedReading[];
}

interface MutableState {
  time: number;
  arrived: number;
  waiting: number;
  working: number;
  done: number;
  started: number;
}

const OPTIONS = [
  'arrivals',
  'over',
  'serviceTime',
  'threads',
  'workers',
  'arriving',
  'service',
  'seed',
  'readAt',
  'onEvent',
] as const;

/**
 * Runs a night job by job: first in, first out, on `workers * threads` threads. The same options give the same run.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for an option that is unknown or cannot be used.
 */
export function simulate(options: SimulationOptions): Simulation {
  checkOptions(options, OPTIONS, 'simulate');
  const profile = profileOf(options);
  const serviceTime = milliseconds(options.serviceTime, 'serviceTime', { min: 1 }) / 1000;
  const threads = atLeastOne(options.threads, 'threads') * atLeastOne(options.workers ?? 1, 'workers');
  const random = seededRandom(seedOf(options.seed));
  const even = oneOf(options.arriving ?? 'even', ['even', 'random'], 'arriving') === 'even';
  const constant = oneOf(options.service ?? 'constant', ['constant', 'random'], 'service') === 'constant';
  const readAt = (options.readAt ?? []).map((at) => milliseconds(at, 'readAt') / 1000).sort((a, b) => a - b);
  const end = lengthOf(profile);
  const nextArrival = arrivalTimes(profile, even ? undefined : random);

  // A job's number is its place in these lists. Unfinished jobs are found by their arrivals, oldest first.
  const arrivals: number[] = [];
  const finish: number[] = [];
  const busy = new FinishTimes(threads);
  const state: MutableState = { time: 0, arrived: 0, waiting: 0, working: 0, done: 0, started: 0 };
  const readings: SimulatedReading[] = [];
  let oldest = 0;
  let backlog: number | undefined;
  let waits = 0;
  let longestWait = 0;
  let lastWait = 0;

  const start = (): void => {
    const wait = state.time - (arrivals[state.started] as number);
    waits += wait;
    longestWait = Math.max(longestWait, wait);
    lastWait = wait;
    const until = state.time + (constant ? serviceTime : exponentialTime(serviceTime, random));
    finish.push(until);
    busy.add(until);
    state.started += 1;
    state.working += 1;
  };
  /** Reads the panel at every moment that lies before the next event. */
  const readUntil = (time: number): void => {
    if (backlog === undefined && time > end) backlog = state.waiting;
    for (let at = readAt[readings.length]; at !== undefined && at < time; at = readAt[readings.length]) {
      while (oldest < state.started && (finish[oldest] as number) <= at) oldest += 1;
      const since = arrivals[oldest];
      const oldestAge = since === undefined ? 0 : at - since;
      readings.push(
        Object.freeze({ time: at, depth: state.arrived - state.done, oldestAge, completed: state.done }),
      );
    }
  };

  let arrival = nextArrival();
  while (arrival !== undefined || busy.size > 0) {
    const next = busy.next;
    if (arrival !== undefined && arrival < next) {
      readUntil(arrival);
      state.time = arrival;
      state.arrived += 1;
      arrivals.push(arrival);
      if (busy.size < threads) start();
      else state.waiting += 1;
      arrival = nextArrival();
    } else {
      readUntil(next);
      state.time = next;
      busy.removeNext();
      state.working -= 1;
      state.done += 1;
      if (state.waiting > 0) {
        state.waiting -= 1;
        start();
      }
    }
    options.onEvent?.(state);
  }
  readUntil(Number.POSITIVE_INFINITY);
  return Object.freeze({
    arrived: state.arrived,
    lastArrival: arrivals.at(-1) ?? 0,
    finishedAt: state.time,
    backlog: backlog ?? 0,
    meanWait: state.arrived === 0 ? 0 : waits / state.arrived,
    longestWait,
    lastWait,
    readings: Object.freeze(readings),
  });
}

function profileOf({ arrivals, over }: SimulationOptions): readonly ArrivalPhase[] {
  if (typeof arrivals !== 'number') {
    if (over === undefined) return arrivals;
    throw new ConfigurationError('over is for a number of arrivals; phases say how long they last');
  }
  if (over === undefined) throw new ConfigurationError('over must say how long it takes until all have come');
  const seconds = milliseconds(over, 'over', { min: 1 }) / 1000;
  return [{ rate: atLeastOne(arrivals, 'arrivals') / seconds, for: over }];
}

function seedOf(seed: number | undefined): number {
  if (seed === undefined) return 1;
  if (Number.isSafeInteger(seed)) return seed;
  throw new ConfigurationError(`seed must be a whole number, not ${shown(seed)}`);
}

function oneOf<Word extends string>(given: Word, allowed: readonly Word[], option: string): Word {
  if (allowed.includes(given)) return given;
  throw new ConfigurationError(`${option} must be ${allowed.join(' or ')}, not ${shown(given)}`);
}
