const BRAND: unique symbol = Symbol.for('acemq.ack');

/** Only the functions of this file make an {@link Ack}. */
interface Branded {
  readonly [BRAND]: true;
}

/** The message is done with. */
export interface Accept extends Branded {
  readonly decision: 'accept';
}

/** The message is to be delivered again, as its queue's retry policy allows. */
export interface Retry extends Branded {
  readonly decision: 'retry';
  /** Why; `undefined` when the handler gave no reason. */
  readonly error: unknown;
}

/** The message is refused and goes to the dead-letter queue. */
export interface Reject extends Branded {
  readonly decision: 'reject';
  readonly error: unknown;
}

/** The message goes to the parked queue, for somebody to look at. */
export interface Park extends Branded {
  readonly decision: 'park';
  readonly error: unknown;
}

/** What the message asks for still runs elsewhere: it comes back in a while, its attempt unchanged. */
export interface InProgress extends Branded {
  readonly decision: 'in_progress';
}

/** What a handler decides. It is returned, and carried out by the consumer. */
export type Ack = Accept | Retry | Reject | Park | InProgress;

const ACCEPT: Accept = branded({ decision: 'accept' });
const IN_PROGRESS: InProgress = branded({ decision: 'in_progress' });

/** The message is done with. Always the same object. */
export function accept(): Ack {
  return ACCEPT;
}

/**
 * Deliver the message again, as the retry policy allows; out of attempts, it is dead-lettered. A
 * `FatalError`, or one anywhere in the `cause` chain, dead-letters it at once.
 *
 * @param error - Why. It is named in `x-acemq-error` if this was the last attempt.
 */
export function retry(error?: unknown): Ack {
  return branded<Retry>({ decision: 'retry', error });
}

/** Refuse the message: it goes to the dead-letter queue at once, with the reason on it. */
export function reject(error?: unknown): Ack {
  return branded<Reject>({ decision: 'reject', error });
}

/** Put the message in the parked queue, for somebody to look at, with the reason on it. */
export function park(error?: unknown): Ack {
  return branded<Park>({ decision: 'park', error });
}

/**
 * What the message asks for still runs elsewhere (another process holds it): it is delivered again after 5
 * seconds, its attempt unchanged. Always the same object.
 */
export function inProgress(): Ack {
  return IN_PROGRESS;
}

/** Whether a value was made by one of the functions above, in this copy of the package or another. */
export function isAck(value: unknown): value is Ack {
  if (value === ACCEPT) return true;
  if (typeof value !== 'object' || value === null) return false;
  try {
    return (value as Partial<Branded>)[BRAND] === true;
  } catch {
    // A proxy may refuse to be asked, and then it is none.
    return false;
  }
}

function branded<T extends Ack>(ack: Omit<T, typeof BRAND>): T {
  Object.defineProperty(ack, BRAND, { value: true });
  return Object.freeze(ack) as T;
}
