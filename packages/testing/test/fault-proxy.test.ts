import { createServer } from 'node:net';
import { ConfigurationError, ConnectionClosedError } from '@acemq/core';
import { describe, expect, it } from 'vitest';
import { faultProxy } from '../src/index.ts';
import {
  endings,
  frame,
  listening,
  PROTOCOL_HEADER,
  refusalAt,
  stage,
  startOk,
  until,
} from './fault-stage.ts';

describe('a fault proxy', () => {
  it('has the URL of its target but for host and port, and passes everything on both ways', async () => {
    const { proxy, dial } = await stage();
    expect(proxy.url).toBe(`amqp://user:s3cret@127.0.0.1:${proxy.port}/orders`);
    const { client, broker, connection } = await dial();
    client.socket.write('question');
    await until(() => expect(broker.received().toString()).toBe('question'));
    broker.socket.write('answer!');
    await until(() => expect(client.received().toString()).toBe('answer!'));
    expect(connection).toMatchObject({ id: 1, open: true, bytes: { toBroker: 8, toClient: 7 } });
    expect(proxy.accepted).toBe(1);
  });

  it('passes an orderly end on as one, and lets the other direction go on', async () => {
    const { proxy, dial } = await stage();
    const { client, broker, connection } = await dial();
    client.socket.end('last words');
    await until(() => expect(broker.ended()).toBe('fin'));
    expect(broker.received().toString()).toBe('last words');
    broker.socket.end('farewell');
    await until(() => expect(client.ended()).toBe('fin'));
    expect(client.received().toString()).toBe('farewell');
    await until(() => expect(connection.open).toBe(false));
    expect(proxy.connections).toEqual([]);
  });

  it('passes a reset on as one, either way', async () => {
    const { dial } = await stage();
    const one = await dial();
    one.client.socket.resetAndDestroy();
    await until(() => expect(one.broker.ended()).toBe('rst'));
    const two = await dial();
    two.broker.socket.resetAndDestroy();
    await until(() => expect(two.client.ended()).toBe('rst'));
    await until(() => expect([one.connection.open, two.connection.open]).toEqual([false, false]));
  });

  it('resets in the instant of an orderly end too, and leaves no socket', async () => {
    const { proxy, dial } = await stage();
    const { client, broker, connection } = await dial();
    connection.cut({ how: 'fin' });
    connection.cut();
    await until(() => expect(connection.open).toBe(false));
    expect([client.ended(), broker.ended()]).not.toContain(undefined);
    await proxy.close();
  });

  it('resets a client whose broker is not there', async () => {
    const server = createServer();
    const port = await listening(server);
    await new Promise((resolve) => server.close(resolve));
    const proxy = await faultProxy(`amqp://127.0.0.1:${port}`);
    endings.push(() => proxy.close());
    expect(await refusalAt(proxy.port)).toBe('rst');
    await until(() => expect(proxy.connections).toEqual([]));
  });

  it('leaves no socket open after close, whatever state they were in', async () => {
    const { proxy, dial, open } = await stage();
    await dial();
    const frozen = await dial();
    frozen.connection.freeze();
    const half = await dial();
    half.connection.cut({ side: 'client' });
    const ending = await dial();
    ending.client.socket.end();
    await until(() => expect(ending.broker.ended()).toBe('fin'));
    await proxy.close();
    expect(proxy.connections).toEqual([]);
    expect(await refusalAt(proxy.port)).toBe('ECONNREFUSED');
    await until(() => expect([frozen.client.ended(), ending.client.ended()]).toEqual(['fin', 'fin']));
    for (const { client } of [frozen, half, ending]) client.socket.destroy();
    expect(await open()).toBeGreaterThan(0); // the broker's own halves, which only the broker can end
    await proxy[Symbol.asyncDispose]();
    await expect(proxy.accept()).rejects.toBeInstanceOf(ConnectionClosedError);
  });
});

describe('a proxy that refuses', () => {
  it('turns new connections away and keeps those that are open, until it accepts again on the same port', async () => {
    const { proxy, dial } = await stage();
    const { client, broker } = await dial();
    const { port } = proxy;
    proxy.refuse();
    expect(await refusalAt(port)).toBe('ECONNREFUSED');
    client.socket.write('still open');
    await until(() => expect(broker.received().toString()).toBe('still open'));
    await proxy.accept();
    await proxy.accept();
    expect(proxy.port).toBe(port);
    const again = await dial();
    expect(again.connection.id).toBe(2);
  });

  it('before it listens again does not listen', async () => {
    const { proxy } = await stage();
    proxy.refuse();
    const accepting = proxy.accept();
    proxy.refuse();
    await accepting;
    expect(await refusalAt(proxy.port)).toBe('ECONNREFUSED');
  });

  it('rejects when another has taken its port', async () => {
    const { proxy } = await stage();
    const { port } = proxy;
    proxy.refuse();
    const thief = await faultProxy('amqp://127.0.0.1:1', { port });
    endings.push(() => thief.close());
    await expect(proxy.accept()).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});

describe('a listener', () => {
  it('is told of each connection before anything passes, and can choose among them', async () => {
    const { proxy, dial } = await stage();
    const seen: number[] = [];
    const end = proxy.onConnection((connection) => {
      seen.push(connection.id);
      if (connection.id === 2) connection.cutAtByte('toBroker', 1);
    });
    const one = await dial();
    const two = await dial();
    end();
    await dial();
    for (const { client } of [one, two]) client.socket.write('ab');
    await until(() => expect(two.client.ended()).toBe('rst'));
    await until(() => expect(one.broker.received().toString()).toBe('ab'));
    expect([two.broker.received().toString(), seen]).toEqual(['a', [1, 2]]);
  });

  it('is told the name of a connection before the frame with it has passed', async () => {
    const { proxy, dial } = await stage();
    const named: unknown[] = [];
    proxy.onNamed((connection) => {
      named.push([connection.name, connection.frames.toBroker]);
      if (connection.name === 'shipping consume') connection.cutAfterFrame('toBroker', 1);
    });
    const one = await dial();
    const two = await dial();
    const hello = Buffer.concat([PROTOCOL_HEADER, startOk('shipping consume')]);
    one.client.socket.write(Buffer.concat([PROTOCOL_HEADER, startOk('shipping publish'), frame(5)]));
    await until(() => expect(one.connection.frames.toBroker).toBe(2));
    two.client.socket.setNoDelay(true);
    for (const byte of Buffer.concat([hello, frame(5)])) {
      if (two.client.socket.writable) two.client.socket.write(Buffer.from([byte]));
    }
    await until(() => expect(two.client.ended()).toBe('rst'));
    expect(two.broker.received()).toEqual(hello);
    expect(named).toEqual([
      ['shipping publish', 0],
      ['shipping consume', 0],
    ]);
    expect(proxy.connections.map(({ name }) => name)).toEqual(['shipping publish']);
  });
});

describe('a value that it does not take', () => {
  it.each([
    ['a URL of something else', 'http://user:s3cret@127.0.0.1', {}],
    ['no URL', 'user:s3cret', {}],
    ['a port out of range', 'amqp://127.0.0.1', { port: 65_536 }],
    ['an unknown option', 'amqp://127.0.0.1', { prot: 1 } as object],
  ])('rejects: %s', async (_, url, options) => {
    const error: unknown = await faultProxy(url, options).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(`${error}`).not.toContain('s3cret');
  });

  it('throws, and says what is allowed', async () => {
    const { proxy, dial } = await stage();
    const { connection } = await dial();
    for (const on of [proxy, connection]) {
      expect(() => on.delay(-1)).toThrow('delay: -1 is not a number of milliseconds of 0 or more');
      expect(() => on.delay(Number.NaN)).toThrow(ConfigurationError);
      expect(() => on.limit(0)).toThrow('limit: 0 is not a number of bytes a second above 0');
      expect(() => on.cutAtByte('toBroker', 0)).toThrow('cutAtByte: 0 is not an integer of 1 or more');
      expect(() => on.cutAfterFrame('toClient', 1.5)).toThrow(ConfigurationError);
      expect(() => on.cutAfterFrame('both' as 'toClient', 1)).toThrow(
        "'both' is not 'toBroker' or 'toClient'",
      );
      expect(() => on.freeze('up' as 'toClient')).toThrow("'up' is not 'toBroker', 'toClient' or 'both'");
      expect(() => on.cut({ how: 'kill' as 'rst' })).toThrow("how: 'kill' is not 'rst' or 'fin'");
      expect(() => on.cut({ side: 'left' as 'client' })).toThrow("side: 'left' is not");
      expect(() => on.cut({ hwo: 'rst' } as object)).toThrow("unknown option 'hwo'; it takes how, side");
    }
    expect(connection.open).toBe(true);
  });

  it('throws for a cut by frames that it cannot see', async () => {
    const proxy = await faultProxy('amqps://127.0.0.1');
    endings.push(() => proxy.close());
    expect(() => proxy.cutAfterFrame('toBroker', 1)).toThrow('allowed: cutAtByte');
  });
});
