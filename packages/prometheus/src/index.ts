// The numbers in a registry of prom-client.
export { PrometheusObserver } from './prom-client-observer.ts';
export { DEFAULT_ATTEMPT_BUCKETS, DEFAULT_DURATION_BUCKETS } from '@acemq/observe';
export type { PrometheusObserverOptions } from './observer-options.ts';

// What is asked of a client.
export type {
  CollectorSettings,
  CounterChild,
  GaugeChild,
  HistogramChild,
  LabelledCollector,
  PrometheusClient,
  PrometheusRegistry,
} from './client.ts';
