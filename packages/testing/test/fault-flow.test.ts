import { describe, expect, it } from 'vitest';
import { manualClock } from '../src/index.ts';
import { fill, MANY, stage, until } from './fault-stage.ts';

describe('a freeze', () => {
  it('holds both directions, ends included, until the thaw', async () => {
    const { proxy, dial } = await stage();
    const { client, broker, connection } = await dial();
    proxy.freeze();
    client.socket.end('question');
    broker.socket.write('answer');
    const late = await dial();
    late.client.socket.write('anybody?');
    // What passes another proxy, sent later, shows that there was time enough.
    const other = await (await stage()).dial();
    other.client.socket.write('x');
    await until(() => expect(other.broker.received().length).toBe(1));
    expect(connection.bytes).toEqual({ toBroker: 0, toClient: 0 });
    expect([broker.ended(), late.connection.bytes.toBroker]).toEqual([undefined, 0]);
    proxy.thaw();
    await until(() => expect(broker.received().toString()).toBe('question'));
    await until(() => expect(client.received().toString()).toBe('answer'));
    await until(() => expect(late.broker.received().toString()).toBe('anybody?'));
    await until(() => expect(broker.ended()).toBe('fin'));
  });

  it.each([
    ['toBroker', 'toClient'],
    ['toClient', 'toBroker'],
  ] as const)('of %s leaves %s running', async (held, running) => {
    const { dial } = await stage();
    const { client, broker, connection } = await dial();
    connection.freeze(held);
    client.socket.write('question');
    broker.socket.write('an answer');
    await until(() => expect(connection.bytes[running]).toBe(running === 'toBroker' ? 8 : 9));
    expect(connection.bytes[held]).toBe(0);
    connection.thaw(held);
    await until(() => expect(connection.bytes).toEqual({ toBroker: 8, toClient: 9 }));
  });

  it('does not tell one side that the other was reset until the thaw', async () => {
    const { dial } = await stage();
    const { client, broker, connection } = await dial();
    connection.freeze('toBroker');
    client.socket.resetAndDestroy();
    broker.socket.write('x'.repeat(100_000));
    const other = await dial();
    other.client.socket.resetAndDestroy();
    await until(() => expect(other.broker.ended()).toBe('rst'));
    expect(broker.ended()).toBeUndefined();
    connection.thaw();
    await until(() => expect(broker.ended()).toBe('rst'));
    await until(() => expect(connection.open).toBe(false));
  });

  it('lets the socket of the sender fill up and keeps nearly nothing itself', async () => {
    const { dial } = await stage();
    const { client, connection } = await dial();
    connection.freeze();
    const before = process.memoryUsage().arrayBuffers;
    const taken = await fill(client.socket);
    // Far below what was offered: the rest is in the kernel's buffers, which end somewhere.
    expect(taken).toBeLessThan(MANY / 2);
    // Less than a direction may hold back for a delay: frozen, it does not read on.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(700_000);
    expect(connection.bytes.toBroker).toBe(0);
  });

  it('is no refuge from a cut', async () => {
    const { dial } = await stage();
    const { client, broker, connection } = await dial();
    connection.freeze();
    connection.cut();
    await until(() => expect([client.ended(), broker.ended()]).toEqual(['rst', 'rst']));
    expect(connection.open).toBe(false);
  });
});

describe('back-pressure', () => {
  it('of a broker that does not read reaches the client', async () => {
    const { dial } = await stage({}, false);
    const { client } = await dial();
    expect(await fill(client.socket)).toBeLessThan(MANY / 2);
  });
});

describe('a delay', () => {
  it('passes on what comes that much later, and its end too', async () => {
    const clock = manualClock();
    const { proxy, dial } = await stage({ clock });
    proxy.delay(200, 'toBroker');
    const { client, broker, connection } = await dial();
    client.socket.end('slow');
    broker.socket.write('fast');
    await until(() => expect(client.received().toString()).toBe('fast'));
    await until(() => expect(clock.timers).toBe(1));
    await clock.advance(199);
    expect(connection.bytes.toBroker).toBe(0);
    await clock.advance(1);
    await until(() => expect(broker.received().toString()).toBe('slow'));
    await until(async () => {
      await clock.advance(200);
      expect(broker.ended()).toBe('fin');
    });
  });

  it('that is taken back keeps the order of what is under way', async () => {
    const clock = manualClock();
    const { dial } = await stage({ clock });
    const { client, broker, connection } = await dial();
    connection.delay(50);
    client.socket.write('first ');
    await until(() => expect(clock.timers).toBe(1));
    connection.delay(0);
    client.socket.write('second');
    await clock.advance(49);
    expect(broker.received().length).toBe(0);
    await clock.advance(1);
    await until(() => expect(broker.received().toString()).toBe('first second'));
  });

  it('holds back no more than it may', async () => {
    const clock = manualClock();
    const { dial } = await stage({ clock });
    const { client, connection } = await dial();
    connection.delay(60_000);
    expect(await fill(client.socket)).toBeLessThan(MANY / 2);
    connection.cut();
    expect(clock.timers).toBe(0);
  });
});

describe('a limit', () => {
  it('passes on its bytes a second and none lost', async () => {
    const clock = manualClock();
    const { proxy, dial } = await stage({ clock });
    proxy.limit(1000, 'toBroker');
    const { client, broker, connection } = await dial();
    const sent = Buffer.from(Array.from({ length: 2500 }, (_, n) => n % 251));
    client.socket.write(sent);
    await until(() => expect(clock.timers).toBe(1));
    await clock.advance(1000);
    expect(connection.bytes.toBroker).toBeGreaterThan(850);
    expect(connection.bytes.toBroker).toBeLessThanOrEqual(1000);
    await clock.advance(1000);
    expect(connection.bytes.toBroker).toBeGreaterThan(1850);
    expect(connection.bytes.toBroker).toBeLessThanOrEqual(2000);
    connection.limit(undefined);
    await until(() => expect(broker.received()).toEqual(sent));
  });

  it('below ten bytes a second passes single bytes', async () => {
    const clock = manualClock();
    const { dial } = await stage({ clock });
    const { client, connection } = await dial();
    connection.limit(2);
    client.socket.write('abcdef');
    await until(() => expect(clock.timers).toBe(1));
    await clock.advance(499);
    expect(connection.bytes.toBroker).toBe(0);
    await clock.advance(1);
    expect(connection.bytes.toBroker).toBe(1);
    await clock.advance(2000);
    expect(connection.bytes.toBroker).toBe(5);
  });

  it('does not let a pause be made up for', async () => {
    const clock = manualClock();
    const { dial } = await stage({ clock });
    const { client, broker, connection } = await dial();
    connection.limit(1000);
    await clock.advance(60_000);
    client.socket.write(Buffer.alloc(5000));
    await until(() => expect(broker.received().length).toBe(100));
    expect(connection.bytes.toBroker).toBe(100);
  });
});
