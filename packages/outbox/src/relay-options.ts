import {
  type Clock,
  ConfigurationError,
  checkOptions,
  type Duration,
  guardLogger,
  type Logger,
  milliseconds,
  shown,
  systemClock,
} from '@acemq/core';
import { guardObserver, NullObserver, type Observer } from '@acemq/observe';
import type { BackOff } from './back-off.ts';

/** What a relay was doing when something failed. */
export type RelayPhase =
  /** It asked the database for lanes or records. */
  | 'read'
  /** It published a record. */
  | 'publish'
  /** It wrote down what had become of records. */
  | 'mark'
  /** It removed old published records. */
  | 'clean';

/** Where a relay was when something failed. */
export interface RelayFailure {
  readonly phase: RelayPhase;
  /** Of the record, where one was concerned. */
  readonly id?: string | undefined;
  readonly exchange?: string | undefined;
  readonly routingKey?: string | undefined;
  /** Whether the record was retired by this failure. */
  readonly retired?: boolean | undefined;
}

/** How a relay works. */
export interface RelayOptions {
  /** How often it looks when nothing wakes it. Default 1 s. */
  readonly interval?: Duration | undefined;
  /** How many records it reads at once. 1 to 10,000; default 500. */
  readonly batch?: number | undefined;
  /** How many records of one destination may be out at once. 1 to 10,000; default 100. */
  readonly window?: number | undefined;
  /**
   * How many records may be out in all. Keep it below the permits of the connection, or a record that waits for a permit
   * may overtake one that is cut off meanwhile. 1 to 100,000; default 500.
   */
  readonly outstanding?: number | undefined;
  /** One record of a destination at a time: none is ever overtaken, at the price of a round trip each. Default false. */
  readonly strictOrder?: boolean | undefined;
  /** How often the broker may refuse a record before it is retired. At least 1; default 10. */
  readonly maxAttempts?: number | undefined;
  /** How long a lane stays with a relay that says nothing. At least 1 s; default 15 s. */
  readonly lease?: Duration | undefined;
  /** How long published records are kept; `false` for ever. Default 7 days. */
  readonly keep?: Duration | false | undefined;
  /** The rest of a destination after a refusal, which doubles. Default 1 s to 1 min. */
  readonly rest?: { readonly first?: Duration; readonly longest?: Duration } | undefined;
  /** The rest of the whole relay while broker or database are away, which doubles. Default 1 s to 30 s. */
  readonly outageRest?: { readonly first?: Duration; readonly longest?: Duration } | undefined;
  /** Told the two numbers of the outbox. Default: the connection's own observer, if it has one. */
  readonly observer?: Observer | undefined;
  /** Default: `console`. */
  readonly logger?: Logger | undefined;
  /** Told every failure, beside the log. What it throws is logged. */
  readonly onError?: ((error: unknown, where: RelayFailure) => void) | undefined;
  /** Default: the machine's own time. */
  readonly clock?: Clock | undefined;
}

/** The options as they are used; durations in milliseconds. */
export interface ResolvedRelayOptions {
  readonly interval: number;
  readonly batch: number;
  readonly window: number;
  readonly outstanding: number;
  readonly maxAttempts: number;
  readonly lease: number;
  readonly keep: number | false;
  readonly rest: BackOff;
  readonly outageRest: BackOff;
  readonly observer: Observer;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  readonly onError: ((error: unknown, where: RelayFailure) => void) | undefined;
  readonly clock: Clock;
}

const OPTIONS: readonly string[] = [
  'interval',
  'batch',
  'window',
  'outstanding',
  'strictOrder',
  'maxAttempts',
  'lease',
  'keep',
  'rest',
  'outageRest',
  'observer',
  'logger',
  'onError',
  'clock',
];

/** Throws `ConfigurationError`, which names the option, for what cannot be used. */
export function resolveRelayOptions(
  options: RelayOptions,
  ofConnection: Observer | undefined,
): ResolvedRelayOptions {
  checkOptions(options, OPTIONS, 'OutboxRelay');
  const { strictOrder = false, keep = '7d', onError } = options;
  if (typeof strictOrder !== 'boolean') {
    throw new ConfigurationError(`strictOrder must be true or false, not ${shown(strictOrder)}`);
  }
  if (onError !== undefined && typeof onError !== 'function') {
    throw new ConfigurationError(`onError must be a function, not ${shown(onError)}`);
  }
  const logger = guardLogger(options.logger ?? console, ['warn', 'error']);
  return {
    interval: milliseconds(options.interval ?? '1s', 'interval', { min: 1 }),
    batch: count(options.batch, 500, 'batch', 10_000),
    window: strictOrder ? 1 : count(options.window, 100, 'window', 10_000),
    outstanding: count(options.outstanding, 500, 'outstanding', 100_000),
    maxAttempts: count(options.maxAttempts, 10, 'maxAttempts', 1_000_000),
    lease: milliseconds(options.lease ?? '15s', 'lease', { min: 1000 }),
    keep: keep === false ? false : milliseconds(keep, 'keep'),
    rest: backOff(options.rest, 'rest', '1m'),
    outageRest: backOff(options.outageRest, 'outageRest', '30s'),
    observer: guardObserver(options.observer ?? ofConnection ?? new NullObserver(), logger),
    logger,
    onError,
    clock: options.clock ?? systemClock,
  };
}

function count(value: number | undefined, usual: number, option: string, max: number): number {
  if (value === undefined) return usual;
  if (Number.isSafeInteger(value) && value >= 1 && value <= max) return value;
  throw new ConfigurationError(`${option} must be a whole number from 1 to ${max}, not ${shown(value)}`);
}

function backOff(
  given: { readonly first?: Duration; readonly longest?: Duration } | undefined,
  option: string,
  usualLongest: Duration,
): BackOff {
  checkOptions(given, ['first', 'longest'], option);
  const first = milliseconds(given?.first ?? '1s', `${option}.first`, { min: 1 });
  const longest = milliseconds(given?.longest ?? usualLongest, `${option}.longest`, { min: 1 });
  return { first, longest: Math.max(first, longest) };
}
