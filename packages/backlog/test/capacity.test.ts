import { ConfigurationError } from '@acemq/core';
import { describe, expect, it } from 'vitest';
import { capacity, drainTime } from '../src/index.ts';

// "3,000 orders in 10 minutes is 5 renders a second arriving. … A render is 4 seconds of CPU, a worker has 8 render threads"
const night = { arrivals: 3000, over: '10m', serviceTime: '4s', threads: 8 } as const;

describe('the arithmetic of the night', () => {
  it('a depth of 12,000 is 2.4 seconds or 40 minutes, and only the rate tells', () => {
    // "A depth of 12,000 at 5,000 completions a second is a backlog of 2.4 seconds … The same 12,000 at 5 a second is 40 minutes."
    expect(drainTime(12_000, 5000)).toBeCloseTo(2.4);
    expect(drainTime(12_000, 5)).toBe(40 * 60);
    expect(drainTime(0, 0)).toBe(0);
    expect(drainTime(1, 0)).toBe(Number.POSITIVE_INFINITY);
  });

  it('knows what arrives and what one worker completes', () => {
    // "3,000 orders in 10 minutes is 5 renders a second arriving"; "so one worker completes 2 renders a second"
    const { arrivalRate, ratePerWorker } = capacity(night);
    expect(arrivalRate).toBe(5);
    expect(ratePerWorker).toBe(2);
  });

  it('one worker needs 25 minutes, and the last buyer waits for 15 of them', () => {
    // "3,000 renders through one worker is 25 minutes, of which the last buyer waits for all but the first 10"
    expect(capacity(night).rows[0]).toMatchObject({
      workers: 1,
      keepsUp: false,
      doneAfter: 25 * 60,
      lastWait: 15 * 60,
    });
  });

  it('two workers fall behind by 1 a second: 600 jobs, 2.5 minutes', () => {
    // "Two workers complete 4 a second and fall behind by 1 a second, which after 10 minutes is a 600-job backlog and a
    // 2.5-minute wait for the last buyer"
    const { arrivalRate, rows } = capacity(night);
    const two = rows[1];
    expect(two).toMatchObject({ workers: 2, rate: 4, keepsUp: false, backlog: 600, lastWait: 150 });
    expect(arrivalRate - (two?.rate ?? 0)).toBe(1);
  });

  it('three workers keep up', () => {
    // "Three workers complete 6 a second, ahead of the 5 arriving, and the whole burst is done inside the 10 minutes it takes
    // to arrive": by then every job has been started, and the last one ends its own 4 seconds later.
    const { keepUp, fewest, rows } = capacity(night);
    expect([keepUp, fewest]).toEqual([3, 3]);
    expect(rows[2]).toEqual({
      workers: 3,
      rate: 6,
      keepsUp: true,
      doneAfter: 604,
      backlog: 0,
      lastWait: 0,
    });
  });

  it('finds the fewest for which the last job waits no longer than is acceptable', () => {
    // "acceptable, and one worker's failure away from the night above"
    expect(capacity({ ...night, acceptableWait: '150s' }).fewest).toBe(2);
    expect(capacity({ ...night, acceptableWait: '149s' }).fewest).toBe(3);
    expect(capacity({ ...night, acceptableWait: '15m' }).fewest).toBe(1);
  });
});

it('shows every smaller number, and one failed worker always', () => {
  expect(capacity({ ...night, workers: 5 }).rows.map(({ workers }) => workers)).toEqual([1, 2, 3, 4, 5]);
  const calm = capacity({ arrivals: 1, over: '1h', serviceTime: '1s', threads: 1 });
  expect(calm.rows.map(({ workers }) => workers)).toEqual([1, 2]);
});

it('is not led astray by what floating point adds', () => {
  expect(capacity({ arrivals: 3, over: '10s', serviceTime: '1s', threads: 1 }).keepUp).toBe(1);
  expect(capacity({ arrivals: 21, over: '7s', serviceTime: '100ms', threads: 1 }).keepUp).toBe(1);
  expect(capacity({ arrivals: 49, over: '49s', serviceTime: '1s', threads: 1 }).keepUp).toBe(1);
});

it('a night of very many workers has a hundred rows', () => {
  const { rows, keepUp } = capacity({ arrivals: 1_000_000, over: '1s', serviceTime: '1s', threads: 1 });
  expect(rows).toHaveLength(100);
  expect(rows.at(-1)?.workers).toBe(keepUp);
});

it.for([
  [{ ...night, arrivals: 0 }, 'arrivals must be a whole number of at least 1, not 0'],
  [{ ...night, threads: 1.5 }, 'threads must be a whole number of at least 1, not 1.5'],
  [{ ...night, over: 0 }, 'over must be at least 1ms, not 0'],
  [{ ...night, serviceTime: '4 s' as '4s' }, 'serviceTime must be a whole number of milliseconds'],
  [{ ...night, servicetime: '4s' }, 'capacity has no option "servicetime"'],
] as const)('refuses %o', ([options, words]) => {
  expect(() => capacity(options)).toThrow(ConfigurationError);
  expect(() => capacity(options)).toThrow(words);
});
