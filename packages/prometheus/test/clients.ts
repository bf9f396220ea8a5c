import * as prometheusIo from '@prometheus-io/client';
import * as promClient from 'prom-client';
import { PrometheusObserver as OnPromClient, type PrometheusObserverOptions } from '../src/index.ts';
import { PrometheusObserver as OnPrometheusIo } from '../src/prometheus-io.ts';

/** A registry as the tests use it. */
export interface Registry {
  metrics(): Promise<string>;
  clear(): void;
  resetMetrics(): void;
  getSingleMetric(name: string): unknown;
  registerMetric(collector: never): void;
  setContentType(type: never): void;
}

/** One client, and the observer of the entry point that is made for it. */
export interface Client {
  readonly name: string;
  readonly module: Pick<typeof promClient, 'Counter' | 'Gauge' | 'Histogram'>;
  readonly register: Registry;
  registry(): Registry & promClient.Registry;
  observer(options?: PrometheusObserverOptions): OnPromClient | OnPrometheusIo;
}

export const clients: readonly Client[] = [
  {
    name: 'prom-client',
    module: promClient,
    register: promClient.register,
    registry: () => new promClient.Registry(),
    observer: (options) => new OnPromClient(options),
  },
  {
    name: '@prometheus-io/client',
    // The two have the same types, of which neither knows the other.
    module: prometheusIo as unknown as Client['module'],
    register: prometheusIo.register,
    registry: () => new prometheusIo.Registry() as unknown as promClient.Registry,
    observer: (options) => new OnPrometheusIo(options),
  },
];

/** The samples and comments of a body, without what a test does not look at. */
export async function linesOf(registry: Registry, start = ''): Promise<string[]> {
  const body = await registry.metrics();
  return body.split('\n').filter((line) => line !== '' && line.startsWith(start));
}
