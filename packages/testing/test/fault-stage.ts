import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, vi } from 'vitest';
import { type FaultConnection, type FaultProxy, type FaultProxyOptions, faultProxy } from '../src/index.ts';

export const PROTOCOL_HEADER: Buffer = Buffer.from('AMQP\0\0\x09\x01', 'latin1');
/** Bytes offered to a socket that ought to take fewer. */
export const MANY: number = 64 * 1024 * 1024;

/** One end of a TCP connection, and what it has seen. */
interface End {
  readonly socket: Socket;
  readonly received: () => Buffer;
  /** `fin`, `rst`, or nothing yet. */
  readonly ended: () => string | undefined;
}

/** Waits for a condition: looked at every few milliseconds, so that a file of short waits is short. */
export function until<T>(condition: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(condition, { interval: 4, timeout: 5000 });
}

/** What is to be ended after the test, the last first. */
export const endings: (() => Promise<unknown> | unknown)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

function watched(socket: Socket, reads = true): End {
  const chunks: Buffer[] = [];
  let ended: string | undefined;
  if (reads) socket.on('data', (bytes) => chunks.push(bytes));
  socket.on('end', () => {
    ended ??= 'fin';
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    ended ??= error.code === 'ECONNRESET' ? 'rst' : error.code;
  });
  return { socket, received: () => Buffer.concat(chunks), ended: () => ended };
}

/** A proxy, and the ends of the connections that go through it. */
interface Stage {
  readonly proxy: FaultProxy;
  /** The broker's ends, in the order of their connections. */
  readonly brokers: End[];
  /** The broker's own sockets that are open. */
  readonly open: () => Promise<number>;
  dial(): Promise<{ client: End; broker: End; connection: FaultConnection }>;
}

/** A proxy before a server that does nothing by itself. */
export async function stage(options: FaultProxyOptions = {}, brokerReads = true): Promise<Stage> {
  const brokers: End[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) =>
    brokers.push(watched(socket, brokerReads)),
  );
  const port = await listening(server);
  endings.push(() => {
    for (const { socket } of brokers) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  const proxy = await faultProxy(`amqp://user:s3cret@127.0.0.1:${port}/orders`, options);
  endings.push(() => proxy.close());
  return {
    proxy,
    brokers,
    open: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
      ),
    async dial() {
      const earlier = brokers.length;
      const client = watched(connect({ host: '127.0.0.1', port: proxy.port, allowHalfOpen: true }));
      endings.push(() => client.socket.destroy());
      await until(() => expect(brokers.length).toBe(earlier + 1));
      return {
        client,
        broker: brokers[earlier] as End,
        connection: proxy.connections.at(-1) as FaultConnection,
      };
    },
  };
}

/** Listens on a free port of this machine. */
export async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** An AMQP frame with a payload of this size. */
export function frame(size: number, type = 1): Buffer {
  const bytes = Buffer.alloc(8 + size, 7);
  bytes[0] = type;
  bytes.writeUInt16BE(1, 1);
  bytes.writeUInt32BE(size, 3);
  bytes[7 + size] = 206;
  return bytes;
}

/** `connection.start-ok` of a client with this name, as far as its table. */
export function startOk(name: string): Buffer {
  const field = Buffer.concat([
    Buffer.from('\x0fconnection_nameS', 'latin1'),
    long(name.length),
    Buffer.from(name),
  ]);
  const payload = Buffer.concat([Buffer.from([0, 10, 0, 11]), long(field.length), field]);
  const bytes = frame(payload.length);
  bytes.writeUInt16BE(0, 1);
  payload.copy(bytes, 7);
  return bytes;
}

function long(n: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(n);
  return bytes;
}

/** How a connection to the port ends that nobody asked to. */
export async function refusalAt(port: number): Promise<string | undefined> {
  const end = watched(connect(port, '127.0.0.1'));
  endings.push(() => end.socket.destroy());
  await until(() => expect(end.ended()).toBeDefined());
  return end.ended();
}

/**
 * That both ends were reset. The one that got bytes just before may have been told of an orderly end: libuv
 * takes the hang-up for one when the bytes and the reset come in the same turn.
 */
export async function reset(without: End, afterBytes: End): Promise<void> {
  await until(() => expect([without.ended(), afterBytes.ended()]).toEqual(['rst', expect.any(String)]));
}

/** Writes until the socket takes no more for a while, and says how much it took. */
export async function fill(socket: Socket): Promise<number> {
  const piece = Buffer.alloc(65_536);
  while (socket.bytesWritten - socket.writableLength < MANY) {
    if (socket.write(piece)) continue;
    const took = await Promise.race([
      new Promise<boolean>((resolve) => socket.once('drain', () => resolve(true))),
      new Promise<boolean>((resolve) => setTimeout(resolve, 300, false)),
    ]);
    if (!took) break;
  }
  return socket.bytesWritten - socket.writableLength;
}
