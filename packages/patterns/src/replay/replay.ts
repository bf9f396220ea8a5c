import type { Connection } from '@acemq/amqp';
import {
  ConfigurationError,
  ConnectionClosedError,
  checkQueueName,
  copyHeaders,
  type Delivery,
  describeError,
  isShortText,
  type RawMessage,
  ReplayError,
  shown,
} from '@acemq/core';
import { flagOption } from '../option-checks.ts';
import type { Letter } from './letter.ts';
import type { QueueKind } from './queue-kind.ts';
import { replayed } from './replay-headers.ts';
import { type ReplayTarget, type ResolvedTarget, targetOf } from './replay-target.ts';
import { countOption, type SiftOptions, siftSettings } from './sift-options.ts';
import { type Choice, Sifting, type SiftReason, type SiftWork, type Taken } from './sifting.ts';

/** What is replayed, and how. */
export interface ReplayOptions extends SiftOptions {
  /**
   * Where to: the name of a queue, or an exchange and a routing key. Default: the queue whose `.dlq` or `.parked` is read,
   * `orders` for `orders.dlq`.
   */
  readonly to?: ReplayTarget | undefined;
  /** Messages a second, above 0; they leave evenly. As fast as it goes by default. */
  readonly rate?: number | undefined;
  /**
   * Copies whose confirm may be awaited at once, 1 to 1,000. Default 10. A process that is killed leaves as many in both
   * queues at most; with 1 they keep their order whatever happens.
   */
  readonly window?: number | undefined;
  /**
   * Whether attempts begin at 1 again and the reason is taken off. Default true; false leaves both as they were found, so
   * that a message out of attempts is dead-lettered by its next failure.
   */
  readonly restart?: boolean | undefined;
  /** Whether to move nothing, and only say what would be moved. Default false. */
  readonly dryRun?: boolean | undefined;
}

/** How a replay went. */
export interface ReplayReport {
  /** Messages that are in the target, and no more in the queue; in a dry run, those that would be. */
  readonly moved: number;
  /** Messages that `only` left out. */
  readonly skipped: number;
  /** Messages that this run had moved, that failed again at once, and are left where they came back to. */
  readonly cameBack: number;
  /** Why it ended. */
  readonly reason: SiftReason;
  /** What kind of queue was read: in a quorum queue what was left there has spent a delivery, and its place. */
  readonly kind: QueueKind;
  readonly dryRun: boolean;
}

/** Milliseconds until a copy that nobody judged is tried again, doubling. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;

const MOST_IN_WINDOW = 1_000;
const DEFAULT_WINDOW = 10;

/**
 * Moves messages out of a `.dlq` or `.parked` back to their queue, or to another. Each is published first, mandatory and
 * confirmed, and then acknowledged, so that none is lost, whenever the process ends; one whose confirm was on its way then is
 * in both. Bodies are never decoded, and identity, correlation and age stay as they are.
 *
 * A message that this run has moved and that comes back meanwhile is left alone, so that it ends although a consumer still
 * fails. While the broker is away or blocks publishing, it waits for as long as the connection is open; `timeout` and `signal`
 * end that.
 *
 * Rejects
 * - with `ReplayError` (`ACEMQ_REPLAY`) when the broker would not take a message at the target: it stops there, and that
 *   message is back in its queue;
 * - with `ConfigurationError` (`ACEMQ_CONFIGURATION`) before anything is read, for a target that is the queue itself, or that
 *   nobody can tell, and for other options that cannot be used;
 * - with `BrokerRefusedError` (404 when the queue is not there), `UnsupportedError` (it is a stream),
 *   `ConnectionClosedError`, and with what `only` threw.
 */
export async function replay(
  mq: Connection,
  queue: string,
  options: ReplayOptions = {},
): Promise<ReplayReport> {
  checkQueueName(queue);
  const settings = {
    ...siftSettings(options, ['to', 'rate', 'window', 'restart', 'dryRun'], 'replay'),
    rate: rateOption(options.rate),
    window: countOption(options.window ?? DEFAULT_WINDOW, 'window', MOST_IN_WINDOW),
  };
  const dryRun = flagOption(options.dryRun, 'dryRun', false);
  const work = new Replaying({
    mq,
    queue,
    target: targetOf(queue, options.to),
    restart: flagOption(options.restart, 'restart', true),
    dryRun,
    only: settings.only,
  });
  const sifting = new Sifting(mq, queue, dryRun ? { ...settings, rate: undefined } : settings, work);
  const { taken, skipped, cameBack, reason, kind } = await sifting.run();
  return Object.freeze({ moved: taken, skipped, cameBack, reason, kind, dryRun });
}

interface ReplayingParts {
  readonly mq: Connection;
  readonly queue: string;
  readonly target: ResolvedTarget;
  readonly restart: boolean;
  readonly dryRun: boolean;
  readonly only: (letter: Letter) => boolean | Promise<boolean>;
}

class Replaying implements SiftWork {
  readonly #parts: ReplayingParts;
  readonly #began: number;
  /** Ids of what is in the target, and could not be acknowledged because the link was lost. */
  readonly #unacknowledged = new Set<string>();

  constructor(parts: ReplayingParts) {
    this.#parts = parts;
    this.#began = parts.mq.clock.now();
  }

  async choose(letter: Letter): Promise<Choice> {
    const { queue, only } = this.#parts;
    const { from, at = Number.NEGATIVE_INFINITY } = letter.replayed;
    if (from === queue && at >= this.#began) return 'back';
    return (await only(letter)) ? 'take' : 'skip';
  }

  take(letter: Letter, delivery: Delivery, isOurs: () => boolean, walk: Sifting): Taken | Promise<Taken> {
    if (this.#parts.dryRun) return 'held';
    const { id } = letter.envelope;
    if (letter.redelivered && this.#unacknowledged.delete(id)) return this.#acknowledge(delivery, id);
    return this.#move(letter, delivery, isOurs, walk);
  }

  async #move(letter: Letter, delivery: Delivery, isOurs: () => boolean, walk: Sifting): Promise<Taken> {
    const { mq, queue, target, restart } = this.#parts;
    const { id } = letter.envelope;
    const routingKey = target.routingKey ?? letter.routingKey;
    const envelope = replayed(letter.envelope, queue, mq.clock.now(), restart);
    const message: RawMessage = {
      body: delivery.body,
      contentType: delivery.contentType,
      // An id that is too long for the property stays in its header, and the property gets one of its own.
      messageId: delivery.messageId ?? (isShortText(id) ? id : undefined),
      replyTo: delivery.replyTo,
      headers: copyHeaders(envelope),
      timestamp: delivery.timestamp,
    };
    for (let wait = FIRST_PAUSE; ; wait = Math.min(wait * 2, LONGEST_PAUSE)) {
      const { verdict, judged, error } = await mq.publishRaw(target.exchange, routingKey, message);
      if (verdict === 'confirmed') return this.#acknowledge(delivery, id);
      if (judged) throw this.#failure(id, routingKey, error, walk.gone);
      if (error instanceof ConnectionClosedError) throw error;
      // Its original is in the queue again, and is read again.
      if (!isOurs()) return 'returned';
      if (walk.isEnding) {
        delivery.nack(true);
        return 'returned';
      }
      walk.waiting = describeError(error);
      await walk.pause(wait);
      walk.waiting = undefined;
      if (!isOurs()) return 'returned';
    }
  }

  #acknowledge(delivery: Delivery, id: string): Taken {
    if (delivery.ack()) return 'gone';
    this.#unacknowledged.add(id);
    return 'returned';
  }

  #failure(id: string, routingKey: string, error: Error | undefined, moved: number): ReplayError {
    const { queue, target } = this.#parts;
    const where =
      target.exchange === ''
        ? `queue ${shown(routingKey)}`
        : `exchange ${shown(target.exchange)} with key ${shown(routingKey)}`;
    return new ReplayError(
      `the replay of ${shown(queue)} stopped: message ${shown(id)} was not taken by ${where}: ${describeError(error)}`,
      { cause: error, moved, messageId: id },
    );
  }
}

function rateOption(rate: number | undefined): number | undefined {
  if (rate === undefined) return undefined;
  if (typeof rate === 'number' && rate > 0 && Number.isFinite(rate)) return rate;
  throw new ConfigurationError(`rate must be a number of messages a second above 0, and is ${shown(rate)}`);
}
