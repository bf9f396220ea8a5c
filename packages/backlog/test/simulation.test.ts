import { ConfigurationError } from '@acemq/core';
import { describe, expect, it } from 'vitest';
import { capacity, type SimulationOptions, simulate } from '../src/index.ts';

const night = { arrivals: 3000, over: '10m', serviceTime: '4s', threads: 8 } as const;

/** Within 5 %. */
function near(found: number, wanted: number): void {
  expect(Math.abs(found - wanted)).toBeLessThanOrEqual(0.05 * wanted);
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

describe('the night, job by job', () => {
  it('agrees with the arithmetic for two workers', () => {
    // "after 10 minutes is a 600-job backlog and a 2.5-minute wait for the last buyer"
    const run = simulate({ ...night, workers: 2 });
    expect(run.arrived).toBe(3000);
    near(run.backlog, 600);
    near(run.lastWait, 150);
  });

  it('agrees with it for one worker', () => {
    const run = simulate({ ...night, workers: 1 });
    near(run.finishedAt, 25 * 60);
    near(run.lastWait, 15 * 60);
    near(run.backlog, capacity(night).rows[0]?.backlog ?? 0);
  });

  it('with three workers no job waits, and the last ends its own 4 s after the last arrival', () => {
    const run = simulate({ ...night, workers: 3 });
    expect(run.longestWait).toBe(0);
    expect(run.finishedAt - run.lastArrival).toBeCloseTo(4);
  });

  it('second 100 with one worker is the panel', () => {
    // jobs_depth{kind="render_tickets"} 300; jobs_oldest_age_seconds 61; jobs_completed_total 200
    const [panel] = simulate({ ...night, readAt: ['100s'] }).readings;
    near(panel?.depth ?? 0, 300);
    near(panel?.oldestAge ?? 0, 61);
    near(panel?.completed ?? 0, 200);
  });

  it('the rule fires after 160 s', () => {
    // expr: jobs_oldest_age_seconds > 60, for: 1m
    const readAt = Array.from({ length: 600 }, (_, second) => second * 1000);
    const { readings } = simulate({ ...night, readAt });
    const above = readings.find(({ oldestAge }) => oldestAge > 60);
    near((above?.time ?? 0) + 60, 160);
  });

  it.for([
    { arriving: 'random', service: 'constant' },
    { arriving: 'even', service: 'random' },
    { arriving: 'random', service: 'random' },
  ] as const)('the median of 200 nights agrees with %o', (random) => {
    const runs = Array.from({ length: 200 }, (_, seed) =>
      simulate({ ...night, ...random, workers: 2, seed }),
    );
    near(median(runs.map(({ backlog }) => backlog)), 600);
    near(median(runs.map(({ lastWait }) => lastWait)), 150);
  });
});

describe('the laws', () => {
  const nights: SimulationOptions[] = [
    { ...night, workers: 2, arriving: 'random', service: 'random', seed: 7 },
    { ...night, workers: 3 },
    {
      arrivals: [
        { rate: 100, for: '10s' },
        { rate: 0, for: '5s' },
        { rate: 4, for: '1m' },
      ],
      serviceTime: '1s',
      threads: 8,
      arriving: 'random',
      seed: 3,
    },
  ];

  it.for(nights)('no job is lost, and no thread is idle while one waits: %o', (options) => {
    const threads = options.threads * (options.workers ?? 1);
    let events = 0;
    let before = -1;
    simulate({
      ...options,
      onEvent: ({ time, arrived, waiting, working, done, started }) => {
        events += 1;
        expect(arrived).toBe(waiting + working + done);
        expect(started).toBe(working + done);
        if (waiting > 0) expect(working).toBe(threads);
        expect(working).toBeLessThanOrEqual(threads);
        expect(time).toBeGreaterThanOrEqual(before);
        before = time;
      },
    });
    expect(events).toBeGreaterThan(500);
  });

  it('first in, first out: with one thread a job starts when those before it are done', () => {
    const done: number[] = [];
    let finished = 0;
    simulate({
      arrivals: 100,
      over: '10s',
      serviceTime: '200ms',
      threads: 1,
      onEvent: (state) => {
        if (state.done > finished) done.push(state.time);
        finished = state.done;
      },
    });
    // Arrivals are 0.1 s apart, the first after 0.1 s; each job takes 0.2 s, so number n is done at 0.1 + 0.2 n.
    done.forEach((time, index) => {
      expect(time).toBeCloseTo(0.1 + 0.2 * (index + 1));
    });
    expect(done).toHaveLength(100);
  });

  it('the mean wait of M/M/c is the one of Erlang C, over a million jobs', () => {
    const servers = 8;
    const rate = 6.4;
    const run = simulate({
      arrivals: [{ rate, for: Math.round(1_000_000 / rate) * 1000 }],
      serviceTime: '1s',
      threads: servers,
      arriving: 'random',
      service: 'random',
      seed: 11,
    });
    near(run.meanWait, erlangC(servers, rate) / (servers - rate));
  });
});

/** The chance that a job has to wait, with `load` erlangs on so many servers. */
function erlangC(servers: number, load: number): number {
  let term = 1;
  let sum = 1;
  for (let n = 1; n < servers; n += 1) {
    term *= load / n;
    sum += term;
  }
  const all = ((term * load) / servers) * (servers / (servers - load));
  return all / (sum + all);
}

it('a peak makes jobs wait that the average hides', () => {
  // "and not the 100 checkouts a second the API answers in the opening seconds, because the stream absorbs the peak"
  const peak = [
    { rate: 100, for: '10s' },
    { rate: 4, for: '500s' },
  ] as const;
  const run = simulate({ arrivals: peak, serviceTime: '4s', threads: 8, workers: 3 });
  expect(run.arrived).toBe(3000);
  expect(capacity({ ...night, over: '510s' }).keepUp).toBe(3);
  // 1,000 jobs at 6 a second are 167 s, less the 10 s in which they came.
  near(run.longestWait, 1000 / 6 - 10);
});

it('the same seed is the same night, and another is another', () => {
  const run = (seed: number): number => simulate({ ...night, arriving: 'random', seed }).meanWait;
  expect(run(1)).toBe(run(1));
  expect(run(1)).not.toBe(run(2));
});

it.for([
  [{ ...night, arrivals: [] as const, over: undefined }, 'arrivals must have at least one phase'],
  [{ serviceTime: '1s', threads: 1, arrivals: 3 }, 'over must say'],
  [{ ...night, arrivals: [{ rate: 1, for: '1s' }] }, 'over is for a number of arrivals'],
  [{ serviceTime: '1s', threads: 1, arrivals: [{ rate: -1, for: '1s' }] }, 'arrivals[0].rate must be'],
  [{ ...night, arriving: 'poisson' }, 'arriving must be even or random, not "poisson"'],
  [{ ...night, seed: 0.5 }, 'seed must be a whole number, not 0.5'],
] as const)('refuses %o', ([options, words]) => {
  expect(() => simulate(options as unknown as SimulationOptions)).toThrow(ConfigurationError);
  expect(() => simulate(options as unknown as SimulationOptions)).toThrow(words);
});
