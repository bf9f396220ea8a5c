import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { METRIC_RUNG_MISSING, METRIC_SET_ASIDE_FAILED, METRICS, type MetricDefinition } from '@acemq/observe';
import { PrometheusObserver } from '@acemq/prometheus';
import promClient from 'prom-client';
import { onTestFinished } from 'vitest';

const SERVICE_HAS_NONE = ['acemq.request.', 'acemq.outbox.', 'acemq.pipeline.'];

/** The metrics that the example does not write: nothing goes wrong with its queues, and it uses no such pattern. */
export const UNWRITTEN: readonly MetricDefinition[] = METRICS.filter(
  ({ name }) =>
    name === METRIC_RUNG_MISSING ||
    name === METRIC_SET_ASIDE_FAILED ||
    SERVICE_HAS_NONE.some((start) => name.startsWith(start)),
);

/** Serves one sample of each of those, by the same adapter, until the test ends; resolves with the address. */
export async function serveUnwritten(): Promise<string> {
  const registry = new promClient.Registry();
  const observer = new PrometheusObserver({ registry });
  for (const { name, kind, labels } of UNWRITTEN) {
    const values = Object.fromEntries(labels.map((label) => [label, 'one']));
    if (kind === 'counter') observer.count(name, 1, values);
    else observer.observe(name, 1, values);
  }
  const body = await registry.metrics();
  const server = createServer(
    (_, response) => void response.setHeader('content-type', registry.contentType).end(body),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
