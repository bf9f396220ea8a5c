import { ConfigurationError } from './errors.ts';
import { shown } from './shown.ts';

/** The units that a {@link Duration} in text may have. */
export type DurationUnit = 'ms' | 's' | 'm' | 'h' | 'd';

/**
 * A length of time: a number of milliseconds, or a number and a unit as text, such as `'30s'`, `'5m'` or
 * `'1.5h'`. It must come to a whole number of milliseconds.
 */
export type Duration = number | `${number}${DurationUnit}`;

/** What {@link milliseconds} allows. */
export interface DurationLimits {
  /** Smallest value allowed, in milliseconds. 0 by default. */
  readonly min?: number;
  /** Largest value allowed, in milliseconds. `Number.MAX_SAFE_INTEGER` by default. */
  readonly max?: number;
}

const MILLISECONDS: Readonly<Record<DurationUnit, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const TEXT = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

const ALLOWED = "a whole number of milliseconds, or text such as '500ms', '30s', '5m', '2h' or '1d'";

/**
 * The milliseconds of a duration.
 *
 * @param duration - What the caller gave.
 * @param option - What the caller calls it; it is named in the error.
 * @returns A whole, finite number, at least `min` (0 by default).
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`), which names the option, the value and what is
 * allowed, for anything else.
 */
export function milliseconds(duration: Duration, option: string, limits: DurationLimits = {}): number {
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = limits;
  const given: unknown = duration;
  const ms = typeof given === 'number' ? given : typeof given === 'string' ? parse(given) : Number.NaN;
  if (!Number.isSafeInteger(ms)) {
    throw new ConfigurationError(`${option} must be ${ALLOWED}, not ${shown(given)}`);
  }
  if (ms < min) {
    throw new ConfigurationError(`${option} must be at least ${renderDelay(min)}, not ${shown(given)}`);
  }
  if (ms > max)
    throw new ConfigurationError(`${option} must be at most ${renderDelay(max)}, not ${shown(given)}`);
  return ms === 0 ? 0 : ms;
}

/**
 * A delay as it stands in the name of a rung: the largest of hours, minutes and seconds that divides it
 * exactly, else milliseconds. Never two units, never days: 90 seconds is `90s`, a day is `24h`, one and a
 * half seconds `1500ms`. The same in every language of the family, since services share rungs by name.
 *
 * @param ms - Whole milliseconds, not negative.
 */
export function renderDelay(ms: number): string {
  if (ms >= 3_600_000 && ms % 3_600_000 === 0) return `${ms / 3_600_000}h`;
  if (ms >= 60_000 && ms % 60_000 === 0) return `${ms / 60_000}m`;
  if (ms >= 1000 && ms % 1000 === 0) return `${ms / 1000}s`;
  return `${ms}ms`;
}

/** NaN for text that is no duration. */
function parse(text: string): number {
  const [, amount, unit] = TEXT.exec(text) ?? [];
  if (amount === undefined || unit === undefined) return Number.NaN;
  const exact = Number(amount) * MILLISECONDS[unit as DurationUnit];
  const whole = Math.round(exact);
  // 1.005 * 1000 is 1004.9999999999999: the text names a whole number of milliseconds all the same.
  return Math.abs(exact - whole) <= Math.max(1, whole) * 1e-12 ? whole : exact;
}
