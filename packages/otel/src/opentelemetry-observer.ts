import { ConfigurationError, checkOptions, shown } from '@acemq/core';
import {
  BACKLOG_METRICS,
  checkDelta,
  checkGauge,
  checkSample,
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
  /** Where the numbers go; the global provider, as it is at each number, by default. */
  readonly meterProvider?: MeterProvider;
}

const DEFINITIONS: ReadonlyMap<string, MetricDefinition> = new Map(
  [...METRICS, ...BACKLOG_METRICS].map((one) => [one.name, one]),
);

/**
 * Writes the numbers through the OpenTelemetry metrics API, under their own names: durations in `s`, attempts in
 * `{attempt}`, each with its buckets as advice. Nothing that a meter throws reaches the caller.
 *
 * The global provider is asked for at each number, so that an SDK may be registered later; the numbers before that are lost.
 */
export class OpenTelemetryObserver implements Observer {
  readonly #provider: MeterProvider | undefined;
  /** Whose instruments are kept; another provider may be registered at any time. */
  #asked: MeterProvider | undefined;
  #instruments: Instruments | undefined;

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

  /** @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) when `delta` is negative or no finite number. */
  count(metric: string, delta: number, labels: Labels): void {
    checkDelta(metric, delta);
    quietly(() => this.#current().counter(metric).add(delta, labels));
  }

  /** @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) when `value` is infinite or no number. `NaN` says that nobody knows. */
  gauge(metric: string, value: number, labels: Labels): void {
    checkGauge(metric, value);
    quietly(() => this.#current().gauge(metric).record(value, labels));
  }

  /** @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) when `value` is no finite number. */
  observe(metric: string, value: number, labels: Labels): void {
    checkSample(metric, value);
    quietly(() => this.#current().histogram(metric).record(value, labels));
  }

  #current(): Instruments {
    const provider = this.#provider ?? metrics.getMeterProvider();
    if (this.#instruments === undefined || provider !== this.#asked) {
      this.#instruments = new Instruments(provider.getMeter(INSTRUMENTATION_NAME, VERSION));
      this.#asked = provider;
    }
    return this.#instruments;
  }
}

/** The instruments of one provider, each made for its first number. */
class Instruments {
  readonly #meter: Meter;
  readonly #counters = new Map<string, Counter>();
  readonly #gauges = new Map<string, Gauge>();
  readonly #histograms = new Map<string, Histogram>();

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  counter(metric: string): Counter {
    return (
      this.#counters.get(metric) ??
      kept(this.#counters, metric, this.#meter.createCounter(metric, about(metric)))
    );
  }

  gauge(metric: string): Gauge {
    return (
      this.#gauges.get(metric) ?? kept(this.#gauges, metric, this.#meter.createGauge(metric, about(metric)))
    );
  }

  histogram(metric: string): Histogram {
    return (
      this.#histograms.get(metric) ??
      kept(this.#histograms, metric, this.#meter.createHistogram(metric, measured(metric)))
    );
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
