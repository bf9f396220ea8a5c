/**
 * Every error of the library, under one base.
 *
 * Each class has a stable `code`, says in `retryable` whether trying again can help, and is recognised by
 * `instanceof` across copies of this package (a bundler, or one dependency that pins another version), since
 * it is matched by a registered symbol and not by identity.
 */

/** The stable codes, one for each situation. They never change; messages may. */
export type ErrorCode =
  | 'ACEMQ_CONFIGURATION'
  | 'ACEMQ_UNSUPPORTED'
  | 'ACEMQ_TOPOLOGY'
  | 'ACEMQ_TOPOLOGY_DRIFT'
  | 'ACEMQ_CONNECT_FAILED'
  | 'ACEMQ_CONNECT_REFUSED'
  | 'ACEMQ_CONNECTION_LOST'
  | 'ACEMQ_CONNECTION_CLOSED'
  | 'ACEMQ_BROKER_REFUSED'
  | 'ACEMQ_TIMEOUT'
  | 'ACEMQ_ABORTED'
  | 'ACEMQ_PUBLISH_FAILED'
  | 'ACEMQ_PUBLISH_UNROUTABLE'
  | 'ACEMQ_PUBLISH_NACKED'
  | 'ACEMQ_PUBLISH_TIMEOUT'
  | 'ACEMQ_PUBLISH_LOST'
  | 'ACEMQ_PUBLISH_BATCH'
  | 'ACEMQ_PUBLISHING_PAUSED'
  | 'ACEMQ_ENCODE'
  | 'ACEMQ_DECODE'
  | 'ACEMQ_FATAL'
  | 'ACEMQ_REQUEST_TIMEOUT'
  | 'ACEMQ_RESPONDER'
  | 'ACEMQ_REPLAY';

/** What every error of the library may be given besides its message. */
export interface ErrorDetails {
  /** What brought it about; kept as `cause`. */
  readonly cause?: unknown;
}

const BRAND = Symbol.for('acemq.error.brand');

/**
 * Makes `name` and the brand properties of the prototype: a minifier renames classes, and users read names.
 */
function brand(target: { readonly prototype: object }, name: string): void {
  const symbol = Symbol.for(`acemq.error.${name}`);
  Object.defineProperty(target, BRAND, { value: symbol });
  Object.defineProperty(target.prototype, symbol, { value: true });
  Object.defineProperty(target.prototype, 'name', { value: name, configurable: true, writable: true });
}

/** The base of every error this library throws. */
export class AceMQError extends Error {
  /** Which situation this is; stable across releases. */
  readonly code: ErrorCode;
  /** Whether the same call, made again later, can succeed. */
  readonly retryable: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    details: ErrorDetails & { readonly retryable?: boolean } = {},
  ) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined);
    this.code = code;
    this.retryable = details.retryable ?? false;
  }

  /**
   * A class of this library is matched by its brand; a class that a user derives from one, by its prototype.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (!Object.hasOwn(this, BRAND)) return Function.prototype[Symbol.hasInstance].call(this, value);
    const own = (this as unknown as Record<symbol, symbol>)[BRAND] as symbol;
    return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[own] === true;
  }
}
brand(AceMQError, 'AceMQError');

/**
 * An option, argument or name that cannot be used. Nothing was dialled, declared or sent.
 * `ACEMQ_CONFIGURATION`.
 */
export class ConfigurationError extends AceMQError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('ACEMQ_CONFIGURATION', message, details);
  }
}
brand(ConfigurationError, 'ConfigurationError');

/** Something the transport in use cannot do; it refuses rather than pretends. `ACEMQ_UNSUPPORTED`. */
export class UnsupportedError extends AceMQError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('ACEMQ_UNSUPPORTED', message, details);
  }
}
brand(UnsupportedError, 'UnsupportedError');

/** One argument or flag in which what exists on the broker differs from what was to be declared. */
export interface Difference {
  /** What kind of thing it is. */
  readonly kind: 'exchange' | 'queue';
  /** The name of the queue or exchange. */
  readonly name: string;
  /** The argument or flag, as the broker calls it, for example `x-message-ttl` or `durable`. */
  readonly argument: string;
  /** The value to be declared, as the broker prints it; `none` when there is none. */
  readonly wanted: string;
  /** The value that exists, as the broker prints it; `none` when there is none. */
  readonly found: string;
}

/**
 * A topology that cannot be declared: it contradicts itself (`ACEMQ_TOPOLOGY`, found before anything is
 * sent), or it contradicts what exists (`ACEMQ_TOPOLOGY_DRIFT`, found before anything is declared).
 */
export class TopologyError extends AceMQError {
  /** What differs; empty for a topology that contradicts itself. */
  readonly differences: readonly Difference[];

  constructor(
    message: string,
    details: ErrorDetails & { readonly differences?: readonly Difference[] } = {},
  ) {
    const differences = details.differences ?? [];
    super(differences.length > 0 ? 'ACEMQ_TOPOLOGY_DRIFT' : 'ACEMQ_TOPOLOGY', message, details);
    this.differences = Object.freeze([...differences]);
  }
}
brand(TopologyError, 'TopologyError');

/**
 * No connection could be made. `ACEMQ_CONNECT_FAILED` (retryable: unreachable, timed out, cut off while
 * connecting) or `ACEMQ_CONNECT_REFUSED` (not retryable: the broker refused the password, the vhost or the
 * permission).
 */
export class ConnectError extends AceMQError {
  /** Whether the broker itself said no, so that the same credentials will be refused again. */
  readonly refused: boolean;

  constructor(message: string, details: ErrorDetails & { readonly refused?: boolean } = {}) {
    const refused = details.refused ?? false;
    super(refused ? 'ACEMQ_CONNECT_REFUSED' : 'ACEMQ_CONNECT_FAILED', message, {
      ...details,
      retryable: !refused,
    });
    this.refused = refused;
  }
}
brand(ConnectError, 'ConnectError');

/**
 * The link to the broker, or the channel in use, went away during the call. `ACEMQ_CONNECTION_LOST`,
 * retryable.
 */
export class ConnectionLostError extends AceMQError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('ACEMQ_CONNECTION_LOST', message, { ...details, retryable: true });
  }
}
brand(ConnectionLostError, 'ConnectionLostError');

/** The connection, publisher or consumer was closed by its owner. `ACEMQ_CONNECTION_CLOSED`. */
export class ConnectionClosedError extends AceMQError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('ACEMQ_CONNECTION_CLOSED', message, details);
  }
}
brand(ConnectionClosedError, 'ConnectionClosedError');

/** A wait that ran out. `ACEMQ_TIMEOUT`, retryable. */
export class TimeoutError extends AceMQError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('ACEMQ_TIMEOUT', message, { ...details, retryable: true });
  }
}
brand(TimeoutError, 'TimeoutError');

/** A wait that the caller's `AbortSignal` ended; the signal's reason is the `cause`. `ACEMQ_ABORTED`. */
export class AbortedError extends AceMQError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('ACEMQ_ABORTED', message, details);
  }
}
brand(AbortedError, 'AbortedError');

/** The broker's own numbers for a refusal that closes a channel (AMQP 0-9-1, reply codes). */
export const REPLY_CONTENT_TOO_LARGE = 311;
export const REPLY_ACCESS_REFUSED = 403;
export const REPLY_NOT_FOUND = 404;
export const REPLY_RESOURCE_LOCKED = 405;
export const REPLY_PRECONDITION_FAILED = 406;

/** The broker answered no and closed the channel that asked. `ACEMQ_BROKER_REFUSED`. */
export class BrokerRefusedError extends AceMQError {
  /** The broker's reply code: 403, 404, 405, 406 … */
  readonly replyCode: number;
  /** The broker's own words. */
  readonly replyText: string;

  constructor(replyCode: number, replyText: string, details: ErrorDetails & { readonly what?: string } = {}) {
    super(
      'ACEMQ_BROKER_REFUSED',
      `${details.what ?? 'the broker refused'}: ${replyCode} ${replyText}`,
      details,
    );
    this.replyCode = replyCode;
    this.replyText = replyText;
  }
}
brand(BrokerRefusedError, 'BrokerRefusedError');

/** The codes a {@link PublishError} may carry. */
export type PublishErrorCode = Extract<ErrorCode, `ACEMQ_PUBLISH_${string}` | 'ACEMQ_PUBLISHING_PAUSED'>;

/** What a {@link PublishError} says about the message. */
export interface PublishErrorDetails extends ErrorDetails {
  readonly code?: PublishErrorCode;
  readonly messageId?: string;
  readonly exchange?: string;
  readonly routingKey?: string;
  readonly reason?: string;
  readonly mayHaveArrived?: boolean;
  readonly retryable?: boolean;
}

/**
 * A message that was not confirmed.
 *
 * `mayHaveArrived` is what decides whether sending it again can make a duplicate: false when nothing was
 * written or the broker said no, true when the answer was lost.
 */
export class PublishError extends AceMQError {
  /** Id of the message; empty for a batch. */
  readonly messageId: string;
  /** The exchange it was published to; empty for the default exchange. */
  readonly exchange: string;
  readonly routingKey: string;
  /** The broker's words where it gave any, ours otherwise. */
  readonly reason: string;
  /** Whether it was mandatory and reached no queue. */
  readonly unroutable: boolean;
  /** Whether the broker may have taken it all the same. */
  readonly mayHaveArrived: boolean;

  constructor(message: string, details: PublishErrorDetails = {}) {
    super(details.code ?? 'ACEMQ_PUBLISH_FAILED', message, details);
    this.messageId = details.messageId ?? '';
    this.exchange = details.exchange ?? '';
    this.routingKey = details.routingKey ?? '';
    this.reason = details.reason ?? message;
    this.unroutable = this.code === 'ACEMQ_PUBLISH_UNROUTABLE';
    this.mayHaveArrived = details.mayHaveArrived ?? false;
  }
}
brand(PublishError, 'PublishError');

/**
 * The broker has blocked the connection (a memory or disk alarm), so the message was refused before a byte
 * was written. `ACEMQ_PUBLISHING_PAUSED`, retryable; sending again cannot make a duplicate.
 */
export class PublishingPausedError extends PublishError {
  constructor(message: string, details: Omit<PublishErrorDetails, 'code' | 'mayHaveArrived'> = {}) {
    super(message, { ...details, code: 'ACEMQ_PUBLISHING_PAUSED', retryable: true });
  }
}
brand(PublishingPausedError, 'PublishingPausedError');

/**
 * Some messages of a `sendAll` were not confirmed. `ACEMQ_PUBLISH_BATCH`. `unroutable` is true only when
 * every failure was; `errors` has one entry a payload, in payload order, `undefined` where it was confirmed.
 */
export class BatchPublishError extends PublishError {
  readonly total: number;
  readonly confirmed: number;
  readonly failed: number;
  readonly errors: readonly (Error | undefined)[];
  override readonly unroutable: boolean;

  constructor(errors: readonly (Error | undefined)[]) {
    const failures = errors.filter((error) => error !== undefined);
    const total = errors.length;
    const failed = failures.length;
    const first = failures[0];
    // The same sentence in every language of the family: alerts and people match it.
    const words = first === undefined ? 'none' : first.message === '' ? first.name : first.message;
    super(
      `${failed} of ${total} messages were not confirmed; ${total - failed} were. The first failure was: ${words}`,
      {
        code: 'ACEMQ_PUBLISH_BATCH',
        cause: first,
        mayHaveArrived: failures.some((error) => error instanceof PublishError && error.mayHaveArrived),
        retryable: failures.every((error) => error instanceof AceMQError && error.retryable),
      },
    );
    this.total = total;
    this.failed = failed;
    this.confirmed = total - failed;
    this.errors = Object.freeze([...errors]);
    this.unroutable =
      failed > 0 && failures.every((error) => error instanceof PublishError && error.unroutable);
  }
}
brand(BatchPublishError, 'BatchPublishError');

/**
 * A payload that cannot become bytes, or that its schema refuses; or a header, a property or an argument that AMQP has
 * no form for. Nothing was written. `ACEMQ_ENCODE`.
 */
export class EncodeError extends AceMQError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('ACEMQ_ENCODE', message, details);
  }
}
brand(EncodeError, 'EncodeError');

/**
 * A body that cannot become a payload, or whose payload its schema refuses. The message is parked.
 * `ACEMQ_DECODE`.
 */
export class DecodeError extends AceMQError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('ACEMQ_DECODE', message, details);
  }
}
brand(DecodeError, 'DecodeError');

/**
 * Says that trying again cannot help: a handler that throws it, or gives it to `retry`, has its message
 * dead-lettered at once. It is found anywhere in a `cause` chain. `ACEMQ_FATAL`.
 */
export class FatalError extends AceMQError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('ACEMQ_FATAL', message, details);
  }
}
brand(FatalError, 'FatalError');

/** A request whose reply did not come in time. `ACEMQ_REQUEST_TIMEOUT`, retryable. */
export class RequestTimeoutError extends AceMQError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('ACEMQ_REQUEST_TIMEOUT', message, { ...details, retryable: true });
  }
}
brand(RequestTimeoutError, 'RequestTimeoutError');

/** What a {@link ResponderError} says besides its message. */
export interface ResponderErrorDetails extends ErrorDetails {
  /** What the responder called it, such as `RangeError`; undefined where it said no type. */
  readonly type?: string | undefined;
}

/**
 * A request that its responder could not answer: the message is the responder's own words. Its work may have been done in
 * part. `ACEMQ_RESPONDER`.
 */
export class ResponderError extends AceMQError {
  /** What the responder called it, such as `RangeError`; undefined where it said no type. */
  readonly type: string | undefined;

  constructor(message: string, details: ResponderErrorDetails = {}) {
    super('ACEMQ_RESPONDER', message, details);
    this.type = details.type;
  }
}
brand(ResponderError, 'ResponderError');

/** What a {@link ReplayError} says besides its message. */
export interface ReplayErrorDetails extends ErrorDetails {
  readonly moved?: number;
  readonly messageId?: string;
}

/**
 * A replay that came upon a message which could not be moved, and stopped. What was moved by then stays moved, that message
 * and the others are in their queue. `ACEMQ_REPLAY`.
 */
export class ReplayError extends AceMQError {
  /** How many were moved before. */
  readonly moved: number;
  /** Id of the message that could not be. */
  readonly messageId: string;

  constructor(message: string, details: ReplayErrorDetails = {}) {
    super('ACEMQ_REPLAY', message, details);
    this.moved = details.moved ?? 0;
    this.messageId = details.messageId ?? '';
  }
}
brand(ReplayError, 'ReplayError');

/** How far a `cause` chain is followed: longer than any real one, and an end to one that runs in a circle. */
const LONGEST_CAUSE_CHAIN = 32;

/** Whether a {@link FatalError} is the error, or anywhere in its `cause` chain. */
export function isFatal(error: unknown): boolean {
  let current: unknown = error;
  for (let depth = 0; depth < LONGEST_CAUSE_CHAIN && current instanceof Error; depth += 1) {
    if (current instanceof FatalError) return true;
    current = current.cause;
  }
  return false;
}
