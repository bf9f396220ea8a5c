import { test } from 'vitest';
import { expectNumbers, useProgram } from './running.ts';

const ran = useProgram();

test('on RabbitMQ every ask has the same outcome', async () => {
  expectNumbers(await ran(['200'], process.env['AMQP_URL'] ?? ''));
}, 60_000);
