import type { PublisherOptions } from '@acemq/amqp';
import {
  type Codec,
  ConfigurationError,
  checkOptions,
  checkQueueName,
  type Duration,
  type HeaderTable,
  milliseconds,
  type StandardSchema,
} from '@acemq/core';
import { codecOption, flagOption, schemaOption, textOption } from '../option-checks.ts';

/** What a requester asks, where, and how long it waits. */
export interface RequesterOptions<Query = unknown, Answer = unknown> {
  /** Default: the default exchange, which routes to the queue named by the routing key. */
  readonly exchange?: string | undefined;
  /** Where the requests go. May be left out only where each `ask` gives one, or the exchange needs none. */
  readonly routingKey?: string | undefined;
  /** How long an `ask` waits for its reply, from 1 ms. Default 30 s. */
  readonly timeout?: Duration | undefined;
  /**
   * The queue that the replies come to: durable, of type quorum, and left standing by `close()`. It belongs to one
   * requester; two on one queue take each other's replies. Default: a queue of its own, which goes with its connection.
   */
  readonly replyQueue?: string | undefined;
  /** Whether to declare `replyQueue`. Default true. A queue of its own is always declared. */
  readonly declare?: boolean | undefined;
  /** Writes the requests and reads the replies. Default: the connection's. */
  readonly codec?: Codec | undefined;
  /** Checks the requests before they are encoded, and gives them their type. */
  readonly schema?: StandardSchema<Query, unknown> | undefined;
  /** Checks the answers, and gives them their type. One that does not fit rejects its `ask` with `DecodeError`. */
  readonly replySchema?: StandardSchema<unknown, Answer> | undefined;
  /** The logical type of the requests. Default: the routing key. */
  readonly type?: string | undefined;
  /** The schema version of the requests, from 1. Default 1. */
  readonly version?: number | undefined;
  /** Whether the broker writes the requests to disk. Default true. */
  readonly persistent?: boolean | undefined;
  /** 0 to 255, for a queue with priorities. Default: none. */
  readonly priority?: number | undefined;
  /**
   * How long a request may wait in its queue before the broker drops it or dead-letters it. Default: no limit, so that a
   * request is worked even when its `ask` has timed out.
   */
  readonly expiresAfter?: Duration | undefined;
}

/** What one `ask` may say for itself. What is left out is as the requester has it. */
export interface AskOptions {
  /** How long it waits for its reply, from 1 ms. */
  readonly timeout?: Duration | undefined;
  /** Ends the wait. A request that has not been written then never will be; one that has may be worked. */
  readonly signal?: AbortSignal | undefined;
  readonly routingKey?: string | undefined;
  /** The application's own headers. `acemq-reply-to` is written over. */
  readonly headers?: Readonly<HeaderTable> | undefined;
  readonly type?: string | undefined;
  readonly version?: number | undefined;
  /** The id of the message that this request was brought about by. */
  readonly causationId?: string | undefined;
  readonly persistent?: boolean | undefined;
  readonly priority?: number | undefined;
  readonly expiresAfter?: Duration | undefined;
}

/** The options as they are used; durations in milliseconds. */
export interface ResolvedRequesterOptions<Query, Answer> {
  readonly exchange: string;
  readonly routingKey: string;
  readonly timeout: number;
  readonly type: string | undefined;
  readonly version: number | undefined;
  readonly codec: Codec | undefined;
  readonly replySchema: StandardSchema<unknown, Answer> | undefined;
  /** Undefined for a queue of its own. */
  readonly replyQueue: string | undefined;
  readonly declare: boolean;
  /** What its publisher is made with, which checks them. */
  readonly publisher: PublisherOptions<Query>;
}

/** By name, so that the compiler misses none. */
const OPTIONS = Object.keys({
  exchange: true,
  routingKey: true,
  timeout: true,
  replyQueue: true,
  declare: true,
  codec: true,
  schema: true,
  replySchema: true,
  type: true,
  version: true,
  persistent: true,
  priority: true,
  expiresAfter: true,
} satisfies Record<keyof RequesterOptions, true>);

const ASK_OPTIONS = Object.keys({
  timeout: true,
  signal: true,
  routingKey: true,
  headers: true,
  type: true,
  version: true,
  causationId: true,
  persistent: true,
  priority: true,
  expiresAfter: true,
} satisfies Record<keyof AskOptions, true>);

/** Checks the options of a requester and fills them in. Throws `ConfigurationError`. */
export function resolveRequesterOptions<Query, Answer>(
  options: RequesterOptions<Query, Answer>,
): ResolvedRequesterOptions<Query, Answer> {
  checkOptions(options, OPTIONS, 'Requester');
  const {
    exchange = '',
    routingKey = '',
    type,
    version,
    schema,
    persistent,
    priority,
    expiresAfter,
  } = options;
  const codec = codecOption(options.codec, 'codec');
  const { replyQueue } = options;
  if (replyQueue === undefined && options.declare !== undefined) {
    throw new ConfigurationError(
      'declare is for a replyQueue that has a name; a queue of its own is always declared',
    );
  }
  return {
    exchange,
    routingKey,
    timeout: timeoutOf(options.timeout ?? '30s'),
    type: textOption(type, 'type'),
    version,
    codec,
    replySchema: schemaOption(options.replySchema, 'replySchema'),
    replyQueue: replyQueue === undefined ? undefined : checkQueueName(replyQueue),
    declare: flagOption(options.declare, 'declare', true),
    publisher: { exchange, routingKey, codec, schema, type, version, persistent, priority, expiresAfter },
  };
}

/** Refuses an option of `ask` that nobody reads. Throws `ConfigurationError`. */
export function checkAskOptions(options: AskOptions): void {
  checkOptions(options, ASK_OPTIONS, 'ask');
}

/** The milliseconds of a time-out. Throws `ConfigurationError`. */
export function timeoutOf(timeout: Duration): number {
  return milliseconds(timeout, 'timeout', { min: 1 });
}
