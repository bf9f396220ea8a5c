import { type HeaderTable, type QueueSpec, UnsupportedError } from '@acemq/core';
import { LONGEST_TTL, wireType } from './message.ts';
import { named, preconditionFailed } from './refusals.ts';

/** The kinds of queue that the in-memory broker has. */
export type QueueType = 'classic' | 'quorum';

/** What becomes of a publish to a queue that is full. */
type Overflow = 'drop-head' | 'reject-publish' | 'reject-publish-dlx';

/** The arguments of a queue, read and checked. */
export interface QueueSettings {
  readonly type: QueueType;
  readonly messageTtl: number | undefined;
  readonly expires: number | undefined;
  readonly maxLength: number | undefined;
  readonly maxBytes: number | undefined;
  readonly overflow: Overflow;
  readonly deadLetterExchange: string | undefined;
  readonly deadLetterRoutingKey: string | undefined;
  readonly deliveryLimit: number | undefined;
}

type Check = (value: unknown, args: Readonly<HeaderTable>) => string | undefined;

/**
 * The arguments that each type knows, in the order in which RabbitMQ compares them. It ignores every other.
 */
const KNOWN: Readonly<Record<QueueType, readonly string[]>> = {
  classic: [
    'x-expires',
    'x-message-ttl',
    'x-dead-letter-exchange',
    'x-dead-letter-routing-key',
    'x-max-length',
    'x-max-length-bytes',
    'x-max-priority',
    'x-overflow',
    'x-queue-mode',
    'x-queue-version',
    'x-single-active-consumer',
    'x-queue-type',
    'x-queue-master-locator',
  ],
  quorum: [
    'x-dead-letter-exchange',
    'x-dead-letter-routing-key',
    'x-dead-letter-strategy',
    'x-expires',
    'x-max-length',
    'x-max-length-bytes',
    'x-max-in-memory-length',
    'x-max-in-memory-bytes',
    'x-overflow',
    'x-single-active-consumer',
    'x-queue-type',
    'x-quorum-initial-group-size',
    'x-delivery-limit',
    'x-message-ttl',
    'x-queue-leader-locator',
  ],
};

/** Arguments of streams, which both types refuse as each refuses what only the other knows. */
const STREAM_ONLY = ['x-max-age', 'x-stream-max-segment-size-bytes', 'x-initial-cluster-size'];

/** The values that RabbitMQ checks, in its order, with its words for what is wrong. */
const CHECKS: readonly (readonly [string, Check])[] = [
  ['x-expires', (value) => integer(value) ?? zero(value) ?? tooLong(value)],
  ['x-message-ttl', (value) => integer(value) ?? tooLong(value)],
  ['x-dead-letter-routing-key', deadLetterKey],
  ['x-dead-letter-strategy', oneOf(['at-most-once', 'at-least-once'], 'invalid_dlx_strategy')],
  ['x-max-length', integer],
  ['x-max-length-bytes', integer],
  ['x-max-in-memory-length', integer],
  ['x-max-in-memory-bytes', integer],
  ['x-max-priority', (value) => integer(value) ?? highest(value)],
  ['x-overflow', oneOf(['drop-head', 'reject-publish', 'reject-publish-dlx'], 'invalid_overflow')],
  ['x-queue-mode', (value) => modes(value)],
  ['x-queue-version', (value) => versions(value)],
  ['x-single-active-consumer', (value) => (typeof value === 'boolean' ? undefined : unacceptable(value))],
];

function integer(value: unknown): string | undefined {
  if (typeof value === 'bigint' || Number.isInteger(value)) {
    return (value as number) < 0 ? `{value_negative,${value}}` : undefined;
  }
  return `"expected integer, got ${wireType(value)}"`;
}

function zero(value: unknown): string | undefined {
  return Number(value) === 0 ? '{value_zero,0}' : undefined;
}

function tooLong(value: unknown): string | undefined {
  return Number(value) > LONGEST_TTL ? `{value_too_large,${value}}` : undefined;
}

function highest(value: unknown): string | undefined {
  return Number(value) > 255 ? `{max_value_exceeded,${value}}` : undefined;
}

function modes(value: unknown): string | undefined {
  if (typeof value !== 'string') return unacceptable(value);
  return value === 'default' || value === 'lazy' ? undefined : `"unsupported queue mode '${value}'"`;
}

function versions(value: unknown): string | undefined {
  return (
    integer(value) ?? (value === 1 || value === 2 ? undefined : `"unsupported queue version '${value}'"`)
  );
}

function deadLetterKey(value: unknown, args: Readonly<HeaderTable>): string | undefined {
  if (typeof value !== 'string') return unacceptable(value);
  return argument(args, 'x-dead-letter-exchange') === undefined
    ? 'routing_key_but_no_dlx_defined'
    : undefined;
}

function oneOf(allowed: readonly string[], otherwise: string): Check {
  return (value) => {
    if (typeof value !== 'string') return unacceptable(value);
    return allowed.includes(value) ? undefined : otherwise;
  };
}

function unacceptable(value: unknown): string {
  return `{unacceptable_type,${wireType(value)}}`;
}

/** An argument by own name; `undefined` when it is not there. */
export function argument(args: Readonly<HeaderTable>, name: string): unknown {
  return Object.hasOwn(args, name) ? args[name] : undefined;
}

/**
 * Reads the arguments of a new queue. Throws RabbitMQ's own refusal (406) for what RabbitMQ 3.10 refuses, and
 * `UnsupportedError` for what it would take and the in-memory broker cannot honour.
 */
export function queueSettings(name: string, spec: QueueSpec): QueueSettings {
  const args = spec.arguments;
  const exchange = argument(args, 'x-dead-letter-exchange');
  if (exchange !== undefined && typeof exchange !== 'string') {
    throw preconditionFailed(
      `invalid type '${wireType(exchange)}' for arg 'x-dead-letter-exchange' in ${named('queue', name)}`,
    );
  }
  const type = queueType(name, args);
  for (const [key, check] of CHECKS) {
    const value = argument(args, key);
    if (value === undefined || !KNOWN[type].includes(key)) continue;
    const wrong = check(value, args);
    if (wrong !== undefined) throw invalidArgument(name, key, wrong);
  }
  checkForeign(name, type, args);
  if (type === 'quorum') checkQuorum(name, spec);
  checkSupported(name, args);
  return {
    type,
    messageTtl: count(args, 'x-message-ttl'),
    expires: count(args, 'x-expires'),
    maxLength: count(args, 'x-max-length'),
    maxBytes: count(args, 'x-max-length-bytes'),
    overflow: overflowOf(type, args),
    deadLetterExchange: exchange,
    deadLetterRoutingKey: argument(args, 'x-dead-letter-routing-key') as string | undefined,
    deliveryLimit: count(args, 'x-delivery-limit'),
  };
}

function queueType(name: string, args: Readonly<HeaderTable>): QueueType {
  const type = argument(args, 'x-queue-type') ?? 'classic';
  if (typeof type !== 'string') throw invalidArgument(name, 'x-queue-type', unacceptable(type));
  if (type === 'stream') throw unsupported(name, 'streams');
  if (type !== 'classic' && type !== 'quorum') {
    throw invalidArgument(name, 'x-queue-type', `"unsupported queue type '${type}'"`);
  }
  return type;
}

function checkForeign(name: string, type: QueueType, args: Readonly<HeaderTable>): void {
  const foreign = [...KNOWN[type === 'classic' ? 'quorum' : 'classic'], ...STREAM_ONLY].filter(
    (key) => !KNOWN[type].includes(key),
  );
  const found = Object.keys(args)
    .filter((key) => args[key] !== undefined)
    .sort()
    .find((key) => foreign.includes(key));
  if (found === undefined) return;
  throw preconditionFailed(
    `invalid arg '${found}' for ${named('queue', name)} of queue type rabbit_${type}_queue`,
  );
}

function checkQuorum(name: string, spec: QueueSpec): void {
  const wrong = spec.exclusive
    ? 'exclusive-owner'
    : spec.autoDelete
      ? 'auto-delete'
      : spec.durable
        ? undefined
        : 'non-durable';
  if (wrong !== undefined)
    throw preconditionFailed(`invalid property '${wrong}' for ${named('queue', name)}`);
}

function checkSupported(name: string, args: Readonly<HeaderTable>): void {
  if (argument(args, 'x-max-priority') !== undefined) throw unsupported(name, 'priorities (x-max-priority)');
  if (argument(args, 'x-single-active-consumer') === true) {
    throw unsupported(name, 'a single active consumer (x-single-active-consumer)');
  }
  if (argument(args, 'x-dead-letter-strategy') === 'at-least-once') {
    throw unsupported(name, 'dead-lettering at least once (x-dead-letter-strategy)');
  }
  const limit = argument(args, 'x-delivery-limit');
  if (limit !== undefined && integer(limit) !== undefined) {
    throw unsupported(
      name,
      `the delivery limit ${String(limit)} (x-delivery-limit takes an integer of 0 or more)`,
    );
  }
}

function unsupported(name: string, what: string): UnsupportedError {
  return new UnsupportedError(
    `the in-memory broker does not have ${what}, which ${named('queue', name)} asks for`,
  );
}

function invalidArgument(name: string, key: string, why: string): Error {
  return preconditionFailed(`invalid arg '${key}' for ${named('queue', name)}: ${why}`);
}

/** A quorum queue has no `reject-publish-dlx`: RabbitMQ takes the word and drops the head. */
function overflowOf(type: QueueType, args: Readonly<HeaderTable>): Overflow {
  const overflow = argument(args, 'x-overflow') as Overflow | undefined;
  if (overflow === undefined || (type === 'quorum' && overflow === 'reject-publish-dlx')) return 'drop-head';
  return overflow;
}

function count(args: Readonly<HeaderTable>, key: string): number | undefined {
  const value = argument(args, key);
  return value === undefined ? undefined : Number(value);
}

/**
 * The arguments of a queue of this type that must be the same when it is declared again, in the broker's
 * order.
 */
export function comparedArguments(type: QueueType): readonly string[] {
  return KNOWN[type];
}
