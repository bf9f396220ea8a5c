import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Connection, connect } from '@acemq/amqp';
import { deadLetterQueueName, retryQueueName } from '@acemq/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { figure, type Ran } from './running.ts';

// The programs as they are shipped: `npm test` builds before it tests.
const dist = new URL('../dist/', import.meta.url);

interface Start {
  readonly args?: readonly string[];
  readonly input?: string;
  /** Presses Ctrl-C as soon as the output has this. */
  readonly interruptAt?: RegExp;
}

function program(name: string, { args = [], input = '', interruptAt }: Start = {}): Promise<Ran> {
  return new Promise((resolve) => {
    const file = fileURLToPath(new URL(`${name}.js`, dist));
    const child = execFile(process.execPath, [file, ...args], (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
    child.stdin?.end(input);
    let seen = '';
    child.stdout?.on('data', (text: string) => {
      const before = interruptAt?.test(seen) ?? true;
      seen += text;
      if (!before && interruptAt?.test(seen)) child.kill('SIGINT');
    });
  });
}

let mq: Connection;
beforeAll(async () => {
  mq = await connect(process.env['AMQP_URL'] ?? '');
});
afterAll(() => mq.close());

test('the demo on RabbitMQ ends with 0, and its queues are gone', async () => {
  const { code, out, err } = await program('main');
  expect(err).toBe('');
  expect(code).toBe(0);
  expect(figure(out, 'published')).toBe(240);
  expect(figure(out, 'handled')).toBe(213);
  expect(figure(out, 'retried')).toBe(78);
  expect(figure(out, 'dead-lettered')).toBe(16);
  expect(figure(out, 'parked')).toBe(11);
  expect(out).toContain(', on RabbitMQ\n');
  const queue = /^Queue +([\w-]+),/m.exec(out)?.[1] ?? '';
  for (const suffix of ['', '.dlq', '.parked', '.retry.400ms', '.retry.800ms']) {
    expect(await mq.queueExists(queue + suffix)).toBe(false);
  }
});

test('orders are taken from standard input, and more than one file is refused', async () => {
  const piped = await program('main', { args: ['-'], input: 'not json\n{}\n' });
  expect(piped.code).toBe(0);
  expect(figure(piped.out, 'parked')).toBe(1);
  const refused = await program('main', { args: ['one', 'two'] });
  expect(refused.code).toBe(2);
  expect(refused.err).toContain('one two');
});

test("a message whose consumer is killed in the middle of the wait comes back not before the rung's time", async () => {
  const { code, out, err } = await program('ladder');
  expect(err).toBe('');
  expect(code).toBe(0);
  const waited = Number(/came back after ([\d.]+) s, not before the rung's 6 s/.exec(out)?.[1]);
  expect(waited).toBeGreaterThanOrEqual(6);
  expect(waited).toBeLessThan(12);
  const killed = Number(/([\d.]+) s {2}process \d+ is killed/.exec(out)?.[1]);
  const started = Number(/([\d.]+) s {2}process \d+ consumes/.exec(out)?.[1]);
  expect(killed).toBeLessThan(started);
  expect(started).toBeLessThan(6);
}, 40_000);

test('the demo that is interrupted removes its queues', async () => {
  const { code, out, err } = await program('main', { interruptAt: /[1-9]\d* handled/ });
  expect(err).toBe('orders: ended early\n');
  expect(code).toBe(130);
  const queue = /^Queue +([\w-]+),/m.exec(out)?.[1] ?? '';
  expect(await mq.queueExists(queue)).toBe(false);
  expect(await mq.queueExists(deadLetterQueueName(queue))).toBe(false);
});

test('a ladder that is interrupted leaves neither a process nor a queue', async () => {
  const { code, out } = await program('ladder', { interruptAt: /attempt 1 fails/ });
  expect(code).toBe(130);
  const queue = /the queue (ladder-\w+)/.exec(out)?.[1] ?? '';
  expect(await mq.queueExists(queue)).toBe(false);
  expect(await mq.queueExists(retryQueueName(queue, '6s'))).toBe(false);
  const pid = Number(/fails in process (\d+)/.exec(out)?.[1]);
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});
