// One of three processes of a trace: publisher, first consumer (which publishes on) or second consumer. Its spans go to
// standard output, one JSON line each.
import { connect } from '@acemq/amqp';
import { type Ack, accept, fixed, type Message, retry } from '@acemq/core';
import { BasicTracerProvider, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { OpenTelemetryTracing } from '../src/index.ts';

const [url = '', role = '', first = '', second = ''] = process.argv.slice(2);

const tracerProvider = new BasicTracerProvider({
  spanProcessors: [
    new SimpleSpanProcessor({
      export(spans: ReadableSpan[], done): void {
        for (const span of spans) {
          const { traceId, spanId } = span.spanContext();
          const parent = span.parentSpanContext?.spanId ?? '';
          const outcome = span.attributes['messaging.acemq.outcome'];
          process.stdout.write(
            `${JSON.stringify({ pid: process.pid, name: span.name, traceId, spanId, parent, outcome })}\n`,
          );
        }
        done({ code: 0 });
      },
      shutdown: () => Promise.resolve(),
    }),
  ],
});
const mq = new OpenTelemetryTracing({ tracerProvider }).install(await connect(url));
let settled: (value: unknown) => void = () => {};
const done = new Promise((resolve) => {
  settled = resolve;
});

/** Fails the first attempt, which then waits in a rung of the broker. */
async function handle({ envelope, payload }: Message): Promise<Ack> {
  if (role === 'second') {
    settled(undefined);
    return accept();
  }
  if (envelope.attempt === 1) return retry(new Error('not yet'));
  await mq.publisher({ routingKey: second }).send(payload);
  settled(undefined);
  return accept();
}

if (role === 'publisher') {
  await mq.publisher({ routingKey: first }).send({ id: 1 });
} else {
  const policy = fixed(2, '1s').waitInBrokerFrom('1s');
  await mq.consume(role === 'first' ? first : second, handle, role === 'first' ? { retry: policy } : {});
  await done;
}
await mq.close();
