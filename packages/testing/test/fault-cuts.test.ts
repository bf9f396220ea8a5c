import { describe, expect, it } from 'vitest';
import { frame, PROTOCOL_HEADER, reset, stage, until } from './fault-stage.ts';

describe('a cut', () => {
  it.each(['rst', 'fin'] as const)('by %s is seen as that at both ends', async (how) => {
    const { proxy, dial } = await stage();
    const { client, broker, connection } = await dial();
    proxy.cut({ how });
    await until(() => expect([client.ended(), broker.ended()]).toEqual([how, how]));
    client.socket.end();
    broker.socket.end();
    await until(() => expect(connection.open).toBe(false));
  });

  it('of one connection leaves the others alone', async () => {
    const { proxy, dial } = await stage();
    const one = await dial();
    const two = await dial();
    one.connection.cut();
    await until(() => expect(one.client.ended()).toBe('rst'));
    two.client.socket.write('still here');
    await until(() => expect(two.broker.received().toString()).toBe('still here'));
    expect(proxy.connections.map(({ id }) => id)).toEqual([2]);
  });

  it('of the client alone leaves the broker with a connection of which it hears no more, until it ends it', async () => {
    const { dial } = await stage();
    const { client, broker, connection } = await dial();
    connection.cut({ side: 'client' });
    await until(() => expect(client.ended()).toBe('rst'));
    broker.socket.write('are you there?');
    expect([broker.ended(), connection.open]).toEqual([undefined, true]);
    broker.socket.end();
    await until(() => expect(connection.open).toBe(false));
  });

  it('of the broker alone leaves the client so', async () => {
    const { dial } = await stage();
    const { client, broker, connection } = await dial();
    connection.cut({ side: 'broker', how: 'fin' });
    await until(() => expect(broker.ended()).toBe('fin'));
    expect([client.ended(), connection.open]).toEqual([undefined, true]);
  });

  it('at the n-th byte passes on exactly n bytes, however they come', async () => {
    const { proxy, dial } = await stage();
    proxy.cutAtByte('toBroker', 10);
    const { client, broker, connection } = await dial();
    client.socket.write('1234567');
    await until(() => expect(broker.received().length).toBe(7));
    client.socket.write('890123456789');
    await reset(client, broker);
    expect(broker.received().toString()).toBe('1234567890');
    expect(connection.bytes.toBroker).toBe(10);
  });

  it('after the n-th frame passes on exactly n frames that come in one piece', async () => {
    const { proxy, dial } = await stage();
    proxy.cutAfterFrame('toBroker', 2, { how: 'fin' });
    const { client, broker, connection } = await dial();
    const passed = Buffer.concat([PROTOCOL_HEADER, frame(3), frame(500)]);
    client.socket.write(Buffer.concat([passed, frame(0), frame(1)]));
    await until(() => expect([client.ended(), broker.ended()]).toEqual(['fin', 'fin']));
    expect(broker.received()).toEqual(passed);
    expect(connection.frames.toBroker).toBe(2);
  });

  it('after the n-th frame passes on exactly n frames that come byte by byte', async () => {
    const { proxy, dial } = await stage();
    proxy.cutAfterFrame('toClient', 3);
    const { client, broker, connection } = await dial();
    broker.socket.setNoDelay(true);
    const passed = Buffer.concat([frame(0, 8), frame(9), frame(2, 3)]);
    const all = Buffer.concat([passed, frame(4)]);
    for (let at = 0; at < all.length && broker.socket.writable; at += 1) {
      broker.socket.write(all.subarray(at, at + 1));
      await new Promise(setImmediate);
    }
    await reset(broker, client);
    expect(client.received()).toEqual(passed);
    expect(connection.frames).toEqual({ toBroker: 0, toClient: 3 });
  });

  it('that is set on a connection comes at once where its point has passed, and later where it has not', async () => {
    const { dial } = await stage();
    const one = await dial();
    one.client.socket.write(frame(1));
    await until(() => expect(one.connection.frames.toBroker).toBe(1));
    one.connection.cutAfterFrame('toBroker', 2);
    one.connection.cutAfterFrame('toBroker', undefined);
    one.client.socket.write(frame(1));
    await until(() => expect(one.broker.received().length).toBe(18));
    expect(one.connection.open).toBe(true);
    one.connection.cutAfterFrame('toBroker', 1);
    await until(() => expect(one.client.ended()).toBe('rst'));
  });

  it('that is set on the proxy is for later connections, until it is taken back', async () => {
    const { proxy, dial } = await stage();
    const before = await dial();
    proxy.cutAtByte('toClient', 1);
    const during = await dial();
    proxy.cutAtByte('toClient', undefined);
    const after = await dial();
    for (const { broker } of [before, during, after]) broker.socket.write('ab');
    await reset(during.broker, during.client);
    await until(() => expect(after.client.received().toString()).toBe('ab'));
    await until(() => expect(before.client.received().toString()).toBe('ab'));
    expect(during.client.received().toString()).toBe('a');
  });
});
