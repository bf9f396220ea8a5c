// The numbers in a registry of @prometheus-io/client.

export { DEFAULT_ATTEMPT_BUCKETS, DEFAULT_DURATION_BUCKETS } from '@acemq/observe';
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
export type { PrometheusObserverOptions } from './observer-options.ts';
export { PrometheusObserver } from './prometheus-io-observer.ts';
