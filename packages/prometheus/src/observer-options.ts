import { ConfigurationError, checkOptions, type Logger, shown } from '@acemq/core';
import {
  checkMaxSeries,
  DEFAULT_ATTEMPT_BUCKETS,
  DEFAULT_DURATION_BUCKETS,
  type FullMetric,
  warnOfFull,
} from '@acemq/observe';
import type { PrometheusClient, PrometheusRegistry } from './client.ts';

/** How many label sets a metric may have by default. */
const DEFAULT_MAX_SERIES = 1_000;

/** Options of a `PrometheusObserver`. */
export interface PrometheusObserverOptions {
  /**
   * The client module, where it is not the installed one of the entry point: in a bundle, or for another
   * client of the same shape.
   */
  readonly client?: PrometheusClient;
  /** Where the collectors are. The client's default registry by default. */
  readonly registry?: PrometheusRegistry;
  /**
   * Comes before every name, with an underscore: `checkout` makes `checkout_acemq_publish_total`. Letters,
   * digits, `_` and `:`, not a digit first. None by default.
   */
  readonly namespace?: string;
  /**
   * Upper bounds of the buckets of durations, in seconds, rising. `DEFAULT_DURATION_BUCKETS` (5 ms to 60 s)
   * by default.
   */
  readonly buckets?: readonly number[];
  /**
   * Upper bounds of the buckets of `acemq.consume.attempts`, in attempts, rising. `DEFAULT_ATTEMPT_BUCKETS`
   * (1, 2, 3, 4, 5, 10) by default.
   */
  readonly attemptBuckets?: readonly number[];
  /**
   * How many label sets this observer gives one metric. In a new one past that, the label with the most
   * values so far (in practice `routing_key`) reads `other`; never `outcome`, and never `queue`. A gauge past
   * it is left out, and so is what has no label that may be replaced. A whole number of at least 1; 1000 by
   * default.
   */
  readonly maxSeries?: number;
  /** Gets one warning per metric that reaches `maxSeries`. `console` by default. */
  readonly logger?: Pick<Logger, 'warn'>;
}

/** The options, checked, with their defaults. */
export interface ObserverSettings {
  readonly client: PrometheusClient;
  readonly registry: PrometheusRegistry;
  /** With the underscore at its end; empty where there is none. */
  readonly prefix: string;
  readonly buckets: readonly number[];
  readonly attemptBuckets: readonly number[];
  readonly maxSeries: number;
  readonly onFull: (full: FullMetric) => void;
}

const NAMES = ['client', 'registry', 'namespace', 'buckets', 'attemptBuckets', 'maxSeries', 'logger'];

/**
 * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) with the value that is refused.
 */
export function readOptions(
  options: PrometheusObserverOptions,
  installedClient: () => PrometheusClient,
): ObserverSettings {
  checkOptions(options, NAMES, 'PrometheusObserver');
  const prefix = prefixOf(options.namespace);
  const buckets = checkBuckets('buckets', options.buckets ?? DEFAULT_DURATION_BUCKETS);
  const attemptBuckets = checkBuckets('attemptBuckets', options.attemptBuckets ?? DEFAULT_ATTEMPT_BUCKETS);
  const maxSeries = checkMaxSeries(options.maxSeries, DEFAULT_MAX_SERIES);
  const client = checkClient(options.client ?? installedClient());
  const registry = checkRegistry(options.registry ?? client.register);
  const onFull = warnOfFull(options.logger ?? console);
  return { client, registry, prefix, buckets, attemptBuckets, maxSeries, onFull };
}

function prefixOf(namespace: string | undefined): string {
  if (namespace === undefined || namespace === '') return '';
  if (typeof namespace === 'string' && /^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(namespace)) return `${namespace}_`;
  throw new ConfigurationError(
    `namespace is ${shown(namespace)}; letters, digits, _ and : are allowed, and no digit first`,
  );
}

function checkBuckets(option: string, buckets: readonly number[]): readonly number[] {
  if (!Array.isArray(buckets) || buckets.length === 0) {
    const given = Array.isArray(buckets) ? 'an empty list' : shown(buckets);
    throw new ConfigurationError(`${option} is ${given}; a list of rising finite numbers is allowed`);
  }
  for (const [index, bound] of buckets.entries()) {
    if (!Number.isFinite(bound)) {
      throw new ConfigurationError(`${option} has ${shown(bound)}; finite numbers are allowed`);
    }
    const before = buckets[index - 1];
    if (before !== undefined && bound <= before) {
      throw new ConfigurationError(`${option} must rise, and has ${bound} after ${before}`);
    }
  }
  return Object.freeze([...buckets]);
}

function checkClient(client: PrometheusClient): PrometheusClient {
  const missing = (['Counter', 'Gauge', 'Histogram'] as const).filter(
    (name) => typeof client?.[name] !== 'function',
  );
  if (missing.length === 0) return client;
  throw new ConfigurationError(
    `client must be the module of a Prometheus client; missing: ${missing.join(', ')}`,
  );
}

function checkRegistry(registry: PrometheusRegistry): PrometheusRegistry {
  const methods = ['getSingleMetric', 'registerMetric'] as const;
  const missing = methods.filter((name) => typeof registry?.[name] !== 'function');
  if (missing.length === 0) return registry;
  throw new ConfigurationError(`registry must be a registry of the client; missing: ${missing.join(', ')}`);
}
