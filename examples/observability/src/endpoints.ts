import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Connection } from '@acemq/amqp';
import { BrokerHealth, type HealthCheck, healthHandler, healthReport } from '@acemq/health';
import type { Registry } from 'prom-client';

/** What an operator's tools read. */
export interface Endpoints {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  close(): Promise<void>;
}

/** A check of the application's own. */
const warehouse: HealthCheck = {
  name: 'warehouse',
  check: async () => healthReport('up', { parts: { shelves: 12 } }),
};

/** Serves `/metrics`, `/ready` and `/live` on a free port of this machine, where nobody else can read them. */
export async function serveEndpoints(mq: Connection, registry: Registry): Promise<Endpoints> {
  const ready = healthHandler([new BrokerHealth(mq), warehouse], { parts: true });
  const server = createServer((request, response) => {
    if (request.url === '/metrics') {
      registry.metrics().then(
        (body) => response.setHeader('content-type', registry.contentType).end(body),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    } else if (request.url === '/ready') ready(request, response);
    // No question to the broker here: a restart does not repair it.
    else if (request.url === '/live') response.end('live\n');
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
