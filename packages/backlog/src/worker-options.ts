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
  type Tracing,
} from '@acemq/core';
import { guardObserver, type Labels, NullObserver, type Observer } from '@acemq/observe';
import { atLeastOne } from './capacity.ts';
import { claimLabels, constantLabels } from './constant-labels.ts';
import { type RedisCall, type RedisClient, redisCall } from './redis-calls.ts';
import type { StreamHandler } from './stream-job.ts';
import { deadStreamOf, KIND_FIELD, nonEmpty } from './stream-names.ts';

/** How a `StreamWorker` works. */
export interface StreamWorkerOptions {
  /** A connected client of `ioredis` or `redis`. */
  readonly client: RedisClient;
  /** Another connection, which the worker alone uses: it blocks while there is nothing to do. */
  readonly blockingClient: RedisClient;
  readonly stream: string;
  /** The consumer group; it is made, from the first entry on, where it is not there. */
  readonly group: string;
  /** The name of this worker in the group; no two that run may have the same. */
  readonly consumer: string;
  /** Who works which kind. A kind that nobody works is given up. */
  readonly handlers: Readonly<Record<string, StreamHandler>>;
  /** How many jobs are worked at the same time; 1 by default. */
  readonly concurrency?: number;
  /** How many entries are taken at a time; 10 by default. */
  readonly batch?: number;
  /** `kind` by default. */
  readonly kindField?: string;
  /** `{stream}:dead` by default. */
  readonly deadStream?: string;
  /** How long nobody must have renewed an entry before it is taken from its consumer; 60 s by default. 0: never. */
  readonly reclaimAfter?: Duration;
  /** How often a job is delivered before it is given up; 5 by default. */
  readonly deliveryLimit?: number;
  /** How often finished entries are removed from the stream; every minute by default. 0: never. */
  readonly trimEvery?: Duration;
  /** Is told `jobs_completed_total{kind}`. Nobody by default. */
  readonly observer?: Observer;
  /** As those of the exporter on the same observer. */
  readonly labels?: Labels;
  /** Where the spans go; `tracing` of a connection, for example. Nowhere by default. */
  readonly tracing?: Tracing;
  /** `console` by default. */
  readonly logger?: Pick<Logger, 'info' | 'warn'>;
  readonly clock?: Clock;
}

/** The options with their defaults. */
export interface WorkerSettings {
  readonly call: RedisCall;
  readonly blocking: RedisCall;
  readonly stream: string;
  readonly group: string;
  readonly consumer: string;
  readonly handlers: ReadonlyMap<string, StreamHandler>;
  readonly concurrency: number;
  readonly batch: number;
  readonly kindField: string;
  readonly deadStream: string;
  readonly reclaimAfter: number;
  readonly deliveryLimit: number;
  readonly trimEvery: number;
  readonly observer: Observer;
  readonly labels: Labels;
  readonly tracing: Tracing | undefined;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly clock: Clock;
}

const OPTIONS = [
  'client',
  'blockingClient',
  'stream',
  'group',
  'consumer',
  'handlers',
  'concurrency',
  'batch',
  'kindField',
  'deadStream',
  'reclaimAfter',
  'deliveryLimit',
  'trimEvery',
  'observer',
  'labels',
  'tracing',
  'logger',
  'clock',
] as const;

/** @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for an option that is unknown or cannot be used. */
export function workerSettings(options: StreamWorkerOptions): WorkerSettings {
  checkOptions(options, OPTIONS, 'StreamWorker');
  if (options.client === options.blockingClient) {
    throw new ConfigurationError('blockingClient must be a connection of its own: every command on it waits');
  }
  const stream = nonEmpty(options.stream, 'stream');
  const labels = constantLabels(options.labels);
  const logger = guardLogger(options.logger ?? console, ['info', 'warn']);
  const given = options.observer ?? new NullObserver();
  const observer = guardObserver(given, logger);
  if (options.observer !== undefined)
    claimLabels(given, `the worker of stream ${shown(stream)}`, labels, true);
  return {
    call: redisCall(options.client),
    blocking: redisCall(options.blockingClient),
    stream,
    group: nonEmpty(options.group, 'group'),
    consumer: nonEmpty(options.consumer, 'consumer'),
    handlers: handlersOf(options.handlers),
    concurrency: atLeastOne(options.concurrency ?? 1, 'concurrency'),
    batch: atLeastOne(options.batch ?? 10, 'batch'),
    kindField: nonEmpty(options.kindField ?? KIND_FIELD, 'kindField'),
    deadStream: nonEmpty(options.deadStream ?? deadStreamOf(stream), 'deadStream'),
    reclaimAfter: milliseconds(options.reclaimAfter ?? '60s', 'reclaimAfter'),
    deliveryLimit: atLeastOne(options.deliveryLimit ?? 5, 'deliveryLimit'),
    trimEvery: milliseconds(options.trimEvery ?? '1m', 'trimEvery'),
    observer,
    labels,
    tracing: options.tracing,
    logger,
    clock: options.clock ?? systemClock,
  };
}

function handlersOf(handlers: StreamWorkerOptions['handlers']): ReadonlyMap<string, StreamHandler> {
  const all = new Map(Object.entries(handlers ?? {}));
  if (all.size === 0) throw new ConfigurationError('handlers must have a function for at least one kind');
  for (const [kind, handler] of all) {
    if (typeof handler !== 'function') {
      throw new ConfigurationError(`handlers.${kind} must be a function, not ${shown(handler)}`);
    }
  }
  return all;
}
