import { ConfigurationError, checkOptions, type Duration, milliseconds, shown } from '@acemq/core';
import { signalOption } from '../option-checks.ts';
import type { Letter } from './letter.ts';

/** How far it has come. */
export interface Progress {
  /** Messages moved, visited or removed; in a dry run, those that would be moved. */
  readonly taken: number;
  /** Messages left out by `only`. */
  readonly skipped: number;
  /** Messages that this run had moved, and that were set aside again already. */
  readonly cameBack: number;
  /** Messages that lay in the queue when it began. */
  readonly total: number;
  /** What it waits for: a link, an alarm, a confirm. Undefined while it goes on. */
  readonly waiting: string | undefined;
}

/** What every walk through a queue may be given. */
export interface SiftOptions {
  /**
   * Which messages are meant; all by default. The others are held, unacknowledged, until the end, and then put back in their
   * order. What it throws ends the walk.
   */
  readonly only?: ((letter: Letter) => boolean | Promise<boolean>) | undefined;
  /** How many at most, from 1. No limit by default. */
  readonly limit?: number | undefined;
  /** How long at most, from 1 ms. No limit by default. */
  readonly timeout?: Duration | undefined;
  /** Ends it; what was done by then stays done. */
  readonly signal?: AbortSignal | undefined;
  /** Told how far it has come, four times a second at most, and at the end. What it throws ends the walk. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** The names of {@link SiftOptions}. */
const SIFT_OPTIONS = ['only', 'limit', 'timeout', 'signal', 'onProgress'] as const;

/** The same, checked. */
export interface SiftSettings {
  readonly only: (letter: Letter) => boolean | Promise<boolean>;
  readonly limit: number;
  readonly timeout: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  /** Messages a second. */
  readonly rate: number | undefined;
  /** How many are under way at once. */
  readonly window: number;
}

/** Checks the options; `more` are the names of those that are not checked here. Throws `ConfigurationError`. */
export function siftSettings(
  options: SiftOptions | undefined,
  more: readonly string[],
  of: string,
): SiftSettings {
  checkOptions(options, [...SIFT_OPTIONS, ...more], of);
  const { only, limit, timeout, signal, onProgress } = options ?? {};
  return {
    only: only === undefined ? everyOne : functionOption(only, 'only'),
    limit:
      limit === undefined ? Number.POSITIVE_INFINITY : countOption(limit, 'limit', Number.MAX_SAFE_INTEGER),
    timeout: timeout === undefined ? undefined : milliseconds(timeout, 'timeout', { min: 1 }),
    signal: signalOption(signal),
    onProgress: onProgress === undefined ? undefined : functionOption(onProgress, 'onProgress'),
    rate: undefined,
    window: 1,
  };
}

/** The option as a whole number from 1 to `most`. Throws `ConfigurationError`. */
export function countOption(value: number, option: string, most: number): number {
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return value;
  const allowed = most === Number.MAX_SAFE_INTEGER ? 'of at least 1' : `from 1 to ${most}`;
  throw new ConfigurationError(`${option} must be a whole number ${allowed}, and is ${shown(value)}`);
}

function functionOption<F extends (...args: never[]) => unknown>(value: F, option: string): F {
  if (typeof value === 'function') return value;
  throw new ConfigurationError(`${option} must be a function, and is ${shown(value)}`);
}

function everyOne(): boolean {
  return true;
}
