import {
  type Ack,
  ConfigurationError,
  checkApplicationHeaders,
  checkOptions,
  HEADER_ROUTING_SLIP,
  type HeaderTable,
  shown,
} from '@acemq/core';

const BRAND: unique symbol = Symbol.for('acemq.step-answer');

/** Only the functions of this file make these. */
interface Branded {
  readonly [BRAND]: true;
}

/** What a new payload for the next stop may say of itself. */
export interface NextOptions {
  /** What kind of message it is. Default: the routing key of the next stop. */
  readonly type?: string | undefined;
  /** The version of the payload's shape, from 1. Default 1. */
  readonly version?: number | undefined;
  /** Written over those that the message came with. None may start with `x-acemq-`. Default: none. */
  readonly headers?: Readonly<HeaderTable> | undefined;
}

/** The run goes on to its next stop. */
export interface Next extends Branded {
  readonly decision: 'next';
  /** Undefined where the message goes on as it came. */
  readonly changed: { readonly payload: unknown; readonly options: NextOptions } | undefined;
}

/** The run ends at this step. */
export interface End extends Branded {
  readonly decision: 'end';
}

/**
 * What a step decides: `next()`, `end()`, or one of `retry()`, `reject()`, `park()` and `inProgress()` of `@acemq/core`,
 * which then concern this step's queue. `accept()` says nothing about the run, and is refused.
 */
export type StepAnswer = Next | End | Ack;

const AS_IT_CAME: Next = branded({ decision: 'next', changed: undefined });
const END: End = branded({ decision: 'end' });

const NEXT_OPTIONS: readonly string[] = ['type', 'version', 'headers'];

/**
 * The run goes on, with the message as it came: the same bytes, content type, type and version. Nothing is encoded again,
 * also where the handler changed something inside the payload.
 */
export function next(): Next;
/**
 * The run goes on with this payload, which is encoded by the codec of the step's consumer. At the last step the run is
 * completed, and the payload goes nowhere.
 *
 * @throws `ConfigurationError` for an option that cannot be used.
 */
export function next(payload: unknown, options?: NextOptions): Next;
export function next(...given: readonly [payload?: unknown, options?: NextOptions]): Next {
  // Not by `undefined`: a handler that forgot to return its payload must not send the old one on.
  if (given.length === 0) return AS_IT_CAME;
  const [payload, options = {}] = given;
  checkOptions(options, NEXT_OPTIONS, 'next');
  const { type, version, headers } = options;
  if (type !== undefined && (typeof type !== 'string' || type.trim() === '')) {
    throw new ConfigurationError(`type must be text that is not blank, and is ${shown(type)}`);
  }
  if (version !== undefined && (!Number.isSafeInteger(version) || version < 1)) {
    throw new ConfigurationError(`version must be a whole number from 1, and is ${shown(version)}`);
  }
  if (headers !== undefined) checkHeaders(headers);
  return branded<Next>({ decision: 'next', changed: { payload, options } });
}

/** The run ends at this step: `ended_early` where there are stops left, `completed` at the last one. Always the same object. */
export function end(): End {
  return END;
}

/** @throws `ConfigurationError` for headers that a message of a run may not bring along. */
export function checkHeaders(headers: Readonly<HeaderTable>): void {
  if (Object.hasOwn(checkApplicationHeaders(headers), HEADER_ROUTING_SLIP)) {
    throw new ConfigurationError(
      `headers must not contain ${HEADER_ROUTING_SLIP}, which says where the run goes`,
    );
  }
}

/** Whether a value was made by {@link next} or {@link end}, in this copy of the package or another. */
export function isRunAnswer(value: unknown): value is Next | End {
  if (typeof value !== 'object' || value === null) return false;
  try {
    return (value as Partial<Branded>)[BRAND] === true;
  } catch {
    // A proxy may refuse to be asked, and then it is none.
    return false;
  }
}

function branded<T extends Next | End>(answer: Omit<T, typeof BRAND>): T {
  Object.defineProperty(answer, BRAND, { value: true });
  return Object.freeze(answer) as T;
}
