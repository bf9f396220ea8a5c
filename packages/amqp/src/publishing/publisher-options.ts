import {
  type Codec,
  ConfigurationError,
  checkName,
  checkOptions,
  checkRoutingKey,
  type Duration,
  type EnvelopeFields,
  milliseconds,
  type StandardSchema,
} from '@acemq/core';
import { nonBlank, requireMethods, schemaOf, wholeNumber, yesOrNo } from '../option-checks.ts';

/** What a publisher sends, and where to. `T` is the type of its payloads. */
export interface PublisherOptions<T = unknown> {
  /** Default: the default exchange, which routes to the queue named by the routing key. */
  readonly exchange?: string | undefined;
  /** Default: none, so that each `send` must give one unless the exchange needs none. */
  readonly routingKey?: string | undefined;
  /** Writes the payloads. Default: the connection's. */
  readonly codec?: Codec | undefined;
  /** Checks the payloads before they are encoded, and gives them their type. */
  readonly schema?: StandardSchema<T, unknown> | undefined;
  /** Whether the broker writes the messages to disk. Default true. */
  readonly persistent?: boolean | undefined;
  /**
   * Whether a message may reach no queue, for events that may have no listener. Default false: such a message
   * rejects as unroutable.
   */
  readonly allowUnroutable?: boolean | undefined;
  /** The logical type of the messages. Default: the routing key. */
  readonly type?: string | undefined;
  /** The schema version of the payloads, from 1. Default 1. */
  readonly version?: number | undefined;
  /** 0 to 255, for a queue with priorities. Default: none. */
  readonly priority?: number | undefined;
  /**
   * How long a message may wait in a queue before the broker drops it or dead-letters it. Default: no limit.
   */
  readonly expiresAfter?: Duration | undefined;
}

/** What one `send` may say for itself: any field of the envelope, and what follows. */
export interface SendOptions extends EnvelopeFields {
  /** Instead of the publisher's. */
  readonly routingKey?: string | undefined;
  /** Where an answer is expected. */
  readonly replyTo?: string | undefined;
  readonly persistent?: boolean | undefined;
  readonly allowUnroutable?: boolean | undefined;
  readonly priority?: number | undefined;
  readonly expiresAfter?: Duration | undefined;
  /** Ends the wait. What has not been written then never will be. */
  readonly signal?: AbortSignal | undefined;
}

/** The same with nothing left open. */
export interface ResolvedPublisherOptions {
  readonly exchange: string;
  readonly routingKey: string;
  readonly codec: Codec;
  readonly schema: StandardSchema | undefined;
  readonly persistent: boolean;
  readonly mandatory: boolean;
  readonly type: string | undefined;
  readonly version: number | undefined;
  readonly priority: number | undefined;
  readonly expiration: string | undefined;
}

const PUBLISHER_OPTIONS = [
  'exchange',
  'routingKey',
  'codec',
  'schema',
  'persistent',
  'allowUnroutable',
  'type',
  'version',
  'priority',
  'expiresAfter',
] as const;

/** The options of `send`, and what a whole envelope, such as one made by `causing`, has besides. */
export const SEND_OPTIONS: readonly string[] = [
  'id',
  'type',
  'version',
  'correlationId',
  'causationId',
  'attempt',
  'firstSeen',
  'origin',
  'error',
  'claim',
  'route',
  'routePosition',
  'routeId',
  'headers',
  'unknownHeaders',
  'routingKey',
  'replyTo',
  'persistent',
  'allowUnroutable',
  'priority',
  'expiresAfter',
  'signal',
];

/** Checks the options of a publisher and fills them in. Throws `ConfigurationError`. */
export function resolvePublisherOptions<T>(
  options: PublisherOptions<T>,
  codec: Codec,
): ResolvedPublisherOptions {
  checkOptions(options, PUBLISHER_OPTIONS, 'publisher');
  const exchange = options.exchange ?? '';
  if (exchange !== '') checkName(exchange, 'exchange');
  if (options.codec !== undefined) requireMethods(options.codec, ['encode', 'decode', 'canDecode'], 'codec');
  return {
    exchange,
    routingKey: checkRoutingKey(options.routingKey ?? ''),
    codec: options.codec ?? codec,
    schema: schemaOf(options.schema),
    persistent: yesOrNo(options.persistent, 'persistent', true),
    mandatory: !yesOrNo(options.allowUnroutable, 'allowUnroutable', false),
    type: options.type === undefined ? undefined : nonBlank(options.type, 'type', ''),
    version:
      options.version === undefined
        ? undefined
        : wholeNumber(options.version, 'version', { min: 1, max: Number.MAX_SAFE_INTEGER, otherwise: 1 }),
    priority: options.priority === undefined ? undefined : priorityOf(options.priority),
    expiration: options.expiresAfter === undefined ? undefined : expirationOf(options.expiresAfter),
  };
}

/** Refuses a destination that can only be a mistake. Throws `ConfigurationError`. */
export function checkDestination(exchange: string, routingKey: string): void {
  if (exchange === '' && routingKey === '') {
    throw new ConfigurationError(
      'a message to the default exchange needs a routing key, which is the name of its queue; give routingKey or exchange',
    );
  }
  checkRoutingKey(routingKey);
}

/** A priority as AMQP has it. */
export function priorityOf(priority: number): number {
  return wholeNumber(priority, 'priority', { min: 0, max: 255, otherwise: 0 });
}

/** An expiration as AMQP has it: milliseconds, as text. */
export function expirationOf(expiresAfter: Duration): string {
  return String(milliseconds(expiresAfter, 'expiresAfter', { max: 2 ** 32 - 1 }));
}

/** A reply address, or undefined: an empty one would be taken for an address elsewhere. */
export function replyToOf(replyTo: string | undefined): string | undefined {
  if (replyTo === undefined || replyTo === '') return undefined;
  if (replyTo === 'amq.rabbitmq.reply-to') {
    throw new ConfigurationError(
      'replyTo cannot be amq.rabbitmq.reply-to: the broker ties it to the channel that consumes the replies, and this ' +
        'library publishes and consumes on different connections; give the name of a queue',
    );
  }
  return checkName(replyTo, 'replyTo');
}
