import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Duration } from '../src/index.ts';
import { milliseconds, renderDelay } from '../src/index.ts';
import { expectRefusal } from './refusal.ts';

describe('milliseconds', () => {
  it.each([
    [0, 0],
    [1500, 1500],
    ['0s', 0],
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1.5s', 1500],
    ['0.5h', 1_800_000],
    ['1.005s', 1005],
  ] as [Duration, number][])('reads %j as %i ms', (given, ms) => {
    expect(milliseconds(given, 'delay')).toBe(ms);
  });

  it('gives 0 and never -0', () => {
    expect(Object.is(milliseconds(-0, 'delay'), 0)).toBe(true);
  });

  it.each([
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    2 ** 53,
    '',
    '5',
    's',
    '-5s',
    '+5s',
    ' 5s',
    '5 s',
    '5S',
    '5sec',
    '1m30s',
    '1e3s',
    '0x10s',
    '0.5ms',
    'Infinitys',
    `${'9'.repeat(400)}d`,
    null,
    undefined,
    true,
    5n,
  ])('refuses %o, and names the option and the value', (given) => {
    const value =
      typeof given === 'string'
        ? JSON.stringify(given)
        : `${String(given)}${typeof given === 'bigint' ? 'n' : ''}`;
    expectRefusal(
      () => milliseconds(given as Duration, 'initialDelay'),
      'ACEMQ_CONFIGURATION',
      'initialDelay',
      value,
    );
  });

  it('refuses what is outside the limits it is given, and names the limit', () => {
    expectRefusal(
      () => milliseconds('5s', 'timeout', { min: 10_000 }),
      'ACEMQ_CONFIGURATION',
      'timeout',
      '"5s"',
      '10s',
    );
    expectRefusal(
      () => milliseconds('2h', 'timeout', { max: 60_000 }),
      'ACEMQ_CONFIGURATION',
      'timeout',
      '"2h"',
      '1m',
    );
    expect(milliseconds('10s', 'timeout', { min: 10_000, max: 10_000 })).toBe(10_000);
  });

  it('reads back every delay that it renders', () => {
    fc.assert(
      fc.property(fc.nat({ max: 10_000_000_000 }), (ms) => {
        expect(milliseconds(renderDelay(ms) as Duration, 'delay')).toBe(ms);
      }),
    );
  });
});

describe('renderDelay', () => {
  it.each([
    [0, '0ms'],
    [1, '1ms'],
    [500, '500ms'],
    [1000, '1s'],
    [1500, '1500ms'],
    [33_750, '33750ms'],
    [60_000, '1m'],
    [90_000, '90s'],
    [120_000, '2m'],
    [160_000, '160s'],
    [3_600_000, '1h'],
    [5_400_000, '90m'],
    [86_400_000, '24h'],
  ])('writes %i ms as %s', (ms, text) => {
    expect(renderDelay(ms)).toBe(text);
  });

  it('gives two delays two names', () => {
    fc.assert(
      fc.property(fc.nat({ max: 1_000_000_000 }), fc.nat({ max: 1_000_000_000 }), (one, other) => {
        expect(renderDelay(one) === renderDelay(other)).toBe(one === other);
      }),
    );
  });
});
