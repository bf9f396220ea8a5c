import { randomId, type Transport } from '@acemq/core';
import { type Endpoints, serveEndpoints } from './endpoints.ts';
import { type Names, namesOf } from './names.ts';
import { placeOrders } from './placing.ts';
import { removeAll } from './removing.ts';
import { closing, opening, report, type Scraped, serving } from './report.ts';
import { type Service, startService } from './service.ts';
import { startTelemetry } from './telemetry.ts';
import { keepPlacing } from './traffic.ts';

/** What one run is given. */
export interface RunOptions {
  /** A URL of RabbitMQ, or the in-memory broker. */
  readonly target: string | Transport;
  /** Milliseconds between two orders while it serves; it does not serve without. */
  readonly every: number | undefined;
  readonly out: { write(text: string): unknown };
  readonly err: { write(text: string): unknown };
  readonly signal: AbortSignal;
}

/** Runs the service, reports what it showed, and resolves to an exit code: 0, or 1 with the reason on `err`, or 130. */
export async function run(options: RunOptions): Promise<number> {
  const { target, every, out, err, signal } = options;
  const names = namesOf(`shop-${randomId().slice(0, 8)}`);
  const telemetry = startTelemetry();
  let service: Service | undefined;
  let endpoints: Endpoints | undefined;
  try {
    service = await startService(target, names, telemetry, signal);
    endpoints = await serveEndpoints(service.mq, telemetry.registry);
    out.write(
      opening(names, endpoints.url, typeof target === 'string' ? 'RabbitMQ' : 'the in-memory broker'),
    );
    const placed = await placeOrders(service, names, telemetry, signal);
    out.write(report(names, await scrape(endpoints.url), placed));
    if (every !== undefined) {
      out.write(serving(endpoints.url));
      out.write(closing(await keepPlacing(service.orders, telemetry, every, signal)));
    }
    return 0;
  } catch (error) {
    if (signal.aborted) return 130;
    err.write(`observability: ${error instanceof Error ? error.message : error}\n`);
    return 1;
  } finally {
    await endpoints?.close();
    if (service !== undefined) await end(service, names);
  }
}

async function scrape(url: string): Promise<Scraped> {
  const metrics = await fetch(`${url}/metrics`);
  const ready = await fetch(`${url}/ready`);
  const live = await fetch(`${url}/live`);
  return {
    metrics: await metrics.text(),
    ready: { status: ready.status, body: await ready.text() },
    live: live.status,
  };
}

/** Consumers first, so that nothing is on its way to a queue that is gone. */
async function end({ mq }: Service, names: Names): Promise<void> {
  for (const consumer of mq.consumers) await consumer.close({ timeout: 2_000 });
  await removeAll(mq, names);
  await mq.close({ timeout: 2_000 });
}
