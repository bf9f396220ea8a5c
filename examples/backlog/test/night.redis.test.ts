import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { AgeAlert } from '../src/age-alert.ts';
import { night } from '../src/night.ts';
import { line, outcome } from '../src/report.ts';

it('the alert fires, two workers are started, and the age turns', { timeout: 120_000 }, async () => {
  const redis = new Redis(process.env['REDIS_URL'] ?? '');
  try {
    const shown: string[] = [];
    const panels = await night({
      redis,
      stream: `night-${randomUUID()}`,
      scale: 20,
      show: (panel) => shown.push(line(panel)),
    });
    const { text, isRight } = outcome(panels);
    expect(isRight, shown.join('') + text).toBe(true);
    const fired = panels.find(({ fires }) => fires);
    // By its own rates the rule fires after 160 s; a reading is taken every 15.
    expect(fired?.time).toBeGreaterThan(140);
    expect(fired?.time).toBeLessThan(240);
    // With one worker the last buyer would have waited 15 minutes.
    expect(Math.max(...panels.map(({ oldestAge }) => oldestAge))).toBeLessThan(300);
    expect(panels.some(({ diagnosis }) => diagnosis.shape === 'saturated')).toBe(true);
    expect(panels.at(-1)?.completed).toBe(3000);
  } finally {
    redis.disconnect();
  }
});

it('the rule needs the age for as long as it says', () => {
  const alert = new AgeAlert(60, 60);
  const fires = [
    [0, 61],
    [45, 70],
    [59, 71],
    [60, 72],
    [75, 60],
    [90, 61],
    [149, 90],
    [150, 90],
  ].map(([time = 0, age = 0]) => alert.fires(time, age));
  expect(fires).toEqual([false, false, false, true, false, false, false, true]);
});
