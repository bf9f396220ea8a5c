import {
  type Clock,
  copyHeaders,
  cutText,
  deadLetterQueueName,
  type Envelope,
  envelopeHeaders,
  essentialHeaders,
  type HeaderTable,
  isShortText,
  type Logger,
  OUTCOME_IN_PROGRESS,
  type Outbound,
  parkedQueueName,
  type RetryLadder,
  type RetryPolicy,
  randomId,
  renderDelay,
  type Settlement,
} from '@acemq/core';
import { WHERE_BROKER, WHERE_CONSUMER, WHERE_REQUEUED } from '@acemq/observe';
import { type Backoff, backoffCeiling } from '../link/backoff.ts';
import { Copy, type CopyAnswer } from '../publishing/copy.ts';
import type { PublishFailure } from '../publishing/pending.ts';
import type { PublishLink } from '../publishing/publish-link.ts';
import type { ConsumeTelemetry } from '../telemetry.ts';
import type { DeliveryRun } from './delivery-run.ts';

/**
 * The longest a delivery waits in this process: the broker ends one that is unacknowledged for 30 minutes.
 */
export const LONGEST_WAIT_HERE: number = 15 * 60_000;

/** How much of an id a log line has, in characters. */
const LONGEST_LOGGED = 80;

/** How a copy that got no verdict is tried again. */
const HELD_BACKOFF: Backoff = { initial: 1_000, max: 30_000 };

/** A nack carries no words. */
const NACKED = 'the broker answered with a nack';

/** What a {@link Settler} is made with. */
export interface SettlerOptions {
  readonly queue: string;
  readonly ladder: RetryLadder;
  readonly policy: RetryPolicy;
  readonly publishing: PublishLink;
  readonly telemetry: ConsumeTelemetry;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
}

/**
 * Carries out what was decided about a delivery: acknowledge it, or put a copy of it elsewhere and then
 * acknowledge it.
 *
 * The original is acknowledged only after the broker confirmed a copy. Where the broker judged the copy and
 * would not have it, the next place is tried; where it said nothing (blocked, down, no confirm in time) the
 * delivery is *held*: unsettled, in its prefetch slot, its handler not run again, until the copy can be
 * placed. Giving it back to the queue instead would run the handler again, and spend the delivery limit of a
 * quorum queue that has one, after which the broker drops the message.
 *
 * A set-aside is held after a nack too: its queue is there and full, and the broker, dead-lettering the
 * message into the same queue by itself, would drop it without a word.
 */
export class Settler {
  readonly #options: SettlerOptions;
  #held = 0;
  /** Copies that are being published for the first time. */
  #placing = 0;

  constructor(options: SettlerOptions) {
    this.#options = options;
  }

  /** Deliveries whose copy cannot be placed at present. */
  get held(): number {
    // A copy that was written into an alarm lies in the socket, however long the alarm lasts.
    return this.#held + (this.#options.publishing.ready ? 0 : this.#placing);
  }

  /**
   * Never rejects. Resolves when the delivery is settled, or has gone back to the broker, or was given up at
   * close.
   */
  async carryOut(run: DeliveryRun, settlement: Settlement): Promise<void> {
    if (settlement.target !== undefined) await this.#setAside(run, settlement.target);
    else if (settlement.inBroker) await this.#retryInBroker(run, settlement.delay ?? 0);
    else await this.#retryHere(run, settlement);
  }

  async #setAside(run: DeliveryRun, target: 'dlq' | 'parked'): Promise<void> {
    const { queue, telemetry, logger } = this.#options;
    const place = target === 'parked' ? parkedQueueName(queue) : deadLetterQueueName(queue);
    let failed = false;
    const fail = (words: string, reason: string): void => {
      if (!failed) telemetry.setAsideFailed(place);
      failed = true;
      logger.error(words, { queue, target: place, id: run.envelope.id, reason });
    };
    const placed = await this.#place(run, place, (reason) => {
      if (!failed) fail('a message could not be set aside; it is held until there is room for it', reason);
    });
    if (placed === undefined) return;
    if (placed.verdict === 'confirmed') {
      run.ack();
      return;
    }
    fail(
      'a message could not be set aside; it is rejected to the dead-letter exchange of its queue, and dropped if it has none',
      placed.reason,
    );
    run.nack(false);
  }

  async #retryInBroker(run: DeliveryRun, delay: number): Promise<void> {
    const { ladder, telemetry, logger, queue } = this.#options;
    const rung = ladder.rungFor(delay);
    if (rung !== undefined) {
      const placed = await this.#place(run, rung);
      if (placed === undefined) return;
      if (placed.verdict === 'confirmed') {
        run.ack();
        telemetry.retried(WHERE_BROKER);
        return;
      }
      telemetry.rungMissing(rung);
      const wait = Math.min(delay, LONGEST_WAIT_HERE);
      logger.error(
        'a retry found no rung queue, so the message waits in this process, where a restart cuts the wait short; ' +
          `declare it with topology().queue(${JSON.stringify(queue)}, { retry: policy })`,
        {
          queue,
          rung,
          id: run.envelope.id,
          reason: placed.reason,
          wait: renderDelay(wait),
          ...(wait < delay ? { insteadOf: renderDelay(delay) } : {}),
        },
      );
    }
    if (await run.waitHere(Math.min(delay, LONGEST_WAIT_HERE))) await this.#sendHome(run, true);
  }

  async #retryHere(run: DeliveryRun, settlement: Settlement): Promise<void> {
    const delay = settlement.delay ?? 0;
    if (delay > 0 && !(await run.waitHere(delay))) return;
    await this.#sendHome(run, settlement.outcome !== OUTCOME_IN_PROGRESS);
  }

  /** Back to the end of the queue it came from, under the attempt that its envelope now says. */
  async #sendHome(run: DeliveryRun, counted: boolean): Promise<void> {
    const { queue, telemetry, logger } = this.#options;
    const placed = await this.#place(run, queue);
    if (placed === undefined) return;
    if (placed.verdict === 'confirmed') {
      run.ack();
      if (counted) telemetry.retried(WHERE_CONSUMER);
      return;
    }
    logger.warn('a retry could not be published to its own queue; the delivery is given back as it came', {
      queue,
      id: run.envelope.id,
      reason: placed.reason,
    });
    run.nack(true);
    if (counted) telemetry.retried(WHERE_REQUEUED);
  }

  /**
   * The broker's verdict about a copy, however long that takes; undefined when the delivery is no longer
   * ours. With `nacked` a nack is none: it is called, and the copy tried again.
   */
  async #place(
    run: DeliveryRun,
    queue: string,
    nacked?: (reason: string) => void,
  ): Promise<Judged | undefined> {
    const { publishing, logger, clock, random } = this.#options;
    let message = copyOf(run, copyHeaders(run.envelope));
    const lesser = [envelopeHeaders, essentialHeaders];
    let held = false;
    const hold = (answer: CopyAnswer): void => {
      if (held) return;
      held = true;
      this.#held += 1;
      logger.warn('a message is held: its copy cannot be placed at present', {
        queue,
        id: run.envelope.id,
        reason: describe(answer),
      });
    };
    try {
      for (let attempt = 1; ; attempt += 1) {
        if (!run.live) return undefined;
        const answer = await this.#publish(queue, message, hold);
        if (answer.verdict !== undefined) {
          if (answer.verdict !== 'nacked' || nacked === undefined) return answer;
          nacked(describe(answer));
        } else if (answer.failure.kind === 'unwritable') {
          const fewer = lesser.shift();
          const reason = answer.failure.error.message;
          if (fewer === undefined) return { verdict: 'nacked', reason };
          message = copyOf(run, fewer(run.envelope));
          logger.warn('the headers of a message cannot be written; its copy leaves some of them out', {
            queue,
            id: cutText(run.envelope.id, LONGEST_LOGGED),
            reason,
          });
          continue;
        }
        hold(answer);
        if (publishing.ready) {
          const ceiling = backoffCeiling(HELD_BACKOFF, attempt);
          await run.interruptible((wake) => clock.after(ceiling * (0.5 + random() / 2), wake));
        }
        if (run.live && !publishing.ready) await run.interruptible((wake) => publishing.whenReady(wake));
      }
    } finally {
      if (held) this.#held -= 1;
    }
  }

  #publish(queue: string, message: Outbound, hold: (answer: CopyAnswer) => void): Promise<CopyAnswer> {
    const delayed = (failure: PublishFailure): void => hold({ verdict: undefined, failure });
    return new Promise((resolve) => {
      this.#options.publishing.publish(new Copy(queue, message, resolve, delayed));
    });
  }
}

type Judged = Extract<CopyAnswer, { readonly verdict: string }>;

function copyOf(run: DeliveryRun, headers: HeaderTable): Outbound {
  const { delivery } = run;
  return {
    body: delivery.body,
    contentType: delivery.contentType,
    // A foreign sender may have put more into the header than the property holds; the header still carries it.
    messageId: isShortText(run.envelope.id) ? run.envelope.id : randomId(),
    replyTo: delivery.replyTo,
    headers,
    persistent: true,
    mandatory: true,
    timestamp: delivery.timestamp ?? secondsOf(run.envelope),
  };
}

function secondsOf(envelope: Envelope): number {
  return Math.floor(envelope.firstSeen / 1000);
}

function describe(answer: CopyAnswer): string {
  if (answer.verdict !== undefined) return answer.reason === '' ? NACKED : answer.reason;
  const { failure } = answer;
  switch (failure.kind) {
    case 'paused':
      return `the broker has blocked the connection: ${failure.reason}`;
    case 'stalled':
    case 'timeout':
      return failure.reason;
    case 'cut':
    case 'unwritable':
      return failure.error.message;
    case 'aborted':
    case 'closed':
      return 'the connection is closing';
  }
}
