import { observers } from '@acemq/observe';
import { OpenTelemetryTracing } from '@acemq/otel';
import { PrometheusObserver } from '@acemq/prometheus';
import { context, type Tracer, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { type Registry, register } from 'prom-client';
import { Endings } from './endings.ts';

/** What watches the service. */
export interface Telemetry {
  /** For the connection: the numbers of the scrape, and the demo's own count of what has ended. */
  readonly observer: ReturnType<typeof observers>;
  readonly endings: Endings;
  /** What is scraped. */
  readonly registry: Registry;
  readonly tracing: OpenTelemetryTracing;
  /** For the application's own spans. */
  readonly tracer: Tracer;
  /** Keeps the spans, to be printed. A service of yours has an exporter here that sends them somewhere. */
  readonly spans: InMemorySpanExporter;
}

/** Sets up what an application sets up once. The library itself needs only `observer` and `tracing`. */
export function startTelemetry(): Telemetry {
  const spans = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const endings = new Endings();
  return {
    observer: observers(new PrometheusObserver(), endings),
    endings,
    registry: register,
    tracing: new OpenTelemetryTracing({ queueWait: true }),
    tracer: trace.getTracer('observability-example'),
    spans,
  };
}
