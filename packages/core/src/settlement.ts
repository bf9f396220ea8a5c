import { type Ack, isAck } from './ack.ts';
import { cutText } from './cut-text.ts';
import { renderDelay } from './duration.ts';
import { ageOf, type Envelope, nextAttempt, withError } from './envelope.ts';
import { describeError } from './error-text.ts';
import { isFatal } from './errors.ts';
import {
  type DeliveryOutcome,
  OUTCOME_ACKED,
  OUTCOME_DEAD_LETTERED,
  OUTCOME_IN_PROGRESS,
  OUTCOME_PARKED,
  OUTCOME_REJECTED,
  OUTCOME_RETRIED,
} from './outcomes.ts';
import type { RetryPolicy } from './retry-policy.ts';

/** Milliseconds until a message comes back whose handler answered `inProgress()`. */
export const IN_PROGRESS_DELAY = 5_000;

/** The longest reason that is written, in UTF-16 code units; a longer one is cut and ends with `…`. */
export const LONGEST_REASON = 2000;

/** What becomes of a delivery. Decided once, announced, counted, and then carried out. Frozen. */
export interface Settlement {
  readonly outcome: DeliveryOutcome;
  /** Why it is set aside, as written in `x-acemq-error`; `undefined` for the other outcomes. */
  readonly reason: string | undefined;
  /** Milliseconds until it is delivered again; `undefined` when it is not. */
  readonly delay: number | undefined;
  /** Whether that wait is a rung's. */
  readonly inBroker: boolean;
  /**
   * What a copy is written with: the attempt one higher for a retry, the reason on it for a set-aside, else
   * as it came.
   */
  readonly envelope: Envelope;
  /** Which queue it is set aside in: the dead-letter queue or the parked one. */
  readonly target: 'dlq' | 'parked' | undefined;
}

/**
 * Whether it ends in the dead-letter queue: refused by the handler, out of attempts, too old, or fatal. Not
 * parked.
 */
export function isDeadLettered(settlement: Settlement): boolean {
  return settlement.target === 'dlq';
}

/** Whether it ends in the parked queue. */
export function isParked(settlement: Settlement): boolean {
  return settlement.target === 'parked';
}

/**
 * What becomes of a delivery whose handler returned. A handler that threw is one that returned
 * `retry(error)`; a return value that is no {@link Ack} dead-letters the message, with a reason that says
 * what was returned.
 *
 * @param now - Milliseconds since the epoch, for the message's age.
 * @param random - A number from 0 up to 1, for the jitter.
 */
export function settle(
  ack: unknown,
  envelope: Envelope,
  policy: RetryPolicy,
  now: number,
  random: () => number,
): Settlement {
  if (!isAck(ack)) {
    return setAside(
      OUTCOME_DEAD_LETTERED,
      'dlq',
      envelope,
      `the handler returned ${kindOf(ack)} instead of an Ack`,
    );
  }
  switch (ack.decision) {
    case 'accept':
      return settlement(OUTCOME_ACKED, undefined, undefined, false, envelope, undefined);
    case 'retry':
      return retried(ack.error, envelope, policy, now, random);
    case 'reject':
      return setAside(OUTCOME_REJECTED, 'dlq', envelope, because('the handler rejected it', ack.error));
    case 'park':
      return setAside(OUTCOME_PARKED, 'parked', envelope, because('the handler parked it', ack.error));
    case 'in_progress':
      return settlement(OUTCOME_IN_PROGRESS, undefined, IN_PROGRESS_DELAY, false, envelope, undefined);
  }
}

/** What becomes of a delivery whose body cannot be read: parked, since neither time nor another try helps. */
export function settleUndecodable(error: unknown, envelope: Envelope): Settlement {
  return setAside(OUTCOME_PARKED, 'parked', envelope, because('could not be decoded', error));
}

function retried(
  error: unknown,
  envelope: Envelope,
  policy: RetryPolicy,
  now: number,
  random: () => number,
): Settlement {
  if (fatal(error)) {
    const reason = because('the handler reported an unprocessable message', error);
    return setAside(OUTCOME_DEAD_LETTERED, 'dlq', envelope, reason);
  }
  const wait = policy.nextWait(envelope.attempt, ageOf(envelope, now), random);
  if (wait === undefined) {
    return setAside(OUTCOME_DEAD_LETTERED, 'dlq', envelope, because(gaveUp(envelope, policy), error));
  }
  return settlement(OUTCOME_RETRIED, undefined, wait.delay, wait.inBroker, nextAttempt(envelope), undefined);
}

function fatal(error: unknown): boolean {
  try {
    return isFatal(error);
  } catch {
    // A getter of the thrown object threw in turn; the message must still be settled.
    return false;
  }
}

/** Attempts are named where both limits are reached. */
function gaveUp(envelope: Envelope, policy: RetryPolicy): string {
  const { maxAttempts, maxAge } = policy;
  if (envelope.attempt < maxAttempts) return `exceeded the maximum message age of ${renderDelay(maxAge)}`;
  return maxAttempts === 1
    ? 'exhausted 1 attempt, as no retry policy allows another'
    : `exhausted ${maxAttempts} attempts`;
}

function because(what: string, error: unknown): string {
  return `${what}: ${describeError(error)}`;
}

function setAside(
  outcome: DeliveryOutcome,
  target: 'dlq' | 'parked',
  envelope: Envelope,
  words: string,
): Settlement {
  const reason = cutText(words, LONGEST_REASON);
  return settlement(outcome, reason, undefined, false, withError(envelope, reason), target);
}

function settlement(
  outcome: DeliveryOutcome,
  reason: string | undefined,
  delay: number | undefined,
  inBroker: boolean,
  envelope: Envelope,
  target: 'dlq' | 'parked' | undefined,
): Settlement {
  return Object.freeze({ outcome, reason, delay, inBroker, envelope, target });
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'boolean') return String(value);
  if (typeof value !== 'object') return `a ${typeof value}`;
  try {
    const name: unknown = (value as { readonly constructor?: { readonly name?: unknown } }).constructor?.name;
    return typeof name === 'string' && name !== '' ? `an object (${name})` : 'an object';
  } catch {
    return 'an object';
  }
}
