import { connect } from '@acemq/amqp';
import { accept, fixed, topology } from '@acemq/core';
import { manualClock, memoryBroker } from '@acemq/testing';
import { describe, expect, it } from 'vitest';
import { clients, linesOf } from './clients.ts';

describe.each(clients)('a connection that writes through $name', ({ observer, registry, module }) => {
  it('counts a message that is published, retried and handled', async () => {
    const own = registry();
    const clock = manualClock();
    const mq = await connect(memoryBroker({ clock }), { observer: observer({ registry: own }) });
    const retry = fixed(2, '5m');
    await mq.declare(topology().queue('orders', { retry }));
    await mq.consume(
      'orders',
      ({ envelope }) => {
        if (envelope.attempt === 1) throw new Error('not yet');
        return accept();
      },
      { retry },
    );
    await mq.publisher({ routingKey: 'orders' }).send({ id: 1 });
    await clock.advance(300_000);
    await mq.close();
    const lines = await linesOf(own, 'acemq');
    expect(lines).toEqual(
      expect.arrayContaining([
        'acemq_publish_total{exchange="",outcome="confirmed",routing_key="orders"} 1',
        'acemq_publish_duration_count{exchange="",outcome="confirmed",routing_key="orders"} 1',
        'acemq_consume_total{outcome="retried",queue="orders"} 1',
        'acemq_consume_total{outcome="acked",queue="orders"} 1',
        'acemq_consume_in_flight{queue="orders"} 0',
        'acemq_consume_attempts_bucket{le="1",queue="orders"} 1',
        'acemq_consume_attempts_bucket{le="2",queue="orders"} 2',
        'acemq_messages_retried_total{queue="orders",where="broker"} 1',
      ]),
    );
  });

  it('goes on where a metric cannot be written, and says so once', async () => {
    const own = registry();
    const warnings: string[] = [];
    const log = { debug() {}, info() {}, error() {}, warn: (message: string) => warnings.push(message) };
    const mq = await connect(memoryBroker(), { observer: observer({ registry: own }), logger: log });
    new module.Gauge({ name: 'acemq_publish_total', help: 'In the way.', registers: [own] });
    await mq.declare(topology().queue('orders'));
    for (let n = 0; n < 3; n += 1) await mq.publisher({ routingKey: 'orders' }).send(n);
    await mq.close();
    expect(warnings.filter((line) => line.includes('observer'))).toEqual([
      'the observer failed on acemq.publish.total; further failures on it are not logged',
    ]);
    expect(await linesOf(own, 'acemq_publish_duration_count')).toEqual([
      'acemq_publish_duration_count{exchange="",outcome="confirmed",routing_key="orders"} 3',
    ]);
  });
});
