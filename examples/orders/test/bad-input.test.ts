import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { memoryBroker } from '@acemq/testing';
import { afterAll, expect, test } from 'vitest';
import { showLadder } from '../src/ladder-run.ts';
import { figure, orderLine, ran } from './running.ts';

const folder = mkdtempSync(join(tmpdir(), 'orders-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Port 1 is nobody's. */
const NOBODY = 'amqp://127.0.0.1:1';

test('a file that is not there is named, and nothing is begun', async () => {
  const source = join(folder, 'missing.ndjson');
  const run = await ran({ target: memoryBroker(), source });
  expect(run).toEqual({ code: 2, out: '', err: `orders: ${source} cannot be read: there is no such file\n` });
});

test('a folder is no file of orders', async () => {
  const run = await ran({ target: memoryBroker(), source: folder });
  expect(run).toEqual({ code: 2, out: '', err: `orders: ${folder} cannot be read: it is a folder\n` });
});

test.each([
  ['empty', ''],
  ['of blank lines', '\n  \r\n\t\n'],
])('a file that is %s holds no orders', async (_, text) => {
  const source = join(folder, 'empty.ndjson');
  writeFileSync(source, text);
  const run = await ran({ target: memoryBroker(), source });
  expect(run).toEqual({ code: 2, out: '', err: `orders: ${source} holds no orders\n` });
});

test.each([
  ['http://guest:hidden@127.0.0.1', 'orders: AMQP_URL: '],
  ['not a url', 'orders: AMQP_URL: '],
  [NOBODY, 'ECONNREFUSED'],
])('the broker address %s is answered with one line and 2', async (target, word) => {
  const run = await ran({ target }, orderLine());
  expect(run.code).toBe(2);
  expect(run.out).toBe('');
  expect(run.err).toMatch(/^orders: [^\n]+\n$/);
  expect(run.err).toContain(word);
  expect(run.err).not.toContain('hidden');
});

test('input that does not end is let go of when there is no broker', async () => {
  const stdin = new Readable({ read: () => undefined });
  stdin.push(orderLine());
  const run = await ran({ target: NOBODY, stdin });
  expect(run.code).toBe(2);
  expect(stdin.destroyed).toBe(true);
});

test('lines of any kind are accounted for: what is no order is refused, what is no JSON parked', async () => {
  const input = `\ufeff${orderLine()}\r\n42\nnull\n[]\n{}\n"text"\nnot json\n${orderLine({ total: '17.80' })}`;
  const run = await ran({ target: memoryBroker() }, input);
  expect(run.err).toBe('');
  expect(run.code).toBe(0);
  expect(figure(run.out, 'read')).toBe(8);
  expect(figure(run.out, 'handled')).toBe(1);
  expect(figure(run.out, 'dead-lettered')).toBe(6);
  expect(figure(run.out, 'parked')).toBe(1);
  expect(run.out).toContain('it is a number and not an order');
});

test('a run that is ended early removes its queues', async () => {
  const broker = memoryBroker();
  const controller = new AbortController();
  const stdin = new Readable({ read: () => undefined });
  stdin.push(orderLine().repeat(20));
  const run = ran({
    target: broker,
    stdin,
    signal: controller.signal,
    queue: 'orders-early',
    out: { write: (text) => /[1-9]\d* handled/.test(text) && controller.abort() },
  });
  expect(await run).toMatchObject({ code: 130, err: 'orders: ended early\n' });
  expect(broker.queues).toEqual([]);
});

test('the ladder says that it needs a RabbitMQ', async () => {
  let err = '';
  const code = await showLadder({
    url: NOBODY,
    worker: new URL('file:///nothing'),
    out: { write: () => undefined },
    err: { write: (text) => (err += text) },
    signal: new AbortController().signal,
  });
  expect(code).toBe(2);
  expect(err).toMatch(/^ladder: this program needs a RabbitMQ[^\n]+\n$/);
});
