import { OUTCOME_IN_PROGRESS, OUTCOME_RETRIED } from '@acemq/core';
import { type Labels, METRIC_CONSUME_TOTAL, type Observer, TAG_OUTCOME } from '@acemq/observe';

const COMES_AGAIN: readonly (string | undefined)[] = [OUTCOME_RETRIED, OUTCOME_IN_PROGRESS];

/** An observer of one's own: counts the deliveries after which a message does not come again. */
export class Endings implements Observer {
  total = 0;

  count(metric: string, delta: number, labels: Labels): void {
    if (metric === METRIC_CONSUME_TOTAL && !COMES_AGAIN.includes(labels[TAG_OUTCOME])) this.total += delta;
  }

  observe(): void {}

  gauge(): void {}
}
