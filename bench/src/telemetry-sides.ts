import type { Connection } from '@acemq/amqp';
import type { Observer } from '@acemq/observe';

/**
 * What is installed, from nothing to all of it. Tracing is with the OpenTelemetry API alone, and with the SDK where the name
 * says so. `neither-again` is `neither` once more: how far the two lie apart is the noise floor.
 */
export const TELEMETRY_SIDES = [
  'neither',
  'neither-again',
  'metrics',
  'tracing',
  'metrics+tracing',
  'prom-client+tracing',
  'metrics+sdk',
] as const;
export type TelemetrySide = (typeof TELEMETRY_SIDES)[number];

/** What one worker process is asked to do. */
export interface TelemetryTask {
  readonly telemetry: TelemetrySide;
  readonly messages: number;
  readonly url: string;
}

/** What it found: CPU time of the process, user and system, per message, in microseconds. */
export interface TelemetryMeasurement {
  readonly publish: number;
  readonly consume: number;
  /** Spans that reached the exporter, for each message of the measured run. */
  readonly spans: number;
}

/** The observer of a side. Loads nothing that the side does not use. */
export async function observerOf(side: TelemetrySide): Promise<Observer | undefined> {
  if (side.startsWith('metrics')) return new (await import('@acemq/observe')).Metrics();
  if (side.startsWith('prom-client')) return new (await import('@acemq/prometheus')).PrometheusObserver();
  return undefined;
}

/** Installs the tracing of a side, and returns how many spans have been exported by now. */
export async function traced(mq: Connection, side: TelemetrySide): Promise<() => Promise<number>> {
  if (side.endsWith('sdk')) {
    const exported = (await import('./discarding-sdk.ts')).startDiscardingSdk();
    await installTracing(mq);
    return exported;
  }
  if (side.endsWith('tracing')) await installTracing(mq);
  return () => Promise.resolve(0);
}

async function installTracing(mq: Connection): Promise<void> {
  new (await import('@acemq/otel')).OpenTelemetryTracing().install(mq);
}
