import { faultProxy, transportSuite } from '@acemq/testing';
import { describe, expect, test } from 'vitest';
import { amqplibTransport } from '../src/amqplib/index.ts';
import { BROKER_URL } from './amqplib-proxy.ts';

describe('the amqplib transport on RabbitMQ', () => {
  const left = transportSuite({
    test,
    features: ['cut', 'refused', 'unreachable'],
    open: async () => {
      const proxy = await faultProxy(BROKER_URL);
      return {
        transport: amqplibTransport(proxy.url),
        faults: {
          cut: (accepts) => {
            for (const connection of proxy.connections) {
              if (connection.name !== undefined && accepts(connection.name)) connection.cut({ how: 'fin' });
            }
          },
          refused: () => {
            const url = new URL(BROKER_URL);
            url.password = 'wrong';
            return amqplibTransport(url.href);
          },
          // Port 1 of this machine: nobody listens there.
          unreachable: () => amqplibTransport('amqp://guest:guest@127.0.0.1:1'),
        },
        close: () => proxy.close(),
      };
    },
  });

  test('passes every case of the transport suite but those that need an alarm or a node that goes', () => {
    expect(left.length).toBe(3);
    for (const title of left) expect(title).toMatch(/alarm|cancels a consumer/);
  });
});
