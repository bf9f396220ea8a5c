// A program with @opentelemetry/instrumentation-amqplib and our tracing at once, both on the global SDK. One message
// is published, handled, retried and handed on to a second queue; every span goes to standard output, one JSON line each.
import { type Ack, accept, fixed, retry } from '@acemq/core';
import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { AmqplibInstrumentation } from '@opentelemetry/instrumentation-amqplib';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { OpenTelemetryTracing } from '../src/index.ts';

const [url = '', first = '', second = ''] = process.argv.slice(2);

const exporter = new InMemorySpanExporter();
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
propagation.setGlobalPropagator(new W3CTraceContextPropagator());
trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
);
registerInstrumentations({ instrumentations: [new AmqplibInstrumentation()] });

// Loaded after the instrumentation, as a program does that is started with `--import`.
const { connect } = await import('@acemq/amqp');

const mq = new OpenTelemetryTracing().install(await connect(url));
let finish = (): void => {};
const done = new Promise<void>((resolve) => {
  finish = resolve;
});
const handle = async (attempt: number, payload: unknown): Promise<Ack> => {
  if (attempt === 1) return retry(new Error('not yet'));
  await mq.publisher({ routingKey: second }).send(payload);
  return accept();
};
await mq.consume(first, ({ envelope, payload }) => handle(envelope.attempt, payload), {
  retry: fixed(2, '1ms'),
});
await mq.consume(second, () => {
  finish();
  return accept();
});
await mq.publisher({ routingKey: first }).send({ id: 1 });
await done;
await mq.close();
for (const span of exporter.getFinishedSpans()) {
  const { traceId, spanId } = span.spanContext();
  const line = {
    scope: span.instrumentationScope.name,
    name: span.name,
    traceId,
    spanId,
    parent: span.parentSpanContext?.spanId ?? '',
    outcome: span.attributes['messaging.acemq.outcome'] ?? '',
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
