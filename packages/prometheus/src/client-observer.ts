import { checkDelta, checkGauge, checkSample, type Labels, type Observer } from '@acemq/observe';
import type { PrometheusClient } from './client.ts';
import { checkShared } from './collectors.ts';
import { catalogueMetrics } from './exposed-metric.ts';
import { Families, NamesInUse } from './families.ts';
import { type PrometheusObserverOptions, readOptions } from './observer-options.ts';

/** Writes to the collectors of a Prometheus client; which client that is, its two heirs know. */
export abstract class ClientObserver implements Observer {
  readonly #counters: Families<'counter'>;
  readonly #gauges: Families<'gauge'>;
  readonly #histograms: Families<'distribution'>;

  constructor(options: PrometheusObserverOptions, installedClient: () => PrometheusClient) {
    const settings = readOptions(options, installedClient);
    for (const exposed of catalogueMetrics(settings)) {
      const registered = settings.registry.getSingleMetric(exposed.name);
      if (registered !== undefined) checkShared(exposed, registered);
    }
    const names = new NamesInUse();
    this.#counters = new Families('counter', settings, names);
    this.#gauges = new Families('gauge', settings, names);
    this.#histograms = new Families('distribution', settings, names);
  }

  /**
   * Adds `delta` to a counter.
   *
   * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when `delta` is negative or not finite, when the labels are not
   * those of the metric, or when the registry has something else under its name. A connection logs it, once per
   * metric.
   */
  count(metric: string, delta: number, labels: Labels): void {
    checkDelta(metric, delta);
    this.#counters.child(metric, labels)?.inc(delta);
  }

  /**
   * Adds one sample to a histogram.
   *
   * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when `value` is not finite, and as {@link count} does.
   */
  observe(metric: string, value: number, labels: Labels): void {
    checkSample(metric, value);
    this.#histograms.child(metric, labels)?.observe(value);
  }

  /**
   * Sets a gauge. `NaN` says that the number is not known at the moment.
   *
   * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when `value` is infinite or no number, and as {@link count} does.
   */
  gauge(metric: string, value: number, labels: Labels): void {
    checkGauge(metric, value);
    this.#gauges.child(metric, labels)?.set(value);
  }
}
