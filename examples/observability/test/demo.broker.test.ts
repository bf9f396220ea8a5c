import { type Connection, connect } from '@acemq/amqp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { namesOf } from '../src/names.ts';
import { expectReport } from './report.ts';
import { prefixIn, ran, started } from './running.ts';

const url = process.env['AMQP_URL'] ?? '';
let mq: Connection;
beforeAll(async () => {
  mq = await connect(url);
});
afterAll(() => mq.close());

/** The queues of the run that are still there. */
async function left(out: string): Promise<string[]> {
  const { topology } = namesOf(prefixIn(out).slice(0, -1));
  const names = topology.plan().queues.map(({ name }) => name);
  const there = await Promise.all(names.map((name) => mq.queueExists(name)));
  return names.filter((_, index) => there[index]);
}

test('on RabbitMQ it shows the same, and its queues are gone', async () => {
  const { code, out, err } = await ran(url);
  expect(err).toBe('');
  expectReport(out);
  expect(out).toContain('on RabbitMQ');
  expect(code).toBe(0);
  expect(await left(out)).toEqual([]);
});

test('a served run that is interrupted leaves no queue', async () => {
  const running = started(['--serve'], url);
  expect(await left(await running.until('scrape_configs'))).toContain(
    `${prefixIn(await running.until('scrape_configs'))}orders.dlq`,
  );
  running.child.kill('SIGINT');
  const { code, out, err } = await running.ended;
  expect(err).toBe('');
  expect(code).toBe(0);
  expect(await left(out)).toEqual([]);
});

test('a broker that cannot be reached is a sentence and exit code 1', async () => {
  const { code, err } = await ran('amqp://127.0.0.1:1');
  expect(code).toBe(1);
  expect(err).toContain('observability: ');
  expect(err).not.toContain('    at ');
});
