import { median } from './median.ts';
import { TELEMETRY_SIDES, type TelemetryMeasurement, type TelemetrySide } from './telemetry-sides.ts';

/** What every side measured in one round. */
export type Round = ReadonlyMap<TelemetrySide, TelemetryMeasurement>;

/** What `metrics+tracing` may cost over `neither`. */
const BAR = 0.15;
const COLUMNS = ['publish', 'consume', 'both', 'over', 'lowest', 'highest', 'spans'];

/** A table of medians, and whether the bar is met. */
export function telemetryReport(rounds: readonly Round[]): string {
  const lines = [row('us/message', COLUMNS), ...TELEMETRY_SIDES.map((side) => rowOf(side, rounds))];
  const rise = median(rises('metrics+tracing', rounds));
  const floor = median(rises('neither-again', rounds));
  return [
    ...lines,
    '',
    `metrics and tracing (API only): ${percent(rise)} over neither, the bar is below ${percent(BAR)}: ${rise < BAR ? 'met' : 'NOT MET'}`,
    `noise floor, neither over neither: ${percent(floor)}`,
  ].join('\n');
}

/** What one round took, publish and consume together; shows that something moves. */
export function roundLine(number: number, round: Round): string {
  const figures = TELEMETRY_SIDES.map((side) => both(of(round, side)).toFixed(1));
  return `round ${number}: ${figures.join('  ')}`;
}

function rowOf(side: TelemetrySide, rounds: readonly Round[]): string {
  const found = rounds.map((round) => of(round, side));
  const over = rises(side, rounds);
  const mine = side === 'neither' ? [] : [median(over), Math.min(...over), Math.max(...over)].map(percent);
  return row(side, [
    median(found.map(({ publish }) => publish)).toFixed(1),
    median(found.map(({ consume }) => consume)).toFixed(1),
    median(found.map(both)).toFixed(1),
    ...(mine.length === 0 ? ['', '', ''] : mine),
    side.endsWith('sdk') ? median(found.map(({ spans }) => spans)).toFixed(2) : '',
  ]);
}

/** By how much each round's side is above its `neither`: 0.1 is a tenth more. */
function rises(side: TelemetrySide, rounds: readonly Round[]): readonly number[] {
  return rounds.map((round) => {
    const base = both(of(round, 'neither'));
    return (both(of(round, side)) - base) / base;
  });
}

function of(round: Round, side: TelemetrySide): TelemetryMeasurement {
  const found = round.get(side);
  if (found === undefined) throw new Error(`${side} was not measured`);
  return found;
}

function both({ publish, consume }: TelemetryMeasurement): number {
  return publish + consume;
}

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}

function row(name: string, cells: readonly string[]): string {
  return `${name.padEnd(20)}${cells.map((cell) => cell.padStart(10)).join('')}`.trimEnd();
}
