import { expect, test } from 'vitest';
import { ran, TWO_HUNDRED } from './running.ts';

test('200 orders on RabbitMQ come to the same', async () => {
  const { code, out, err } = await ran(process.env['AMQP_URL'] ?? '');
  expect(err).toBe('');
  expect(out).toContain('on RabbitMQ\n');
  expect(out).toContain(TWO_HUNDRED);
  expect(code).toBe(0);
});
