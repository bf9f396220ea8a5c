import { randomUUID } from 'node:crypto';
import { connect } from '@acemq/amqp';
import { accept, topology } from '@acemq/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Conventions, OpenTelemetryTracing } from '../src/index.ts';
import { CONTRACT, definitionOf, namesUnder } from './contract.ts';

const url = process.env['AMQP_URL'] ?? '';

/** The spans of one message on RabbitMQ: publish, queue.wait and process. */
async function spansUnder(conventions: Conventions): Promise<readonly ReadableSpan[]> {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const tracing = new OpenTelemetryTracing({ tracerProvider, conventions, queueWait: true });
  const mq = tracing.install(await connect(url));
  const queue = `acemq-test-${randomUUID()}`;
  onTestFinished(async () => {
    for (const name of [queue, `${queue}.dlq`, `${queue}.parked`]) await mq.deleteQueue(name);
    await mq.close();
  });
  await mq.declare(topology().queue(queue));
  await mq.consume(queue, () => accept());
  await mq.publisher({ routingKey: queue }).send({});
  return vi.waitFor(() => {
    const spans = exporter.getFinishedSpans();
    expect(spans).toHaveLength(3);
    return spans;
  });
}

test.each(['acemq', 'otel', 'both'] as const)(
  'under the conventions %s, spans say which broker they speak of where the contract has names for it',
  async (conventions) => {
    const { hostname, port } = new URL(url);
    for (const { name, attributes } of await spansUnder(conventions)) {
      const definition = definitionOf(name.replace(/^.* /, ' '));
      const conventional = conventions === 'acemq' ? [] : definition.conventional;
      const names = [...namesUnder(conventions, definition.attributes), ...conventional].sort();
      expect(Object.keys(attributes).sort()).toEqual(names);
      expect([attributes['server.address'], attributes['server.port']]).toEqual(
        conventions === 'acemq' ? [undefined, undefined] : [hostname, Number(port === '' ? 5672 : port)],
      );
      expect(JSON.stringify(attributes)).not.toContain('guest');
      expect(attributes[CONTRACT.errorType]).toBeUndefined();
    }
  },
);
