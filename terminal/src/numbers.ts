import { ConfigurationError, shown } from '@acemq/core';

/** A whole number of the command line. */
export function wholeNumber(text: string | undefined, option: string): number {
  if (text === undefined) throw new ConfigurationError(`--${option} is missing`);
  if (!/^\d{1,15}$/.test(text)) {
    throw new ConfigurationError(`--${option} must be a whole number, not ${shown(text)}`);
  }
  return Number(text);
}

/** A text of the command line that cannot be left out. */
export function given(text: string | undefined, option: string): string {
  if (text === undefined || text === '') throw new ConfigurationError(`--${option} is missing`);
  return text;
}

/** Seconds for a person: `0.4s`, `12s`, `2m30s`, `1h05m`. */
export function time(seconds: number): string {
  if (!Number.isFinite(seconds)) return 'never';
  if (seconds < 9.95) return `${Number(seconds.toFixed(1))}s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}s`;
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (n: number): string => String(n).padStart(2, '0');
  if (hours > 0) return `${hours}h${minutes > 0 ? `${two(minutes)}m` : ''}`;
  return `${minutes}m${rest > 0 ? `${two(rest)}s` : ''}`;
}

/** At most one digit behind the point, and thousands apart: `12,000`, `2.4`. */
export function count(value: number): string {
  return new Intl.NumberFormat('en', { maximumFractionDigits: 1 }).format(value);
}
