import {
  type Codec,
  ConfigurationError,
  checkName,
  checkOptions,
  checkQueueName,
  type HeaderTable,
  RetryLadder,
  RetryPolicy,
  renderDelay,
  type StandardSchema,
  shown,
} from '@acemq/core';
import { argumentsOf, requireMethods, schemaOf, signalOf, wholeNumber, yesOrNo } from '../option-checks.ts';
import { LONGEST_WAIT_HERE } from './settler.ts';

/** AMQP's own limit of a prefetch count. */
const MOST_PREFETCH = 65_535;

/** How a queue is consumed. `T` is the type of the payloads that its handler is given. */
export interface ConsumeOptions<T = unknown> {
  /**
   * When a failed message is delivered again, and how often. Default: the connection's, which is `none()`
   * unless given: the first failure dead-letters.
   */
  readonly retry?: RetryPolicy | undefined;
  /** Handlers that run at once, 1 to 65,535. Default 1, which keeps the order of the queue. */
  readonly concurrency?: number | undefined;
  /**
   * Deliveries that the broker keeps out unsettled, at least {@link concurrency}, at most 65,535. Default:
   * the larger of the connection's `prefetch` (20) and the concurrency. A message that waits here for its
   * retry holds one of them.
   */
  readonly prefetch?: number | undefined;
  /** Reads the bodies. Default: the connection's. */
  readonly codec?: Codec | undefined;
  /** Checks the payloads, and gives them their type. A message that does not fit is parked. */
  readonly schema?: StandardSchema<unknown, T> | undefined;
  /** The consumer tag. Default: the broker makes one up. Kept when the consumer subscribes again. */
  readonly tag?: string | undefined;
  /**
   * Whether no other consumer may read the queue, which only a classic queue knows; a quorum queue has
   * `x-single-active-consumer`. Default false.
   */
  readonly exclusive?: boolean | undefined;
  /** Arguments of the subscription, for example `x-priority`. */
  readonly arguments?: Readonly<HeaderTable> | undefined;
  /**
   * Whether to declare, before subscribing, what this consumer needs besides its queue: `.dlq`, `.parked`,
   * the rungs and what binds them. Default true; false for a queue whose name starts with `amq.`. Turn it off
   * for a login without the right to declare, and for a tool that reads a `.dlq`, which would get a
   * `.dlq.dlq`.
   */
  readonly declare?: boolean | undefined;
  /**
   * Whether a close of the connection lets it read until the handlers of the other consumers have ended, since they may
   * wait for what it brings: for replies. Default false.
   */
  readonly closesLast?: boolean | undefined;
  /** Ends the wait for the connection; a consumer that runs is ended by its `close()`. */
  readonly signal?: AbortSignal | undefined;
}

const KNOWN = [
  'retry',
  'concurrency',
  'prefetch',
  'codec',
  'schema',
  'tag',
  'exclusive',
  'arguments',
  'declare',
  'closesLast',
  'signal',
] as const;

/** The same with nothing left open. */
export interface ResolvedConsumeOptions {
  readonly policy: RetryPolicy;
  readonly ladder: RetryLadder;
  readonly concurrency: number;
  readonly prefetch: number;
  readonly codec: Codec;
  readonly schema: StandardSchema | undefined;
  readonly tag: string;
  readonly exclusive: boolean;
  readonly arguments: Readonly<HeaderTable>;
  readonly declare: boolean;
  readonly closesLast: boolean;
}

/** What a connection brings to it. */
export interface ConsumeDefaults {
  readonly retry: RetryPolicy;
  readonly prefetch: number;
  readonly codec: Codec;
}

/** Checks the options of a consumer and fills them in. Throws `ConfigurationError`. */
export function resolveConsumeOptions<T>(
  queue: string,
  options: ConsumeOptions<T>,
  defaults: ConsumeDefaults,
): ResolvedConsumeOptions {
  checkQueueName(queue);
  checkOptions(options, KNOWN, 'consume');
  signalOf(options.signal);
  const policy = options.retry ?? defaults.retry;
  if (!(policy instanceof RetryPolicy)) {
    throw new ConfigurationError(
      `retry must be a policy made by exponential(), fixed() or none(), and is ${shown(policy)}`,
    );
  }
  refuseLongWaits(policy);
  const concurrency = wholeNumber(options.concurrency, 'concurrency', {
    min: 1,
    max: MOST_PREFETCH,
    otherwise: 1,
  });
  const prefetch = wholeNumber(options.prefetch, 'prefetch', {
    min: 1,
    max: MOST_PREFETCH,
    otherwise: Math.max(defaults.prefetch, concurrency),
  });
  if (prefetch < concurrency) {
    throw new ConfigurationError(
      `prefetch must be at least the concurrency (${concurrency}), or some workers never get a message; it is ${prefetch}`,
    );
  }
  if (options.codec !== undefined) requireMethods(options.codec, ['encode', 'decode', 'canDecode'], 'codec');
  return {
    policy,
    ladder: RetryLadder.for(queue, policy),
    concurrency,
    prefetch,
    codec: options.codec ?? defaults.codec,
    schema: schemaOf(options.schema),
    tag: options.tag === undefined ? '' : checkName(options.tag, 'consumer tag'),
    exclusive: yesOrNo(options.exclusive, 'exclusive', false),
    arguments: argumentsOf(options.arguments),
    declare: yesOrNo(options.declare, 'declare', !queue.startsWith('amq.')),
    closesLast: yesOrNo(options.closesLast, 'closesLast', false),
  };
}

/**
 * The broker ends a delivery that is unacknowledged for too long, and gives the message to somebody else
 * meanwhile.
 */
function refuseLongWaits(policy: RetryPolicy): void {
  for (const delay of policy.schedule()) {
    if (RetryLadder.waitsInBroker(delay, policy.threshold)) continue;
    const longest = delay * (1 + policy.jitter);
    if (longest >= LONGEST_WAIT_HERE) {
      throw new ConfigurationError(
        `retry would hold a message in this process for up to ${Math.round(longest)} ms, and may for less than ` +
          `${renderDelay(LONGEST_WAIT_HERE)}; let such waits be the broker's with waitInBrokerFrom('30s')`,
      );
    }
  }
}
