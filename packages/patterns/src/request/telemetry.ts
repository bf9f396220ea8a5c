import type { Clock } from '@acemq/core';
import {
  isNullObserver,
  type Labels,
  METRIC_REQUEST_DURATION,
  METRIC_REQUEST_TOTAL,
  type Observer,
  OUTCOME_ANSWERED,
  OUTCOME_FAILED,
  OUTCOME_TIMED_OUT,
  type RequestOutcome,
  TAG_OUTCOME,
  TAG_ROUTING_KEY,
} from '@acemq/observe';

/** Past it the labels are made anew, since routing keys may hold ids. */
const MOST_ROUTING_KEYS = 1000;

/** The two numbers of requests. Nothing is read or made for an observer that is not there. */
export class RequestTelemetry {
  readonly #observer: Observer;
  readonly #clock: Clock;
  readonly #active: boolean;
  readonly #labels = new Map<string, Record<RequestOutcome, Labels>>();

  constructor(observer: Observer, clock: Clock) {
    this.#observer = observer;
    this.#clock = clock;
    this.#active = !isNullObserver(observer);
  }

  /** @param started - The clock's elapsed time before the request was published. */
  ended(routingKey: string, outcome: RequestOutcome, started: number): void {
    if (!this.#active) return;
    const labels = this.#of(routingKey)[outcome];
    this.#observer.observe(METRIC_REQUEST_DURATION, (this.#clock.elapsed() - started) / 1000, labels);
    this.#observer.count(METRIC_REQUEST_TOTAL, 1, labels);
  }

  #of(routingKey: string): Record<RequestOutcome, Labels> {
    const known = this.#labels.get(routingKey);
    if (known !== undefined) return known;
    if (this.#labels.size >= MOST_ROUTING_KEYS) this.#labels.clear();
    const labels = (outcome: RequestOutcome): Labels =>
      Object.freeze({ [TAG_OUTCOME]: outcome, [TAG_ROUTING_KEY]: routingKey });
    const made = {
      [OUTCOME_ANSWERED]: labels(OUTCOME_ANSWERED),
      [OUTCOME_FAILED]: labels(OUTCOME_FAILED),
      [OUTCOME_TIMED_OUT]: labels(OUTCOME_TIMED_OUT),
    };
    this.#labels.set(routingKey, made);
    return made;
  }
}
