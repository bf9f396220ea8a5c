import { METRICS, type Observer } from '@acemq/observe';

/** Gives every metric of the library two label sets, each with a sample. */
export function writeEveryMetric(observer: Observer): void {
  for (const { name, kind, labels } of METRICS) {
    for (const value of ['shipping.orders', 'a "b" \\ c']) {
      const given = Object.fromEntries(labels.map((label) => [label, value]));
      if (kind === 'counter') observer.count(name, 1, given);
      else if (kind === 'gauge') observer.gauge(name, 1, given);
      else observer.observe(name, 0.3, given);
    }
  }
}
