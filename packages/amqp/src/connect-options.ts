import { hostname } from 'node:os';
import {
  type Codec,
  ConfigurationError,
  checkName,
  checkOptions,
  type Duration,
  defaultOrigin,
  guardLogger,
  type Logger,
  milliseconds,
  none,
  RetryPolicy,
  shown,
} from '@acemq/core';
import { guardObserver, NullObserver, type Observer } from '@acemq/observe';
import type { AmqplibOptions } from './amqplib/index.ts';
import { DEFAULT_CODEC } from './codecs/by-content-type.ts';
import type { Backoff } from './link/backoff.ts';
import { DEFAULT_LOGGER } from './log.ts';
import { requireMethods, signalOf, wholeNumber } from './option-checks.ts';

/** How a connection is made and what its publishers and consumers start from. */
export interface ConnectOptions extends AmqplibOptions {
  /**
   * The name of the service. The broker shows `{name} publish` and `{name} consume`, and messages carry
   * `{name}@{hostname}` as their origin. Default `acemq`.
   */
  readonly name?: string | undefined;
  /** Told the numbers. Default: nobody, and then no clock is read for them. */
  readonly observer?: Observer | undefined;
  /** Default: warnings and errors go to standard error, and nothing else anywhere. */
  readonly logger?: Logger | undefined;
  /** Default: writes JSON; reads JSON, text and bytes by their content type. */
  readonly codec?: Codec | undefined;
  /** The retry policy of consumers that give none. Default `none()`: the first failure dead-letters. */
  readonly retry?: RetryPolicy | undefined;
  /** Deliveries out to a consumer at once, 1 to 65,535, where it does not say otherwise. Default 20. */
  readonly prefetch?: number | undefined;
  /**
   * Permits: how many published messages may be without their confirm at once, at least 1. Default 1,000.
   * Further ones wait for a permit.
   */
  readonly permits?: number | undefined;
  /**
   * How long a publish waits for its confirm, counted from the write, and how long it waits for a permit or a
   * connection while none comes. At least 1 ms. Default 10 s.
   */
  readonly confirmTimeout?: Duration | undefined;
  /** TCP, TLS and the AMQP handshake together, for each attempt; at least 1 ms. Default 10 s. */
  readonly connectTimeout?: Duration | undefined;
  /**
   * The interval of heartbeats, in whole seconds; 0 turns them off. Default 20 s. A dead link is noticed
   * after two.
   */
  readonly heartbeat?: Duration | undefined;
  /**
   * How long `close` waits for handlers and confirms. Default 20 s. Keep it below what your platform waits
   * before it kills.
   */
  readonly closeTimeout?: Duration | undefined;
  /**
   * The waits between attempts to reconnect: `initial`, doubling to `max`, with full jitter, without end.
   * Default 1 s and 30 s.
   */
  readonly reconnect?: { readonly initial?: Duration; readonly max?: Duration } | undefined;
  /** Ends the first attempt to connect. A connection that is up is ended by its `close()`. */
  readonly signal?: AbortSignal | undefined;
}

const KNOWN = [
  'name',
  'observer',
  'logger',
  'codec',
  'retry',
  'prefetch',
  'permits',
  'confirmTimeout',
  'connectTimeout',
  'heartbeat',
  'closeTimeout',
  'reconnect',
  'signal',
] as const;

/** Options that belong to the amqplib transport, and to no other. */
export const TRANSPORT_OPTIONS = ['tls', 'credentials', 'vhost', 'frameMax', 'channelMax'] as const;

/** The same with nothing left open. */
export interface ResolvedConnectOptions {
  readonly name: string;
  readonly origin: string;
  readonly observer: Observer;
  readonly logger: Logger;
  readonly codec: Codec;
  readonly retry: RetryPolicy;
  readonly prefetch: number;
  readonly permits: number;
  readonly confirmTimeout: number;
  readonly connectTimeout: number;
  readonly heartbeat: number;
  readonly closeTimeout: number;
  readonly reconnect: Backoff;
}

/** Checks the options and fills them in; nothing has been dialled by then. Throws `ConfigurationError`. */
export function resolveConnectOptions(options: ConnectOptions): ResolvedConnectOptions {
  checkOptions(options, [...KNOWN, ...TRANSPORT_OPTIONS], 'connect');
  signalOf(options.signal);
  const name = options.name === undefined ? 'acemq' : checkName(options.name, 'connection');
  const logger = guardLogger(options.logger ?? DEFAULT_LOGGER, ['debug', 'info', 'warn', 'error']);
  if (options.codec !== undefined) requireMethods(options.codec, ['encode', 'decode', 'canDecode'], 'codec');
  const retry = options.retry ?? none();
  if (!(retry instanceof RetryPolicy)) {
    throw new ConfigurationError(
      `retry must be a policy made by exponential(), fixed() or none(), and is ${shown(retry)}`,
    );
  }
  const heartbeat = milliseconds(options.heartbeat ?? '20s', 'heartbeat', { max: 65_535_000 });
  if (heartbeat % 1000 !== 0) {
    throw new ConfigurationError(`heartbeat must be a whole number of seconds, and is ${heartbeat} ms`);
  }
  checkOptions(options.reconnect, ['initial', 'max'], 'reconnect');
  const initial = milliseconds(options.reconnect?.initial ?? '1s', 'reconnect.initial', { min: 1 });
  const max = milliseconds(options.reconnect?.max ?? Math.max(30_000, initial), 'reconnect.max', { min: 1 });
  if (max < initial) {
    throw new ConfigurationError(
      `reconnect.max must be at least reconnect.initial (${initial} ms), and is ${max} ms`,
    );
  }
  return Object.freeze({
    name,
    origin: defaultOrigin(name, hostname()),
    observer: guardObserver(options.observer ?? new NullObserver(), logger),
    logger,
    codec: options.codec ?? DEFAULT_CODEC,
    retry,
    prefetch: wholeNumber(options.prefetch, 'prefetch', { min: 1, max: 65_535, otherwise: 20 }),
    permits: wholeNumber(options.permits, 'permits', { min: 1, max: 1_000_000, otherwise: 1_000 }),
    confirmTimeout: milliseconds(options.confirmTimeout ?? '10s', 'confirmTimeout', { min: 1 }),
    connectTimeout: milliseconds(options.connectTimeout ?? '10s', 'connectTimeout', { min: 1 }),
    heartbeat,
    closeTimeout: milliseconds(options.closeTimeout ?? '20s', 'closeTimeout'),
    reconnect: Object.freeze({ initial, max }),
  });
}
