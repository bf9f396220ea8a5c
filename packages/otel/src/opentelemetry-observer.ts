import { ConfigurationError, checkOptions, shown } from '@acemq/core';
import {
  BACKLOG_METRICS,
  DEFAULT_ATTEMPT_BUCKETS,
  DEFAULT_DURATION_BUCKETS,
  type Labels,
  METRICS,
  type MetricDefinition,
  type Observer,
} from '@acemq/observe';
import {
  type Counter,
  type Gauge,
  type Histogram,
  type Meter,
  type MeterProvider,
  type MetricOptions,
  metrics,
} from '@opentelemetry/api';
import { INSTRUMENTATION_NAME } from './names.ts';
import { quietly } from './quietly.ts';
import { VERSION } from './version.ts';

/** What an `OpenTelemetryObserver` may be given. */
export interface OpenTelemetryObserverOptions {
  /** Where the numbers go; the global provider, as it is at the first number, by default. */
  readonly meterProvider?: MeterProvider;
}

const DEFINITIONS: ReadonlyMap<string, MetricDefinition> = new Map(
  [...METRICS, ...BACKLOG_METRICS].map((one) => [one.name, one]),
);

/**
 * Writes the numbers through the OpenTelemetry metrics API, under their own names: durations in `s`, attempts in
 * `{attempt}`, each with its buckets as advice. Nothing that a meter throws reaches the caller.
 *
 * The metrics API does not wait for a provider as the tracing API does: register the SDK before the first message.
 */
export class OpenTelemetryObserver implements Observer {
  readonly #provider: MeterProvider | undefined;
  readonly #counters = new Map<string, Counter>();
  readonly #gauges = new Map<string, Gauge>();
  readonly #histograms = new Map<string, Histogram>();
  #meter: Meter | undefined;

  /** @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for an option that is unknown or cannot be used. */
  constructor(options: OpenTelemetryObserverOptions = {}) {
    checkOptions(options, ['meterProvider'], 'OpenTelemetryObserver');
    const { meterProvider } = options;
    if (meterProvider !== undefined && typeof meterProvider?.getMeter !== 'function') {
      throw new ConfigurationError(
        `meterProvider must have a method getMeter, and ${shown(meterProvider)} has none`,
      );
    }
    this.#provider = meterProvider;
  }

  count(metric: string, delta: number, labels: Labels): void {
    quietly(() => this.#counter(metric).add(delta, labels));
  }

  gauge(metric: string, value: number, labels: Labels): void {
    quietly(() => this.#gauge(metric).record(value, labels));
  }

  observe(metric: string, value: number, labels: Labels): void {
    quietly(() => this.#histogram(metric).record(value, labels));
  }

  #counter(metric: string): Counter {
    return (
      this.#counters.get(metric) ??
      kept(this.#counters, metric, this.#on().createCounter(metric, about(metric)))
    );
  }

  #gauge(metric: string): Gauge {
    return (
      this.#gauges.get(metric) ?? kept(this.#gauges, metric, this.#on().createGauge(metric, about(metric)))
    );
  }

  #histogram(metric: string): Histogram {
    return (
      this.#histograms.get(metric) ??
      kept(this.#histograms, metric, this.#on().createHistogram(metric, measured(metric)))
    );
  }

  #on(): Meter {
    this.#meter ??= (this.#provider ?? metrics).getMeter(INSTRUMENTATION_NAME, VERSION);
    return this.#meter;
  }
}

function kept<T>(instruments: Map<string, T>, metric: string, made: T): T {
  instruments.set(metric, made);
  return made;
}

function about(metric: string): MetricOptions {
  const help = DEFINITIONS.get(metric)?.help;
  return help === undefined ? {} : { description: help };
}

function measured(metric: string): MetricOptions {
  const attempts = DEFINITIONS.get(metric)?.unit === 'attempts';
  const buckets = attempts ? DEFAULT_ATTEMPT_BUCKETS : DEFAULT_DURATION_BUCKETS;
  return {
    ...about(metric),
    unit: attempts ? '{attempt}' : 's',
    advice: { explicitBucketBoundaries: [...buckets] },
  };
}
