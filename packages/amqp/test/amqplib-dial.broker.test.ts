import { connect as connectTcp } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { ConfigurationError, ConnectError, type DialRequest, type Link } from '@acemq/core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type AmqplibOptions, amqplibTransport } from '../src/amqplib/index.ts';
import { frameMaxOf, socketOf } from '../src/amqplib/untyped.ts';
import { CERTIFICATE, PRIVATE_KEY } from './amqplib-certificate.ts';
import { BROKER_URL, type BrokerProxy, connectionClose, listen, openProxy } from './amqplib-proxy.ts';

const endings: (() => Promise<unknown> | unknown)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function proxied(): Promise<BrokerProxy> {
  const proxy = await openProxy();
  endings.push(() => proxy.close());
  return proxy;
}

async function dial(
  url: string,
  options: AmqplibOptions = {},
  more: Partial<DialRequest> = {},
): Promise<Link> {
  const events = { lost() {}, blocked() {}, unblocked() {} };
  const request = { name: 'dial test', endpoint: 0, timeout: 10_000, heartbeat: 20_000, events, ...more };
  const link = await amqplibTransport(url, options).dial(request);
  endings.push(() => link.close());
  return link;
}

async function failureOf(url: string, options: AmqplibOptions = {}): Promise<ConnectError> {
  const error: unknown = await dial(url, options).then(
    () => undefined,
    (failure) => failure,
  );
  expect(error).toBeInstanceOf(ConnectError);
  return error as ConnectError;
}

function brokerUrl(change: (url: URL) => void): string {
  const url = new URL(BROKER_URL);
  change(url);
  return url.href;
}

describe('a dial that the broker refuses', () => {
  it('for a wrong password is not retryable, and says what the broker says and not the password', async () => {
    const error = await failureOf(
      brokerUrl((url) => {
        url.password = 's3cret';
      }),
    );
    expect(error).toMatchObject({ refused: true, retryable: false, code: 'ACEMQ_CONNECT_REFUSED' });
    expect(error.message).toContain('403 ACCESS_REFUSED');
    expect(error.message).not.toContain('s3cret');
  });

  it('for a vhost that is not there is not retryable, and says what the broker says', async () => {
    const proxy = await proxied();
    const error = await failureOf(`${proxy.url.replace(/\/+$/, '')}/no-such-vhost`);
    expect(error).toMatchObject({ refused: true, retryable: false });
    expect(error.message).toMatch(/530 NOT_ALLOWED - .*vhost/);
    await vi.waitFor(() => expect(proxy.clients.size).toBe(0));
  });

  it('for a vhost that is down is retryable', async () => {
    const proxy = await proxied();
    proxy.insteadOfOpen = connectionClose(541, "INTERNAL_ERROR - access to vhost '/' refused: vhost is down");
    const error = await failureOf(proxy.url);
    expect(error).toMatchObject({ refused: false, retryable: true });
    expect(error.message).toContain('541 INTERNAL_ERROR');
    await vi.waitFor(() => expect(proxy.clients.size).toBe(0));
  });
});

describe('a dial that is cut off', () => {
  it.each([
    [
      'closes the connection with the last frame of the handshake',
      connectionClose(320, 'CONNECTION_FORCED - bye'),
      false,
    ],
    ['closes the socket with it', undefined, true],
    ['does both', connectionClose(320, 'CONNECTION_FORCED - bye'), true],
  ])('by a broker that %s is a retryable error', async (_, afterOpen, endAfterOpen) => {
    const proxy = await proxied();
    Object.assign(proxy, { afterOpen, endAfterOpen });
    expect(await failureOf(proxy.url)).toMatchObject({ refused: false, retryable: true });
    await vi.waitFor(() => expect(proxy.clients.size).toBe(0));
  });
});

describe('a dial', () => {
  it('asks for credentials every time, and takes the password as UTF-8', async () => {
    const { username, password } = new URL(BROKER_URL);
    const asked: number[] = [];
    const credentials = async (): Promise<{ username: string; password: string }> => {
      asked.push(asked.length);
      return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
    };
    const url = brokerUrl((each) => {
      each.password = 'wrong';
    });
    await dial(url, { credentials });
    await dial(url, { credentials });
    expect(asked).toEqual([0, 1]);
    const wrong = () => ({ username: 'x' }) as never;
    await expect(dial(url, { credentials: wrong })).rejects.toBeInstanceOf(ConfigurationError);
  });

  it('agrees on the frame size and the number of channels that the options name', async () => {
    const link = await dial(BROKER_URL, { frameMax: 4096, channelMax: 2 });
    await link.openPublishChannel({ closed() {} });
    const refused = link.openPublishChannel({ closed() {} });
    await expect(refused).rejects.toMatchObject({
      replyCode: 530,
      message: expect.stringContaining('channel'),
    });
    expect(link.open).toBe(true);
  });

  it('goes through TLS, and refuses a certificate that nobody vouches for', async () => {
    const target = new URL(BROKER_URL);
    const server = createTlsServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, (client) => {
      const broker = connectTcp(Number(target.port === '' ? 5672 : target.port), target.hostname);
      client.pipe(broker).pipe(client);
      for (const socket of [client, broker]) socket.on('error', () => socket.destroy());
    });
    const port = await listen(server);
    endings.push(() => new Promise((resolve) => server.close(resolve)));
    const url = `amqps://${target.username}:${target.password}@localhost:${port}`;
    const link = await dial(url, { tls: { ca: CERTIFICATE } });
    expect(await link.checkExchange('amq.topic')).toBe(true);
    link.destroy();
    expect(link.open).toBe(false);
    expect(await failureOf(url)).toMatchObject({ refused: false, retryable: true });
    expect(await failureOf(`${url}/no-such-vhost`, { tls: { ca: CERTIFICATE } })).toMatchObject({
      refused: true,
    });
  });
});

describe('what this adapter uses of amqplib and its types leave out', () => {
  it('is there in the version in use', async () => {
    const { connect } = await import('amqplib/callback_api');
    const model = await new Promise<Parameters<typeof socketOf>[0]>((resolve, reject) => {
      connect(BROKER_URL, (error, opened) => (error ? reject(error) : resolve(opened)));
    });
    endings.push(() => new Promise((resolve) => model.close(resolve)));
    expect(frameMaxOf(model)).toBe(131_072);
    expect(socketOf(model).writableNeedDrain).toBe(false);
    const channel = await new Promise<object>((resolve, reject) => {
      model.createConfirmChannel((error, opened) => (error ? reject(error) : resolve(opened)));
    });
    expect(channel).toHaveProperty('sendMessage', expect.any(Function));
  });
});
