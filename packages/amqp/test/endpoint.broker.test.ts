import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type Connection, connect } from '../src/index.ts';
import { BROKER_URL, type BrokerProxy, listen, openProxy } from './amqplib-proxy.ts';
import { keepingLogger } from './setting.ts';

async function connected(target: string | readonly string[]): Promise<Connection> {
  const reconnect = { initial: '10ms', max: '50ms' } as const;
  const mq = await connect(target, { logger: keepingLogger(), reconnect });
  onTestFinished(async () => {
    await mq.close({ timeout: 0 });
  });
  return mq;
}

async function proxy(): Promise<BrokerProxy> {
  const opened = await openProxy();
  onTestFinished(() => opened.close());
  return opened;
}

const both = (mq: Connection): unknown[] => [mq.endpoint('publish'), mq.endpoint('consume')];

const placeOf = (url: string): { host: string; port: number } => {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port === '' ? 5672 : port) };
};

test('is the host and the port of the broker, and nothing else of the URL', async () => {
  const mq = await connected(BROKER_URL);
  expect(mq.endpoint()).toEqual(placeOf(BROKER_URL));
  expect(both(mq)).toEqual([placeOf(BROKER_URL), placeOf(BROKER_URL)]);
  await mq.close();
  expect(both(mq)).toEqual([undefined, undefined]);
});

test('is the one that answered, of a list whose first does not', async () => {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  const mq = await connected([`amqp://127.0.0.1:${port}`, BROKER_URL]);
  expect(both(mq)).toEqual([placeOf(BROKER_URL), placeOf(BROKER_URL)]);
});

test('changes when the connection has gone over to another', async () => {
  const [first, second] = [await proxy(), await proxy()];
  const mq = await connected([first.url, second.url]);
  expect(both(mq)).toEqual([placeOf(first.url), placeOf(first.url)]);
  await first.close();
  await expect.poll(() => both(mq)).toEqual([placeOf(second.url), placeOf(second.url)]);
});
