import { expect, test } from 'vitest';
import { type Round, telemetryReport } from '../src/telemetry-report.ts';
import { TELEMETRY_SIDES, type TelemetrySide } from '../src/telemetry-sides.ts';

/** A round in which every side took 100 us a message, but for those that are named. */
function round(others: Partial<Record<TelemetrySide, number>> = {}): Round {
  return new Map(
    TELEMETRY_SIDES.map((side) => [side, { publish: 60, consume: (others[side] ?? 100) - 60, spans: 2 }]),
  );
}

/** The cells of a side's row. */
function cells(report: string, side: TelemetrySide): readonly string[] {
  const row = report.split('\n').find((line) => line.startsWith(`${side} `)) ?? '';
  return row.slice(side.length).trim().split(/ {2,}/);
}

test('a side has the medians of its times, and of its rises over neither of the same round', () => {
  // Its own median is 230 and that of neither 200, and yet the middle one of the three rises is 10 %.
  const rounds = [
    round({ neither: 100, 'metrics+tracing': 110 }),
    round({ neither: 200, 'metrics+tracing': 230 }),
    round({ neither: 300, 'metrics+tracing': 306 }),
  ];
  expect(cells(telemetryReport(rounds), 'metrics+tracing')).toEqual([
    '60.0',
    '170.0',
    '230.0',
    '10.0 %',
    '2.0 %',
    '15.0 %',
  ]);
});

test('the bar is met below 15 %, and not at it', () => {
  expect(telemetryReport([round({ 'metrics+tracing': 114.9 })])).toMatch(/14\.9 % over neither.*: met$/m);
  expect(telemetryReport([round({ 'metrics+tracing': 115 })])).toMatch(/15\.0 % over neither.*: NOT MET$/m);
});

test('the noise floor is what neither costs over itself', () => {
  expect(telemetryReport([round({ 'neither-again': 97 })])).toContain('neither over neither: -3.0 %');
});

test('the spans that were exported stand behind the side with the SDK only', () => {
  const report = telemetryReport([round()]);
  expect(cells(report, 'metrics+sdk').at(-1)).toBe('2.00');
  expect(cells(report, 'tracing').at(-1)).toBe('0.0 %');
});
