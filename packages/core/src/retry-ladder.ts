import { DEFAULT_BROKER_WAIT_THRESHOLD, LONGEST_DELAY, waitsInBroker } from './broker-wait.ts';
import { type Duration, milliseconds } from './duration.ts';
import { ConfigurationError } from './errors.ts';
import type { HeaderTable } from './headers.ts';
import { CLASSIC_DURABLE, MANAGED_EXCHANGE } from './managed-topology.ts';
import {
  checkQueueName,
  DEAD_LETTER_EXCHANGE,
  deadLetterQueueName,
  parkedQueueName,
  RETRY_EXCHANGE,
  retryQueueName,
} from './naming.ts';
import { checkOptions } from './options.ts';
import { RetryPolicy } from './retry-policy.ts';
import { shown } from './shown.ts';
import type { DeclareTarget } from './transport.ts';

/** One queue of a {@link RetryLadder}: messages wait in it for one delay. Frozen. */
export class Rung {
  /** Whole milliseconds; its queue's time-to-live. */
  readonly delay: number;
  /** Its queue. */
  readonly queue: string;
  /** The three arguments that its queue is declared with. */
  readonly arguments: Readonly<HeaderTable>;

  constructor(delay: number, queue: string, args: Readonly<HeaderTable>) {
    this.delay = delay;
    this.queue = queue;
    this.arguments = args;
    Object.freeze(this);
  }

  /** Its queue's name, which ends with the delay. */
  toString(): string {
    return this.queue;
  }
}

/** How {@link RetryLadder.for} makes a ladder. */
export interface RetryLadderOptions {
  /**
   * From which delay on a message waits in the broker; 0 for never. The policy's own by default. Another one
   * is for a ladder that no consumer uses: a consumer asks its policy, and would miss the rungs.
   */
  readonly threshold?: Duration | undefined;
}

/**
 * The queues in which the long retries of one queue wait, so that the wait is the broker's: a consumer that
 * held the message instead would get it back at once after a restart, and a wait of five minutes would be
 * none.
 *
 * A rung is a queue whose time-to-live is the delay and whose dead-letter target is the queue that the
 * message came from, through `acemq.retry`, which that queue is bound to by its own name. Nothing consumes a
 * rung. The rungs are those delays of the policy's schedule that reach the threshold; shorter ones are waited
 * out in the consumer. Frozen.
 */
export class RetryLadder {
  /**
   * Milliseconds from which on a delay waits in the broker, where a policy does not say otherwise: 30
   * seconds.
   */
  static readonly DEFAULT_THRESHOLD: number = DEFAULT_BROKER_WAIT_THRESHOLD;

  /** The queue that is consumed. */
  readonly source: string;
  /** Milliseconds from which on a delay waits in the broker; 0 for never. */
  readonly threshold: number;
  /** One for each delay that waits in the broker, in the order of the schedule. */
  readonly rungs: readonly Rung[];
  /** The names of the rungs' queues, in the order of the schedule. */
  readonly queues: readonly string[];
  /** Whether every wait is the consumer's. */
  readonly isEmpty: boolean;

  private constructor(source: string, threshold: number, rungs: readonly Rung[]) {
    this.source = source;
    this.threshold = threshold;
    this.rungs = Object.freeze(rungs);
    this.queues = Object.freeze(rungs.map((rung) => rung.queue));
    this.isEmpty = rungs.length === 0;
    Object.freeze(this);
  }

  /**
   * The ladder that a queue needs for a policy. Touches no broker.
   *
   * @throws `ConfigurationError` for a blank queue, a threshold that is no duration, or a queue whose derived
   * names would pass 255 bytes.
   */
  static for(source: string, policy: RetryPolicy, options: RetryLadderOptions = {}): RetryLadder {
    checkQueueName(source);
    checkOptions(options, ['threshold'], 'RetryLadder.for');
    if (!(policy instanceof RetryPolicy)) {
      throw new ConfigurationError(`the policy of a ladder must be a RetryPolicy, and is ${shown(policy)}`);
    }
    deadLetterQueueName(source);
    parkedQueueName(source);
    const threshold =
      options.threshold === undefined ? policy.threshold : milliseconds(options.threshold, 'threshold');
    const rungs = new Map<string, Rung>();
    for (const delay of policy.schedule()) {
      if (!waitsInBroker(delay, threshold)) continue;
      // By name: a second queue of the same name with another time-to-live would be refused by the broker.
      const queue = retryQueueName(source, delay);
      if (!rungs.has(queue))
        rungs.set(queue, new Rung(delay, queue, RetryLadder.argumentsFor(source, delay)));
    }
    return new RetryLadder(source, threshold, [...rungs.values()]);
  }

  /**
   * The arguments of a rung: `x-message-ttl`, `x-dead-letter-exchange` and `x-dead-letter-routing-key`, and
   * no other. They are the same in every language of the family: services that share a queue declare the same
   * rungs, and one argument more or less makes the broker refuse the second of them.
   *
   * @throws `ConfigurationError` for a blank source or a delay that the broker cannot time.
   */
  static argumentsFor(source: string, delay: Duration): Readonly<HeaderTable> {
    return Object.freeze({
      'x-message-ttl': milliseconds(delay, 'delay', { max: LONGEST_DELAY }),
      'x-dead-letter-exchange': RETRY_EXCHANGE,
      'x-dead-letter-routing-key': checkQueueName(source),
    });
  }

  /**
   * Whether a delay is for a rung. Not with a threshold of 0, which turns rungs off; not for a delay of 0 or
   * less, which has nothing to wait for; and not for one below the threshold.
   */
  static waitsInBroker(delay: Duration, threshold: Duration): boolean {
    return waitsInBroker(length(delay, 'delay'), length(threshold, 'threshold'));
  }

  /**
   * The queue of the rung that a delay waits in, or `undefined` when it is the consumer's to wait. A delay
   * between two rungs takes the longer one, since early is worse than late; one beyond them all takes the
   * longest.
   */
  rungFor(delay: Duration): string | undefined {
    const ms = length(delay, 'delay');
    if (!waitsInBroker(ms, this.threshold)) return undefined;
    let fitting: Rung | undefined;
    let longest: Rung | undefined;
    for (const rung of this.rungs) {
      if (rung.delay >= ms && (fitting === undefined || rung.delay < fitting.delay)) fitting = rung;
      if (longest === undefined || rung.delay > longest.delay) longest = rung;
    }
    return (fitting ?? longest)?.queue;
  }

  /**
   * Declares all places where a message of this queue may wait or end: if there are rungs, `acemq.retry`, the
   * rungs, and the binding that brings every expired message home; then, always, what {@link
   * declareDeadLetters} declares. In that order, one after the other, stopping at the first that the target
   * refuses. The source queue is its owner's and is not declared; the home binding needs it to exist.
   *
   * @returns This ladder, when all is declared. Rejects with what the target rejected with.
   */
  async declare(target: DeclareTarget): Promise<RetryLadder> {
    if (!this.isEmpty) await declareRungs(this, target);
    return this.declareDeadLetters(target);
  }

  /**
   * Declares `acemq.dlx`, then `{source}.dlq` with its binding, then `{source}.parked` with its own. Also for
   * a queue without rungs: a policy without retries is the one that dead-letters soonest, and the broker
   * drops without a word what is published to a queue that is not there.
   *
   * @returns This ladder, when all is declared. Rejects with what the target rejected with.
   */
  async declareDeadLetters(target: DeclareTarget): Promise<RetryLadder> {
    await target.declareExchange(DEAD_LETTER_EXCHANGE, MANAGED_EXCHANGE);
    for (const queue of [deadLetterQueueName(this.source), parkedQueueName(this.source)]) {
      await target.declareQueue(queue, CLASSIC_DURABLE);
      await target.bind(queue, DEAD_LETTER_EXCHANGE, queue);
    }
    return this;
  }

  /** `no retry rungs for orders`, or `retry rungs for orders: orders.retry.40s, orders.retry.80s`. */
  toString(): string {
    return this.isEmpty
      ? `no retry rungs for ${this.source}`
      : `retry rungs for ${this.source}: ${this.rungs.join(', ')}`;
  }
}

/** A question about a number is answered for any number; only text has to be a duration. */
function length(duration: Duration, option: string): number {
  return typeof duration === 'number' ? duration : milliseconds(duration, option);
}

async function declareRungs(ladder: RetryLadder, target: DeclareTarget): Promise<void> {
  await target.declareExchange(RETRY_EXCHANGE, MANAGED_EXCHANGE);
  for (const rung of ladder.rungs) {
    await target.declareQueue(rung.queue, { ...CLASSIC_DURABLE, arguments: rung.arguments });
  }
  // Without it an expired message is dropped, and nothing says so.
  await target.bind(ladder.source, RETRY_EXCHANGE, ladder.source);
}
