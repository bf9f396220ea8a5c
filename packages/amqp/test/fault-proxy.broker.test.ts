import { randomUUID } from 'node:crypto';
import { type FaultConnection, type FaultProxy, faultProxy } from '@acemq/testing';
import { type ChannelModel, connect as connectRaw } from 'amqplib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connect } from '../src/index.ts';
import { BROKER_URL } from './amqplib-proxy.ts';

let proxy: FaultProxy;
let queue: string;
const models: ChannelModel[] = [];

beforeEach(async () => {
  proxy = await faultProxy(BROKER_URL);
  queue = `acemq-test-${randomUUID()}`;
});

afterEach(async () => {
  for (const model of models.splice(0)) await model.close();
  await proxy.close();
});

async function open(name: string): Promise<{ model: ChannelModel; connection: FaultConnection }> {
  const model = await connectRaw(proxy.url, { clientProperties: { connection_name: name } });
  model.on('error', () => {});
  models.push(model);
  const connection = proxy.connections.find((one) => one.name === name);
  if (connection === undefined) throw new Error('the proxy does not know the connection by its name');
  return { model, connection };
}

describe('a fault proxy before RabbitMQ', () => {
  it('knows a connection of amqplib by its name, and counts the frames of its handshake', async () => {
    const { connection } = await open('counted');
    // start-ok, tune-ok and open one way; start, tune and open-ok the other (AMQP 0-9-1, 2.2.4).
    expect(connection.frames).toEqual({ toBroker: 3, toClient: 3 });
  });

  it('passes bodies of many frames unharmed', async () => {
    const { model, connection } = await open('large');
    const channel = await model.createConfirmChannel();
    await channel.assertQueue(queue, { exclusive: true });
    const body = Buffer.from(Array.from({ length: 1_000_000 }, (_, n) => n % 253));
    channel.sendToQueue(queue, body);
    await channel.waitForConfirms();
    const got = await channel.get(queue, { noAck: true });
    expect(got !== false && got.content.equals(body)).toBe(true);
    expect(connection.bytes.toBroker).toBeGreaterThan(1_000_000);
    expect(connection.frames.toBroker).toBeGreaterThan(10);
  });

  it('cuts a handshake after any of its frames, either way', async () => {
    for (const direction of ['toBroker', 'toClient'] as const) {
      for (const n of [1, 2]) {
        proxy.cutAfterFrame(direction, n);
        await expect(connectRaw(proxy.url)).rejects.toThrow();
        proxy.cutAfterFrame(direction, undefined);
      }
    }
    await open('afterwards');
  });

  it('holds a confirm back while the way to the client is frozen', async () => {
    const { model, connection } = await open('frozen');
    const channel = await model.createConfirmChannel();
    await channel.assertQueue(queue, { exclusive: true });
    connection.freeze('toClient');
    let confirmed = false;
    channel.sendToQueue(queue, Buffer.from('x'), {}, () => {
      confirmed = true;
    });
    const { toBroker } = connection.frames;
    await vi.waitFor(() => expect(connection.frames.toBroker).toBe(toBroker + 3)); // publish, header, body
    expect(confirmed).toBe(false);
    connection.thaw();
    await vi.waitFor(() => expect(confirmed).toBe(true));
  });

  it('cuts one of the two links of a connection, which is restored through it', async () => {
    const mq = await connect(proxy.url, { name: 'proxied', reconnect: { initial: '10ms' } });
    const before = proxy.accepted;
    const publishing = proxy.connections.find(({ name }) => name === 'proxied publish');
    publishing?.cut();
    await vi.waitFor(() => expect(proxy.accepted).toBe(before + 1));
    expect(publishing?.open).toBe(false);
    await mq.close();
    await vi.waitFor(() => expect(proxy.connections).toEqual([]));
  });
});
