import { cutText } from './cut-text.ts';
import { ConfigurationError } from './errors.ts';
import { checkApplicationHeaders, type HeaderTable, NO_HEADERS } from './headers.ts';
import { isShortText, isWellFormed, LONGEST_NAME } from './naming.ts';
import { shown } from './shown.ts';

/**
 * What a message says about itself, beside its payload. Frozen; a changed one is made with {@link
 * withEnvelope}, {@link nextAttempt} or {@link causing}.
 */
export interface Envelope {
  /**
   * Who the message is. The same through every retry, dead letter and replay, so it is the key to tell
   * duplicates by.
   */
  readonly id: string;
  /** What kind of message it is. The routing key unless the publisher says otherwise. */
  readonly type: string;
  /** The version of the payload's shape, at least 1. */
  readonly version: number;
  /** The flow that it belongs to; its own id for a message that starts one. */
  readonly correlationId: string;
  /** The id of the message that brought it about. */
  readonly causationId: string | undefined;
  /** Which delivery this is, at least 1. */
  readonly attempt: number;
  /** When it was first published, in milliseconds since the epoch. Never changed by a retry or a replay. */
  readonly firstSeen: number;
  /** Who published it, `service@host`. */
  readonly origin: string | undefined;
  /** Why it was set aside. */
  readonly error: string | undefined;
  /** Where its payload is kept, when it is not in the message. */
  readonly claim: string | undefined;
  /** The steps of its pipeline. */
  readonly route: readonly string[] | undefined;
  /** Which step it is for, from 0. */
  readonly routePosition: number;
  /** The run of the pipeline that it belongs to. */
  readonly routeId: string | undefined;
  /** The application's own headers. No prototype, so every name means only itself. */
  readonly headers: Readonly<HeaderTable>;
  /**
   * Headers under the library's prefix that this version does not know. They are kept from the application's
   * headers and put back on a copy that the library makes.
   */
  readonly unknownHeaders: Readonly<HeaderTable>;
}

/** What a publisher may say of an envelope. What is left out, `undefined` or empty text takes its default. */
export interface EnvelopeFields {
  /** A random UUID by default. */
  readonly id?: string | undefined;
  /** The routing key by default, `message` where that is empty. */
  readonly type?: string | undefined;
  /** A whole number, at least 1; 1 by default. */
  readonly version?: number | undefined;
  /** The id by default. */
  readonly correlationId?: string | undefined;
  readonly causationId?: string | undefined;
  /** A whole number, at least 1; 1 by default. */
  readonly attempt?: number | undefined;
  /** Whole milliseconds since the epoch, not negative; now by default. */
  readonly firstSeen?: number | undefined;
  /** The connection's own by default. */
  readonly origin?: string | undefined;
  readonly error?: string | undefined;
  readonly claim?: string | undefined;
  /** Step names: not blank, no comma, no space around them. */
  readonly route?: readonly string[] | undefined;
  /** A whole number, not negative; 0 by default. */
  readonly routePosition?: number | undefined;
  readonly routeId?: string | undefined;
  /** No name may start with `x-acemq-`. Copied. */
  readonly headers?: Readonly<HeaderTable> | undefined;
}

/** What an envelope takes where its publisher says nothing. */
export interface EnvelopeDefaults {
  readonly routingKey: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly origin?: string | undefined;
  /** Makes an id; a random UUID by default. */
  readonly newId?: (() => string) | undefined;
}

/** Fields that may be changed while the envelope is built, and not after. */
type Draft = { -readonly [Name in keyof Envelope]: Envelope[Name] };

const webCrypto = globalThis.crypto;

/** A random UUID (version 4), lower case. */
export function randomId(): string {
  return webCrypto.randomUUID();
}

/** What a message is called whose publisher gave neither a type nor a routing key. */
const NAMELESS = 'message';

/**
 * The envelope of a message about to be published.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`), which names the field and the value: a version or
 * attempt below 1, a number that is not whole, a route step that cannot be written, headers under the
 * library's own prefix.
 */
export function createEnvelope(fields: EnvelopeFields, defaults: EnvelopeDefaults): Envelope {
  const id = identity(fields.id) ?? (defaults.newId === undefined ? randomId() : defaults.newId());
  return Object.freeze({
    id,
    type: text(fields.type, 'type') ?? (defaults.routingKey === '' ? NAMELESS : defaults.routingKey),
    version: fields.version === undefined ? 1 : whole(fields.version, 'version', 1),
    correlationId: text(fields.correlationId, 'correlationId') ?? id,
    causationId: text(fields.causationId, 'causationId'),
    attempt: fields.attempt === undefined ? 1 : whole(fields.attempt, 'attempt', 1),
    firstSeen:
      fields.firstSeen === undefined ? Math.trunc(defaults.now) : whole(fields.firstSeen, 'firstSeen', 0),
    origin: text(fields.origin, 'origin') ?? text(defaults.origin, 'origin'),
    error: text(fields.error, 'error'),
    claim: text(fields.claim, 'claim'),
    route: fields.route === undefined ? undefined : steps(fields.route),
    routePosition: fields.routePosition === undefined ? 0 : whole(fields.routePosition, 'routePosition', 0),
    routeId: text(fields.routeId, 'routeId'),
    headers: fields.headers === undefined ? NO_HEADERS : checkApplicationHeaders(fields.headers),
    unknownHeaders: NO_HEADERS,
  });
}

/** The same message, delivered once more. */
export function nextAttempt(envelope: Envelope): Envelope {
  const draft = draftOf(envelope);
  draft.attempt = Math.min(envelope.attempt + 1, Number.MAX_SAFE_INTEGER);
  return Object.freeze(draft);
}

/** The same message with its reason to be set aside. Empty text takes the reason off. */
export function withError(envelope: Envelope, error: string): Envelope {
  const draft = draftOf(envelope);
  draft.error = error === '' ? undefined : error;
  return Object.freeze(draft);
}

/**
 * A copy with some fields changed. A field that every envelope has (`id`, `type`, `version` …) is left as it
 * is by `undefined` or empty text; one that may be missing (`error`, `route` …) is taken off by either.
 * `headers` replaces all of the application's headers.
 *
 * @throws `ConfigurationError` as {@link createEnvelope} does.
 */
export function withEnvelope(envelope: Envelope, changes: EnvelopeFields): Envelope {
  const draft = draftOf(envelope);
  draft.id = identity(changes.id) ?? envelope.id;
  draft.type = text(changes.type, 'type') ?? envelope.type;
  draft.correlationId = text(changes.correlationId, 'correlationId') ?? envelope.correlationId;
  if (changes.version !== undefined) draft.version = whole(changes.version, 'version', 1);
  if (changes.attempt !== undefined) draft.attempt = whole(changes.attempt, 'attempt', 1);
  if (changes.firstSeen !== undefined) draft.firstSeen = whole(changes.firstSeen, 'firstSeen', 0);
  if (changes.routePosition !== undefined)
    draft.routePosition = whole(changes.routePosition, 'routePosition', 0);
  if (changes.headers !== undefined) draft.headers = checkApplicationHeaders(changes.headers);
  for (const name of ['causationId', 'origin', 'error', 'claim', 'routeId'] as const) {
    if (Object.hasOwn(changes, name)) draft[name] = text(changes[name], name);
  }
  if (Object.hasOwn(changes, 'route')) {
    draft.route = changes.route === undefined ? undefined : steps(changes.route);
    if (draft.route === undefined && changes.routePosition === undefined) draft.routePosition = 0;
  }
  return Object.freeze(draft);
}

/**
 * The envelope of a message that this one brings about: an id of its own, the same correlation, this id as
 * its causation, the same origin, attempt and version 1, first seen now. Headers and route are not passed on.
 */
export function causing(
  envelope: Envelope,
  type: string,
  made: { readonly now: number; readonly newId?: (() => string) | undefined },
): Envelope {
  return createEnvelope(
    { type, correlationId: envelope.correlationId, causationId: envelope.id, origin: envelope.origin },
    { routingKey: '', now: made.now, newId: made.newId },
  );
}

/** Milliseconds since the message was first published; 0 where the clocks disagree. */
export function ageOf(envelope: Envelope, now: number): number {
  return Math.max(0, now - envelope.firstSeen);
}

/** Field by field, which is ten times faster than to spread a frozen object. */
function draftOf(envelope: Envelope): Draft {
  return {
    id: envelope.id,
    type: envelope.type,
    version: envelope.version,
    correlationId: envelope.correlationId,
    causationId: envelope.causationId,
    attempt: envelope.attempt,
    firstSeen: envelope.firstSeen,
    origin: envelope.origin,
    error: envelope.error,
    claim: envelope.claim,
    route: envelope.route,
    routePosition: envelope.routePosition,
    routeId: envelope.routeId,
    headers: envelope.headers,
    unknownHeaders: envelope.unknownHeaders,
  };
}

function text(value: string | undefined, field: string): string | undefined {
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') {
    throw new ConfigurationError(`${field} must be text, not ${shown(value)}`);
  }
  return value;
}

/** It leaves as the message id too, for which AMQP has 255 bytes. */
function identity(value: string | undefined): string | undefined {
  const id = text(value, 'id');
  if (id !== undefined && !isWellFormed(id)) {
    throw new ConfigurationError(
      `id must be well-formed text, and has half of a surrogate pair: ${shown(cutText(id, 40))}`,
    );
  }
  if (id !== undefined && !isShortText(id)) {
    throw new ConfigurationError(
      `id must be text of at most ${LONGEST_NAME} bytes, and begins ${shown(cutText(id, 40))}`,
    );
  }
  return id;
}

function whole(value: number, field: string, min: number): number {
  if (!Number.isSafeInteger(value) || value < min) {
    throw new ConfigurationError(`${field} must be a whole number of at least ${min}, not ${shown(value)}`);
  }
  return value;
}

function steps(route: readonly string[]): readonly string[] | undefined {
  if (!Array.isArray(route))
    throw new ConfigurationError(`route must be a list of step names, not ${shown(route)}`);
  for (const step of route as readonly unknown[]) {
    if (typeof step !== 'string' || step === '' || step.trim() !== step || step.includes(',')) {
      throw new ConfigurationError(
        `a step of a route must be text that is not blank, has no comma and no space around it, not ${shown(step)}`,
      );
    }
  }
  return route.length === 0 ? undefined : Object.freeze([...(route as readonly string[])]);
}
