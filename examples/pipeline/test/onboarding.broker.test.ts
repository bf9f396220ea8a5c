import { connect } from '@acemq/amqp';
import { expect, test } from 'vitest';
import { ran, THREE_HUNDRED } from './running.ts';

test('300 runs on RabbitMQ come to the same, and leave no queue behind', async () => {
  const url = process.env['AMQP_URL'] ?? '';
  const { code, out, err } = await ran(url);
  expect(err).toBe('');
  expect(out).toContain('on RabbitMQ\n');
  expect(out).toContain(THREE_HUNDRED);
  expect(code).toBe(0);
  const [, name] = /(onboarding-\w+)/.exec(out) ?? [];
  const mq = await connect(url);
  expect(await mq.queueExists(`${name}.store`)).toBe(false);
  await mq.close();
});
