import { ConfigurationError } from '@acemq/core';
import { describe, expect, test } from 'vitest';
import { HEALTH_STATUSES, type HealthReportFields, type HealthStatus, healthReport } from '../src/index.ts';

describe('a report', () => {
  test('is healthy unless it is down', () => {
    expect(HEALTH_STATUSES.map((status) => healthReport(status).healthy)).toEqual([true, true, false]);
  });

  test('prints its status, and its detail where there is one', () => {
    expect(`${healthReport('up')}`).toBe('up');
    expect(`${healthReport('down', { detail: 'the disk is full' })}`).toBe('down: the disk is full');
    const detail = 'these consumers have stopped reading: shipping.orders';
    expect(`${healthReport('degraded', { detail })}`).toBe(
      'degraded: these consumers have stopped reading: shipping.orders',
    );
  });

  test('was checked when it was made, unless it is told when', () => {
    const before = Date.now();
    const { checked } = healthReport('up');
    expect(checked.getTime()).toBeGreaterThanOrEqual(before);
    expect(checked.getTime()).toBeLessThanOrEqual(Date.now());
    const then = new Date('2024-01-01T00:00:00Z');
    expect(healthReport('up', { checked: then }).checked).toEqual(then);
  });

  test('cannot be changed, by itself or through what it was made of', () => {
    const parts = { blocked: false };
    const report = healthReport('up', { parts });
    parts.blocked = true;
    expect(report.parts).toEqual({ blocked: false });
    expect(Object.isFrozen(report)).toBe(true);
    expect(Object.isFrozen(report.parts)).toBe(true);
  });

  test('is JSON as it stands: a part that nobody could ask for stays null, and reports nest', () => {
    const checked = new Date('2024-01-01T00:00:00Z');
    const broker = healthReport('up', { checked, parts: { blocked: null, 'round-trip': 0.0021 } });
    const whole = healthReport('up', { checked, parts: { broker } });
    expect(JSON.parse(JSON.stringify(whole))).toEqual({
      status: 'up',
      healthy: true,
      detail: '',
      checked: '2024-01-01T00:00:00.000Z',
      parts: {
        broker: {
          status: 'up',
          healthy: true,
          detail: '',
          checked: '2024-01-01T00:00:00.000Z',
          parts: { blocked: null, 'round-trip': 0.0021 },
        },
      },
    });
  });

  test('takes a part of any name for a part', () => {
    const parts = JSON.parse('{"__proto__": "mine", "toString": 1}');
    const report = healthReport('up', { parts });
    expect(Object.keys(report.parts)).toEqual(['__proto__', 'toString']);
    expect(`${report}`).toBe('up');
  });
});

describe('a report is refused', () => {
  test.for<[string, unknown, unknown, string]>([
    ['a status that is none', 'UP', {}, 'status must be up, degraded, down, and is "UP"'],
    ['a detail that is no text', 'down', { detail: 404 }, 'detail must be text, and is 404'],
    [
      'a time that is none',
      'up',
      { checked: new Date('x') },
      'checked must be a valid Date, and is an object',
    ],
    ['a time in milliseconds', 'up', { checked: 1 }, 'checked must be a valid Date, and is 1'],
    ['parts in a list', 'up', { parts: ['a'] }, 'parts must be an object, and is a list'],
    ['parts that are null', 'up', { parts: null }, 'parts must be an object, and is null'],
    ['a field that nobody reads', 'up', { reason: 'x' }, 'has no option "reason"'],
  ])('for %s', ([, status, fields, words]) => {
    const make = () => healthReport(status as HealthStatus, fields as HealthReportFields);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(words);
  });
});
