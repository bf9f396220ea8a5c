import { accept, reject, topology } from '@acemq/core';
import { type Observer, prometheusText } from '@acemq/observe';
import { describe, expect, test, vi } from 'vitest';
import { deferred, keepingLogger, onManualTime, onMemory } from './setting.ts';

describe('the numbers of a connection', () => {
  test('are told in the order in which things happen, and the count before anything is done', async () => {
    const told: string[] = [];
    const observer: Observer = {
      count: (metric, _delta, labels) => void told.push(`${metric} ${labels['outcome'] ?? ''}`.trim()),
      observe: (metric, _value, labels) => void told.push(`${metric} ${labels['outcome'] ?? ''}`.trim()),
      gauge: (metric, value) => void told.push(`${metric} ${value}`),
    };
    const { mq, queue, broker } = await onMemory({ observer });
    await mq.declare(topology().queue(queue));
    await mq.consume(queue, () => {
      told.push('handler');
      return reject(new Error('bad'));
    });
    await mq.publisher({ routingKey: queue }).send({});
    await vi.waitFor(() => expect(told.at(-1)).toBe('acemq.consume.in.flight 0'));
    expect(broker.depth(`${queue}.dlq`)).toBe(1);
    expect(told.filter((line) => !line.startsWith('acemq.publish'))).toEqual([
      'acemq.consume.attempts',
      'acemq.consume.in.flight 1',
      'handler',
      'acemq.consume.duration rejected',
      'acemq.consume.total rejected',
      'acemq.messages.dead.lettered.total dead_lettered',
      'acemq.consume.in.flight 0',
    ]);
    expect(told.filter((line) => line.startsWith('acemq.publish'))).toEqual([
      'acemq.publish.duration confirmed',
      'acemq.publish.total confirmed',
    ]);
  });

  test('in flight is summed over the consumers of a queue', async () => {
    const { mq, queue, metrics } = await onMemory();
    await mq.declare(topology().queue(queue));
    const gate = deferred();
    const handler = async () => {
      await gate.promise;
      return accept();
    };
    await mq.consume(queue, handler);
    await mq.consume(queue, handler);
    await mq.publisher({ routingKey: queue }).sendAll([1, 2]);
    const key = `acemq.consume.in.flight{queue="${queue}"}`;
    await vi.waitFor(() => expect(metrics.gauges.get(key)).toBe(2));
    gate.resolve();
    await vi.waitFor(() => expect(metrics.gauges.get(key)).toBe(0));
  });

  test('an observer that throws harms no message and is logged once a metric', async () => {
    const logger = keepingLogger();
    const fail = (): never => {
      throw new Error('no room');
    };
    const { mq, queue } = await onMemory({ observer: { count: fail, observe: fail, gauge: fail }, logger });
    await mq.declare(topology().queue(queue));
    let handled = 0;
    await mq.consume(queue, () => {
      handled += 1;
      return accept();
    });
    await mq.publisher({ routingKey: queue }).sendAll([1, 2, 3]);
    await vi.waitFor(() => expect(handled).toBe(3));
    const metrics = logger.lines.map(({ details }) => details['metric']).filter((one) => one !== undefined);
    expect(new Set(metrics).size).toBe(metrics.length);
    expect(metrics.length).toBeGreaterThanOrEqual(4);
  });

  test('print as a scrape', async () => {
    const { mq, queue, metrics } = await onMemory();
    await mq.declare(topology().queue(queue));
    await mq.publisher({ routingKey: queue }).send({});
    expect(prometheusText(metrics)).toContain(
      `acemq_publish_total{exchange="",outcome="confirmed",routing_key="${queue}"} 1\n`,
    );
  });

  test('with no observer no clock is read for them', async () => {
    const now = vi.spyOn(performance, 'now');
    try {
      const { mq, queue } = await onManualTime({ observer: undefined });
      await mq.declare(topology().queue(queue));
      let handled = 0;
      await mq.consume(queue, () => {
        handled += 1;
        return accept();
      });
      const publisher = mq.publisher({ routingKey: queue });
      await publisher.send({});
      await vi.waitFor(() => expect(handled).toBe(1));
      const before = now.mock.calls.length;
      await publisher.sendAll(Array.from({ length: 500 }, (_, number) => number));
      await vi.waitFor(() => expect(handled).toBe(501));
      expect(now.mock.calls.length - before).toBe(0);
    } finally {
      now.mockRestore();
    }
  });
});
