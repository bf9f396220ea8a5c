/** What of a registry is used. Those of `prom-client` and `@prometheus-io/client` both fit. */
export interface PrometheusRegistry {
  /** The collector of this name, or `undefined`. */
  getSingleMetric(name: string): unknown;
  registerMetric(collector: never): void;
}

/** What a collector is made of. */
export interface CollectorSettings {
  readonly name: string;
  readonly help: string;
  readonly labelNames: string[];
  /** Typed as what fits every client: each asks for registries of its own class. */
  readonly registers: never[];
}

/** Of a counter with its labels. */
export interface CounterChild {
  inc(value: number): void;
}

/** Of a gauge with its labels. */
export interface GaugeChild {
  set(value: number): void;
}

/** Of a histogram with its labels. */
export interface HistogramChild {
  observe(value: number): void;
}

/** A collector of which the parts for one label set are taken. */
export interface LabelledCollector<Child> {
  labels(labels: Record<string, string>): Child;
}

/** What of a client module is used: `prom-client`, `@prometheus-io/client`, or another of their shape. */
export interface PrometheusClient {
  /** Its default registry. */
  readonly register: PrometheusRegistry;
  readonly Counter: new (settings: CollectorSettings) => LabelledCollector<CounterChild>;
  readonly Gauge: new (settings: CollectorSettings) => LabelledCollector<GaugeChild>;
  readonly Histogram: new (
    settings: CollectorSettings & { readonly buckets: number[] },
  ) => LabelledCollector<HistogramChild>;
}
