import { randomUUID } from 'node:crypto';
import { type Connection, type ConnectOptions, connect } from '@acemq/amqp';
import { topology } from '@acemq/core';
import { type MemoryBroker, memoryBroker } from '@acemq/testing';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { onTestFinished, vi } from 'vitest';
import { OpenTelemetryTracing, type OpenTelemetryTracingOptions } from '../src/index.ts';

const nothing = (): void => {};
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** One test's connection, with its spans kept. */
export interface Traced {
  readonly mq: Connection;
  readonly tracing: OpenTelemetryTracing;
  readonly provider: BasicTracerProvider;
  /** A queue that is declared. */
  readonly queue: string;
  spans(): ReadableSpan[];
  /** The one span of a name, when it has ended. */
  span(name: string): Promise<ReadableSpan>;
}

/** A connection that is traced, closed when the test ends. */
export async function traced(
  options: OpenTelemetryTracingOptions = {},
  connecting: ConnectOptions = {},
  broker: MemoryBroker = memoryBroker(),
): Promise<Traced> {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const mq = await connect(broker, { logger: SILENT, ...connecting });
  onTestFinished(async () => {
    await mq.close({ timeout: 0 });
  });
  const tracing = new OpenTelemetryTracing({ tracerProvider: provider, ...options });
  tracing.install(mq);
  const queue = `orders-${randomUUID().slice(0, 8)}`;
  await mq.declare(topology().queue(queue));
  const spans = (): ReadableSpan[] => exporter.getFinishedSpans();
  const span = (name: string): Promise<ReadableSpan> =>
    vi.waitFor(() => {
      const [found, ...more] = spans().filter((one) => one.name === name);
      if (found === undefined || more.length > 0) {
        throw new Error(`${name}: ${spans().map((one) => one.name)}`);
      }
      return found;
    });
  return { mq, tracing, provider, queue, spans, span };
}
