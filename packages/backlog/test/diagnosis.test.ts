import { ConfigurationError } from '@acemq/core';
import { describe, expect, it } from 'vitest';
import {
  type BacklogSample,
  type DiagnosisOptions,
  diagnose,
  type Shape,
  type SimulationOptions,
  simulate,
} from '../src/index.ts';

/** Samples that are 15 s apart; each list says the number at each. */
function window(lines: {
  depth: readonly (number | null)[];
  age: readonly (number | null)[];
  completed: readonly (number | null)[];
  dead?: readonly (number | null)[];
  held?: number;
}): BacklogSample[] {
  return lines.depth.map((depth, index) => ({
    at: index * 15_000,
    depth,
    oldestAge: lines.age[index] ?? null,
    completed: lines.completed[index] ?? null,
    deadLength: lines.dead?.[index] ?? 0,
    ...(lines.held === undefined ? {} : { held: lines.held }),
  }));
}

describe('the shapes', () => {
  it('depth rising with throughput flat is saturated', () => {
    // "Depth rising with throughput flat is the night above: the workers are saturated, or a dependency has slowed every job"
    const found = diagnose(window({ depth: [210, 255, 300], age: [43, 52, 61], completed: [140, 170, 200] }));
    expect(found.shape).toBe('saturated');
    expect(found.sentence).toContain('add workers or find the slow dependency');
  });

  it('throughput at zero is dead workers', () => {
    // "Throughput at zero is workers that are dead, or a reclaim loop that is dead while the workers hold entries"
    const found = diagnose(
      window({ depth: [100, 175, 250], age: [20, 35, 50], completed: [7, 7, 7], held: 24 }),
    );
    expect(found).toMatchObject({
      shape: 'stopped',
      sentence: expect.stringContaining('the workers are dead'),
    });
  });

  it('and a dead reclaim loop where they hold all of it', () => {
    const found = diagnose(window({ depth: [8, 8, 8], age: [60, 75, 90], completed: [7, 7, 7], held: 8 }));
    expect(found).toMatchObject({ shape: 'stopped', sentence: expect.stringContaining('nothing reclaims') });
  });

  it('depth flat with throughput normal and an age that grows by a second a second is poison', () => {
    // "Depth flat and high with throughput normal is a poison job blocking one consumer's batch of 10"
    const found = diagnose(window({ depth: [30, 34, 29], age: [40, 55, 70], completed: [700, 775, 850] }));
    expect(found.shape).toBe('poison');
  });

  it('one more dead job is a bug, whatever the rest says', () => {
    // "The length of jobs:dead rising is a code bug on a class of jobs, and it is a page even at 1."
    const found = diagnose(
      window({ depth: [3, 4, 3], age: [4, 4, 4], completed: [700, 775, 850], dead: [0, 0, 1] }),
    );
    expect(found.shape).toBe('bug');
  });

  it.for<[string, Shape, BacklogSample[]]>([
    ['idle', 'healthy', window({ depth: [0, 0, 0], age: [0, 0, 0], completed: [7, 7, 7] })],
    [
      'jobs that have just come',
      'healthy',
      window({ depth: [0, 0, 9], age: [0, 0, 3], completed: [7, 7, 7] }),
    ],
    [
      'a backlog that drains',
      'healthy',
      window({ depth: [300, 250, 190], age: [90, 80, 64], completed: [0, 80, 180] }),
    ],
    [
      'a dead queue that somebody emptied',
      'healthy',
      window({ depth: [3, 4, 3], age: [4, 4, 4], completed: [0, 75, 150], dead: [9, 0, 0] }),
    ],
    ['one long job', 'healthy', window({ depth: [3, 4, 3], age: [4, 19, 5], completed: [700, 775, 850] })],
    [
      'a counter that was started again',
      'healthy',
      window({ depth: [20, 22, 21], age: [4, 4, 4], completed: [900, 2, 77] }),
    ],
    ['one reading', 'unclear', window({ depth: [300], age: [61], completed: [200] })],
    ['none', 'unclear', []],
    [
      'an age that nobody knows',
      'unclear',
      window({ depth: [3, 4, 3], age: [null, null, null], completed: [1, 2, 3] }),
    ],
    [
      'work that nobody counts',
      'unclear',
      window({ depth: [3, 4, 3], age: [1, 1, 1], completed: [null, null, null] }),
    ],
  ])('%s is no shape: %s', ([, shape, samples]) => {
    const found = diagnose(samples);
    expect(found.shape).toBe(shape);
    expect(found.sentence).toContain('nothing to say');
  });
});

/** A panel every 15 s of a night on these workers. */
function nightOf(options: Partial<SimulationOptions>): BacklogSample[] {
  const readAt = Array.from({ length: 40 }, (_, index) => (index + 1) * 15_000);
  const { readings } = simulate({
    arrivals: 3000,
    over: '10m',
    serviceTime: '4s',
    threads: 8,
    arriving: 'random',
    readAt,
    ...options,
  });
  return readings.map(({ time, depth, oldestAge, completed }) => ({
    at: time * 1000,
    depth,
    oldestAge,
    completed,
    deadLength: 0,
  }));
}

/** What was said at each reading. */
function saidDuring(samples: readonly BacklogSample[], options: DiagnosisOptions = {}): string[] {
  return samples.map((_, index) => diagnose(samples.slice(0, index + 1), options).sentence);
}

/** The workers are started again after the twentieth reading, and count from 0. */
function withReset(samples: readonly BacklogSample[]): BacklogSample[] {
  return samples.map((sample, index) =>
    index < 20 ? sample : { ...sample, completed: num(sample.completed) - num(samples[19]?.completed) },
  );
}

it.for([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])('a healthy night has nothing to say: seed %i', (seed) => {
  const noisy = nightOf({ workers: 4, seed });
  // With service times without memory one job in 3,000 takes 32 s, so the slowest job is above the default.
  const wild = nightOf({ workers: 4, seed, service: 'random' });
  for (const said of saidDuring(withReset(noisy))) expect(said).toContain('nothing to say');
  for (const said of saidDuring(withReset(wild), { stuckFor: '1m', lateAfter: '1m' }))
    expect(said).toContain('nothing to say');
});

it('the night of one worker is named within two readings of being late', () => {
  const samples = nightOf({ arriving: 'even', service: 'constant' });
  const late = samples.findIndex(({ oldestAge }) => num(oldestAge) >= 10);
  expect(diagnose(samples.slice(0, late + 3)).shape).toBe('saturated');
});

it('looks no further back than its window', () => {
  const samples = window({ depth: [3, 4, 3], age: [4, 4, 4], completed: [0, 75, 150], dead: [0, 0, 1] });
  expect(diagnose(samples, { window: '14s' }).shape).toBe('unclear');
});

it('refuses options that cannot be used', () => {
  expect(() => diagnose([], { flatWithin: 2 })).toThrow(ConfigurationError);
  expect(() => diagnose([], { flatWithin: 2 })).toThrow('flatWithin must be a number from 0 to 1, not 2');
  expect(() => diagnose([], { stuck: 1 } as object)).toThrow('diagnose has no option "stuck"');
});

function num(value: number | null | undefined): number {
  return value ?? Number.NaN;
}
