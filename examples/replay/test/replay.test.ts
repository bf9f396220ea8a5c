import { memoryBroker } from '@acemq/testing';
import { expect, test } from 'vitest';
import { ran, TWO_HUNDRED } from './running.ts';

test('200 orders on the in-memory broker: what failed by the bug is shipped in the end, and nothing is left over', async () => {
  const broker = memoryBroker();
  const { code, out, err } = await ran(broker);
  expect(err).toBe('');
  expect(out).toContain('200 orders through ORDERS,\non the in-memory broker\n');
  expect(out).toContain(TWO_HUNDRED);
  expect(code).toBe(0);
  expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(broker.queues).toEqual([]);
});

test('a broker that cannot be reached is said in one line', async () => {
  const { code, out, err } = await ran('amqp://guest:guest@127.0.0.1:1');
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(/^replay: ConnectError: .*\n$/);
  expect(err).not.toContain('guest:guest');
});
