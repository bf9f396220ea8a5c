import { randomUUID } from 'node:crypto';
import { type Connection, connect } from '@acemq/amqp';
import { topology } from '@acemq/core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { main } from '../src/cli/main.ts';
import { surroundings } from './surroundings.ts';

const queue = `backlog.test.${randomUUID()}`;
let mq: Connection;
beforeAll(async () => {
  mq = await connect(process.env['AMQP_URL'] ?? '', { name: 'backlog-test' });
  // Left to the broker, which removes it when nobody has used it for a minute.
  await mq.declare(topology().queue(queue, { arguments: { 'x-expires': 60_000 } }));
});
afterAll(() => mq.close());

it('watch reads a RabbitMQ queue', { timeout: 40_000 }, async () => {
  await mq.publisher({ routingKey: queue }).send('one');
  const env = { RABBITMQ_MANAGEMENT_URL: process.env['RABBITMQ_MANAGEMENT_URL'] };
  await vi.waitFor(
    async () => {
      const around = surroundings(env);
      expect(await main(['watch', '--queue', queue, '--readings', '1', '--json'], around)).toBe(0);
      expect(JSON.parse(around.out())).toMatchObject({
        kinds: [{ kind: queue, depth: 1, throughput: null, shape: 'unclear' }],
      });
    },
    { timeout: 30_000, interval: 500 },
  );
});

it('a password that is wrong ends with 2, and is not printed', async () => {
  const url = new URL(process.env['RABBITMQ_MANAGEMENT_URL'] ?? '');
  url.password = 'hush-hush';
  const around = surroundings({ RABBITMQ_MANAGEMENT_URL: url.href });
  expect(await main(['watch', '--queue', queue, '--readings', '1'], around)).toBe(2);
  expect(around.err()).toContain('refused the user or the password: 401');
  expect(around.err()).not.toContain('hush');
});
