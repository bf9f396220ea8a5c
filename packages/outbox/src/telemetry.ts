import {
  isNullObserver,
  type Labels,
  METRIC_OUTBOX_LAG,
  METRIC_OUTBOX_TOTAL,
  type Observer,
  OUTCOME_FAILED,
  OUTCOME_PUBLISHED,
  type OutboxOutcome,
  TAG_EXCHANGE,
  TAG_OUTCOME,
  TAG_ROUTING_KEY,
} from '@acemq/observe';
import type { Destination } from './store.ts';

/** Past it the labels are made anew, since routing keys may hold ids. */
const MOST_DESTINATIONS = 1000;

/** The two numbers of the outbox. */
export class OutboxTelemetry {
  readonly #observer: Observer;
  readonly #active: boolean;
  readonly #labels = new Map<string, Record<OutboxOutcome, Labels>>();

  constructor(observer: Observer) {
    this.#observer = observer;
    this.#active = !isNullObserver(observer);
  }

  /** The broker has taken a record that was written `lag` milliseconds ago. */
  published(destination: Destination, lag: number): void {
    if (!this.#active) return;
    const labels = this.#of(destination)[OUTCOME_PUBLISHED];
    this.#observer.count(METRIC_OUTBOX_TOTAL, 1, labels);
    // A clock that was set back must not make a negative wait.
    this.#observer.observe(METRIC_OUTBOX_LAG, Math.max(0, lag) / 1000, labels);
  }

  /** A publish came to nothing. The record is still owed, or retired. */
  failed(destination: Destination): void {
    if (this.#active) this.#observer.count(METRIC_OUTBOX_TOTAL, 1, this.#of(destination)[OUTCOME_FAILED]);
  }

  #of({ exchange, routingKey }: Destination): Record<OutboxOutcome, Labels> {
    const key = `${exchange}\0${routingKey}`;
    const known = this.#labels.get(key);
    if (known !== undefined) return known;
    if (this.#labels.size >= MOST_DESTINATIONS) this.#labels.clear();
    const labels = (outcome: OutboxOutcome): Labels =>
      Object.freeze({ [TAG_EXCHANGE]: exchange, [TAG_OUTCOME]: outcome, [TAG_ROUTING_KEY]: routingKey });
    const made = {
      [OUTCOME_PUBLISHED]: labels(OUTCOME_PUBLISHED),
      [OUTCOME_FAILED]: labels(OUTCOME_FAILED),
    };
    this.#labels.set(key, made);
    return made;
  }
}
