import { growingDelays, jittered } from './backoff.ts';
import { DEFAULT_BROKER_WAIT_THRESHOLD, LONGEST_DELAY, waitsInBroker } from './broker-wait.ts';
import { type Duration, milliseconds, renderDelay } from './duration.ts';
import { ConfigurationError } from './errors.ts';
import { shown } from './shown.ts';

/** Most attempts that a policy may allow: its schedule is a list that exists in full. */
const MOST_ATTEMPTS = 10_000;

/** Part of a delay by which an exponential wait in the consumer varies, both ways. */
const EXPONENTIAL_JITTER = 0.2;

/** How long to wait before the next attempt, and where. */
export interface Wait {
  /** Whole milliseconds. */
  readonly delay: number;
  /**
   * In a rung, and then exactly as scheduled, since it names a queue; otherwise in the consumer, jittered.
   */
  readonly inBroker: boolean;
}

interface Settings {
  readonly maxAttempts: number;
  readonly initialDelay: number;
  readonly multiplier: number;
  readonly maxDelay: number;
  readonly jitter: number;
  readonly maxAge: number;
  readonly threshold: number;
  readonly delays: readonly number[];
}

const BRAND = Symbol.for('acemq.retry-policy');

/**
 * The delays of each policy, grown once. Not a private field: that would make policies of two copies of this
 * package different types.
 */
const SCHEDULES = new WeakMap<RetryPolicy, readonly number[]>();

/**
 * How often, and how far apart, a message is tried again. Frozen. Made by {@link none}, {@link fixed} and
 * {@link exponential}; recognised by `instanceof` across copies of this package.
 */
export class RetryPolicy {
  /** Deliveries in all, the first one included: 1 means that nothing is tried again. */
  readonly maxAttempts: number;
  /** Milliseconds before the second delivery. */
  readonly initialDelay: number;
  /** What each delay is multiplied by for the next; 1 for a fixed delay. */
  readonly multiplier: number;
  /** Milliseconds that no delay passes. */
  readonly maxDelay: number;
  /** Part of a delay, 0 to 1, by which a wait in the consumer varies, both ways. */
  readonly jitter: number;
  /** Milliseconds since it was first published after which a message is given up; 0 for no limit. */
  readonly maxAge: number;
  /** Milliseconds from which on a delay waits in the broker; 0 for never. */
  readonly threshold: number;

  private constructor(settings: Settings) {
    this.maxAttempts = settings.maxAttempts;
    this.initialDelay = settings.initialDelay;
    this.multiplier = settings.multiplier;
    this.maxDelay = settings.maxDelay;
    this.jitter = settings.jitter;
    this.maxAge = settings.maxAge;
    this.threshold = settings.threshold;
    SCHEDULES.set(this, settings.delays);
    Object.freeze(this);
  }

  /** See {@link none}. */
  static none(): RetryPolicy {
    return NONE;
  }

  /** See {@link fixed}. */
  static fixed(attempts: number, delay: Duration): RetryPolicy {
    const maxAttempts = checkAttempts(attempts);
    const ms = milliseconds(delay, 'delay', { max: LONGEST_DELAY });
    return RetryPolicy.made(maxAttempts, ms, 1, ms, 0);
  }

  /** See {@link exponential}. */
  static exponential(attempts: number, initial: Duration, max: Duration): RetryPolicy;
  static exponential(attempts: number, initial: Duration, multiplier: number, max: Duration): RetryPolicy;
  static exponential(attempts: number, initial: Duration, third: Duration, fourth?: Duration): RetryPolicy {
    const maxAttempts = checkAttempts(attempts);
    const multiplier = fourth === undefined ? 2 : checkMultiplier(third);
    const initialDelay = milliseconds(initial, 'initialDelay', { max: LONGEST_DELAY });
    const maxDelay = milliseconds(fourth ?? third, 'maxDelay', { max: LONGEST_DELAY });
    if (maxDelay < initialDelay) {
      throw new ConfigurationError(
        `maxDelay must be at least initialDelay (${renderDelay(initialDelay)}), not ${renderDelay(maxDelay)}`,
      );
    }
    return RetryPolicy.made(maxAttempts, initialDelay, multiplier, maxDelay, EXPONENTIAL_JITTER);
  }

  private static made(
    maxAttempts: number,
    initialDelay: number,
    multiplier: number,
    maxDelay: number,
    jitter: number,
  ): RetryPolicy {
    return new RetryPolicy({
      maxAttempts,
      initialDelay,
      multiplier,
      maxDelay,
      jitter,
      maxAge: 0,
      threshold: DEFAULT_BROKER_WAIT_THRESHOLD,
      delays: growingDelays(maxAttempts - 1, initialDelay, multiplier, maxDelay),
    });
  }

  /** Recognises policies of another copy of this package too. */
  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[BRAND] === true;
  }

  /** The delays in order, in whole milliseconds, without jitter: one less than there are attempts. */
  schedule(): readonly number[] {
    return SCHEDULES.get(this) ?? [];
  }

  /** The delays of the schedule that wait in the broker, each once, in order. */
  brokerRungs(): readonly number[] {
    return [...new Set(this.schedule().filter((delay) => waitsInBroker(delay, this.threshold)))];
  }

  /**
   * The scheduled delay, in milliseconds, after an attempt that failed; after the last one, and past it, the
   * last delay of the schedule, 0 where there is none.
   *
   * @param attempt - From 1.
   * @throws `ConfigurationError` for an attempt below 1, or not whole.
   */
  delayFor(attempt: number): number {
    checkAttempt(attempt);
    const delays = this.schedule();
    return delays[Math.min(attempt, delays.length) - 1] ?? 0;
  }

  /**
   * What follows an attempt that failed: how long to wait and where, or `undefined` to give up. It gives up
   * when the attempts are used, or when the message has reached the age limit (an age that equals the limit
   * has reached it).
   *
   * @param attempt - The one that failed, from 1.
   * @param age - Milliseconds since the message was first published; `undefined` when not known, and then
   * young enough.
   * @param random - A number from 0 up to 1, for the jitter.
   */
  nextWait(attempt: number, age: number | undefined, random: () => number): Wait | undefined {
    checkAttempt(attempt);
    if (attempt >= this.maxAttempts) return undefined;
    if (this.maxAge > 0 && age !== undefined && age >= this.maxAge) return undefined;
    const delay = this.delayFor(attempt);
    // Decided on the scheduled delay: 29 s that jitter to 33 s still wait in the consumer.
    if (waitsInBroker(delay, this.threshold)) return { delay, inBroker: true };
    return { delay: jittered(delay, this.jitter, random), inBroker: false };
  }

  /**
   * The same, but a message that is this old is given up, whatever attempts it has left. 0 takes the limit
   * off.
   *
   * @throws `ConfigurationError` for a duration that is negative or none.
   */
  giveUpAfter(age: Duration): RetryPolicy {
    return new RetryPolicy({ ...settingsOf(this), maxAge: milliseconds(age, 'giveUpAfter') });
  }

  /**
   * The same with another jitter: 0 for none, 1 for anything from 0 to twice the delay.
   *
   * @throws `ConfigurationError` for anything but a number from 0 to 1.
   */
  withJitter(factor: number): RetryPolicy {
    if (typeof factor !== 'number' || !(factor >= 0 && factor <= 1)) {
      throw new ConfigurationError(`jitter must be a number from 0 to 1, not ${shown(factor)}`);
    }
    return new RetryPolicy({ ...settingsOf(this), jitter: factor });
  }

  /**
   * The same, but delays of at least this length wait in the broker; 30 seconds by default. 0 means that none
   * does.
   *
   * @throws `ConfigurationError` for a duration that is negative or none.
   */
  waitInBrokerFrom(threshold: Duration): RetryPolicy {
    return new RetryPolicy({ ...settingsOf(this), threshold: milliseconds(threshold, 'waitInBrokerFrom') });
  }

  /** As one would write it, for example `exponential(6, 10s, 5m).giveUpAfter(2h)`. */
  toString(): string {
    const { maxAttempts, initialDelay, multiplier, maxDelay, jitter, maxAge, threshold } = this;
    const fixedDelay = multiplier === 1 && maxDelay === initialDelay;
    let text: string;
    if (maxAttempts === 1 && initialDelay === 0) text = 'none()';
    else if (fixedDelay) text = `fixed(${maxAttempts}, ${renderDelay(initialDelay)})`;
    else {
      const factor = multiplier === 2 ? '' : `${multiplier}, `;
      text = `exponential(${maxAttempts}, ${renderDelay(initialDelay)}, ${factor}${renderDelay(maxDelay)})`;
    }
    if (maxAge > 0) text += `.giveUpAfter(${renderDelay(maxAge)})`;
    if (jitter !== (fixedDelay ? 0 : EXPONENTIAL_JITTER)) text += `.withJitter(${jitter})`;
    if (threshold !== DEFAULT_BROKER_WAIT_THRESHOLD) text += `.waitInBrokerFrom(${renderDelay(threshold)})`;
    return text;
  }
}
Object.defineProperty(RetryPolicy.prototype, BRAND, { value: true });

function settingsOf(policy: RetryPolicy): Settings {
  const { maxAttempts, initialDelay, multiplier, maxDelay, jitter, maxAge, threshold } = policy;
  return {
    maxAttempts,
    initialDelay,
    multiplier,
    maxDelay,
    jitter,
    maxAge,
    threshold,
    delays: policy.schedule(),
  };
}

const NONE: RetryPolicy = RetryPolicy.fixed(1, 0);

/** One delivery and no retry: the first `retry` dead-letters. What a consumer has that is given no policy. */
export function none(): RetryPolicy {
  return RetryPolicy.none();
}

/**
 * The same delay before every retry, without jitter.
 *
 * @param attempts - Deliveries in all, the first one included; 1 to 10,000.
 * @param delay - Before each retry; at most ten years, which is the broker's own limit.
 * @throws `ConfigurationError`, with the value, for anything else.
 */
export function fixed(attempts: number, delay: Duration): RetryPolicy {
  return RetryPolicy.fixed(attempts, delay);
}

/**
 * A delay that grows from retry to retry up to a ceiling, with a jitter of 0.2.
 *
 * @param attempts - Deliveries in all, the first one included; 1 to 10,000.
 * @param initial - Before the first retry.
 * @param max - The ceiling: at least `initial`, at most ten years, which is the broker's own limit. In the form
 * with four arguments it is the last, and the third says how much each delay grows (at least 1; 2 without
 * it).
 * @throws `ConfigurationError`, with the value, for anything else.
 */
export function exponential(attempts: number, initial: Duration, max: Duration): RetryPolicy;
export function exponential(
  attempts: number,
  initial: Duration,
  multiplier: number,
  max: Duration,
): RetryPolicy;
export function exponential(
  attempts: number,
  initial: Duration,
  third: Duration,
  fourth?: Duration,
): RetryPolicy {
  return fourth === undefined
    ? RetryPolicy.exponential(attempts, initial, third)
    : RetryPolicy.exponential(attempts, initial, third as number, fourth);
}

function checkAttempts(attempts: number): number {
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > MOST_ATTEMPTS) {
    throw new ConfigurationError(
      `attempts must be a whole number from 1 to ${MOST_ATTEMPTS}, not ${shown(attempts)}`,
    );
  }
  return attempts;
}

function checkAttempt(attempt: number): void {
  if (!Number.isInteger(attempt) || attempt < 1) {
    throw new ConfigurationError(`attempt must be a whole number of at least 1, not ${shown(attempt)}`);
  }
}

function checkMultiplier(multiplier: unknown): number {
  if (typeof multiplier !== 'number' || !Number.isFinite(multiplier) || multiplier < 1) {
    throw new ConfigurationError(`multiplier must be a number of at least 1, not ${shown(multiplier)}`);
  }
  return multiplier;
}
