import {
  ConfigurationError,
  checkOptions,
  type HttpHandler,
  httpHandler,
  type Logger,
  shown,
} from '@acemq/core';
import type { Metrics } from './metrics.ts';
import { PROMETHEUS_CONTENT_TYPE, prometheusText } from './prometheus-text.ts';

/** Options of {@link metricsHandler}. */
export interface MetricsHandlerOptions {
  /** Gets one line when the numbers cannot be read. `console` by default. */
  readonly logger?: Pick<Logger, 'error'> | undefined;
}

/**
 * Serves {@link prometheusText} to a scrape, with `text/plain; version=0.0.4; charset=utf-8` as its content type. It is both
 * a listener of `node:http` (`createServer(handler)`, `app.get('/metrics', handler)`) and a function from a `Request` to its
 * `Response` (`export const GET = handler`, `Bun.serve({ fetch: handler })`).
 *
 * It asks nobody who they are: the numbers say which queues exist and how much goes through them. Serve it where only the
 * operator can read it.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for metrics that are none, a logger without `error`, or an option
 * that nobody reads.
 */
export function metricsHandler(metrics: Metrics, options: MetricsHandlerOptions = {}): HttpHandler {
  checkOptions(options, ['logger'], 'metricsHandler');
  if (typeof metrics?.series !== 'function') {
    throw new ConfigurationError(`metrics must be a Metrics of @acemq/observe, not ${shown(metrics)}`);
  }
  return httpHandler(
    () => ({ status: 200, contentType: PROMETHEUS_CONTENT_TYPE, body: prometheusText(metrics) }),
    { name: 'metricsHandler', logger: options.logger ?? console },
  );
}
