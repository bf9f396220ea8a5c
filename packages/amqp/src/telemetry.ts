import type { DeliveryOutcome, Settlement } from '@acemq/core';
import { OUTCOME_DEAD_LETTERED, OUTCOME_PARKED } from '@acemq/core';
import {
  isNullObserver,
  type Labels,
  METRIC_CONSUME_ATTEMPTS,
  METRIC_CONSUME_DURATION,
  METRIC_CONSUME_IN_FLIGHT,
  METRIC_CONSUME_TOTAL,
  METRIC_DEAD_LETTERED_TOTAL,
  METRIC_PUBLISH_DURATION,
  METRIC_PUBLISH_TOTAL,
  METRIC_RETRIED_TOTAL,
  METRIC_RUNG_MISSING,
  METRIC_SET_ASIDE_FAILED,
  type Observer,
  type PublishOutcome,
  type RetryPlace,
  TAG_EXCHANGE,
  TAG_OUTCOME,
  TAG_QUEUE,
  TAG_ROUTING_KEY,
  TAG_RUNG,
  TAG_TARGET,
  TAG_WHERE,
} from '@acemq/observe';

/** Seconds since some fixed moment, for durations: not moved by a clock that is set. */
export function seconds(): number {
  return performance.now() / 1000;
}

/** How many destinations' labels are kept ready; routing keys may be without number. */
const MOST_DESTINATIONS = 1_000;

type PublishLabels = Partial<Record<PublishOutcome, Labels>>;

/**
 * The publish numbers. The labels of a destination are made once and handed over as the same frozen object
 * each time, so that an observer can recognise them. `active` is false when nobody listens, and then no clock
 * is read.
 */
export class PublishTelemetry {
  readonly active: boolean;
  readonly #observer: Observer;
  readonly #exchanges = new Map<string, Map<string, PublishLabels>>();
  #size = 0;

  constructor(observer: Observer) {
    this.#observer = observer;
    this.active = !isNullObserver(observer);
  }

  published(exchange: string, routingKey: string, outcome: PublishOutcome, started: number): void {
    const labels = this.#labels(exchange, routingKey, outcome);
    this.#observer.observe(METRIC_PUBLISH_DURATION, seconds() - started, labels);
    this.#observer.count(METRIC_PUBLISH_TOTAL, 1, labels);
  }

  #labels(exchange: string, routingKey: string, outcome: PublishOutcome): Labels {
    let keys = this.#exchanges.get(exchange);
    let labels = keys?.get(routingKey);
    if (labels === undefined) {
      if (this.#size >= MOST_DESTINATIONS) {
        this.#exchanges.clear();
        this.#size = 0;
        keys = undefined;
      }
      if (keys === undefined) {
        keys = new Map();
        this.#exchanges.set(exchange, keys);
      }
      labels = {};
      keys.set(routingKey, labels);
      this.#size += 1;
    }
    const known = labels[outcome];
    if (known !== undefined) return known;
    const made = Object.freeze({
      [TAG_EXCHANGE]: exchange,
      [TAG_ROUTING_KEY]: routingKey,
      [TAG_OUTCOME]: outcome,
    });
    labels[outcome] = made;
    return made;
  }
}

/** Messages in flight by queue, summed over the consumers of one connection. */
export class InFlight {
  readonly #counts = new Map<string, number>();

  change(queue: string, by: 1 | -1): number {
    const count = (this.#counts.get(queue) ?? 0) + by;
    this.#counts.set(queue, count);
    return count;
  }
}

/** The consume numbers of one consumer. */
export class ConsumeTelemetry {
  readonly active: boolean;
  readonly #observer: Observer;
  readonly #inFlight: InFlight;
  readonly #queue: string;
  readonly #queueLabels: Labels;
  readonly #outcomeLabels: Partial<Record<DeliveryOutcome, Labels>> = {};

  constructor(observer: Observer, queue: string, inFlight: InFlight) {
    this.#observer = observer;
    this.#queue = queue;
    this.#inFlight = inFlight;
    this.#queueLabels = Object.freeze({ [TAG_QUEUE]: queue });
    this.active = !isNullObserver(observer);
  }

  /** A delivery has come in: before its body is decoded, so that one that cannot be read is counted too. */
  arrived(attempt: number): void {
    if (!this.active) return;
    this.#observer.observe(METRIC_CONSUME_ATTEMPTS, attempt, this.#queueLabels);
    this.#observer.gauge(METRIC_CONSUME_IN_FLIGHT, this.#inFlight.change(this.#queue, 1), this.#queueLabels);
  }

  /** It has been settled, or has gone with its channel. */
  left(): void {
    if (!this.active) return;
    this.#observer.gauge(METRIC_CONSUME_IN_FLIGHT, this.#inFlight.change(this.#queue, -1), this.#queueLabels);
  }

  /** How long interceptors and handler took, told once it is decided what becomes of the message. */
  handled(outcome: DeliveryOutcome, started: number): void {
    if (this.active) {
      this.#observer.observe(METRIC_CONSUME_DURATION, seconds() - started, this.#labels(outcome));
    }
  }

  /**
   * It is decided what becomes of the message, and nothing has been done about it yet. Without `live` the broker
   * has taken the delivery back, so that nothing will be: the message is not set aside, however it was answered.
   */
  settled(settlement: Settlement, live: boolean): void {
    if (!this.active) return;
    this.#observer.count(METRIC_CONSUME_TOTAL, 1, this.#labels(settlement.outcome));
    if (live && settlement.target !== undefined) {
      const outcome = settlement.target === 'parked' ? OUTCOME_PARKED : OUTCOME_DEAD_LETTERED;
      this.#observer.count(METRIC_DEAD_LETTERED_TOTAL, 1, this.#labels(outcome));
    }
  }

  /** A retry is where it is to wait, or is back in its queue. */
  retried(where: RetryPlace): void {
    this.#observer.count(METRIC_RETRIED_TOTAL, 1, { [TAG_QUEUE]: this.#queue, [TAG_WHERE]: where });
  }

  rungMissing(rung: string): void {
    this.#observer.count(METRIC_RUNG_MISSING, 1, { [TAG_QUEUE]: this.#queue, [TAG_RUNG]: rung });
  }

  setAsideFailed(target: string): void {
    this.#observer.count(METRIC_SET_ASIDE_FAILED, 1, { [TAG_QUEUE]: this.#queue, [TAG_TARGET]: target });
  }

  #labels(outcome: DeliveryOutcome): Labels {
    const known = this.#outcomeLabels[outcome];
    if (known !== undefined) return known;
    const made = Object.freeze({ [TAG_QUEUE]: this.#queue, [TAG_OUTCOME]: outcome });
    this.#outcomeLabels[outcome] = made;
    return made;
  }
}
