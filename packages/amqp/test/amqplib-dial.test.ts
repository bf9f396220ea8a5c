import { createServer, type Server, type Socket } from 'node:net';
import { ConnectError, type DialRequest } from '@acemq/core';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { amqplibTransport } from '../src/amqplib/index.ts';
import { listen, methodFrame } from './amqplib-proxy.ts';

const servers: Server[] = [];
const sockets = new Set<Socket>();

/** A server that does something with each connection. Its sockets stay in `sockets` while they are open. */
async function serve(accept: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    // Reads, so that the end of the other side is seen.
    socket.on('data', () => {});
    accept(socket);
  });
  servers.push(server);
  return `amqp://user:s3cret@127.0.0.1:${await listen(server)}`;
}

async function failureOf(url: string, more: Partial<DialRequest> = {}): Promise<Error> {
  const events = { lost() {}, blocked() {}, unblocked() {} };
  const request = { name: 'dial test', endpoint: 0, timeout: 10_000, heartbeat: 0, events, ...more };
  const link = amqplibTransport(url).dial(request);
  const error = await link.then(
    () => undefined,
    (failure: Error) => failure,
  );
  if (error === undefined) throw new Error('it was dialled');
  expect(error.message).not.toContain('s3cret');
  return error;
}

/** That nothing is left open on the side that answered. */
async function allGone(): Promise<void> {
  await vi.waitFor(() => expect(sockets.size).toBe(0), { timeout: 5000 });
}

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

describe('a dial', () => {
  it('that nobody answers is a retryable error that says so', async () => {
    const url = await serve(() => {});
    const server = servers.pop() as Server;
    await new Promise((resolve) => server.close(resolve));
    const error = await failureOf(url);
    expect(error).toBeInstanceOf(ConnectError);
    expect(error).toMatchObject({ refused: false, retryable: true });
    expect(error.message).toContain('ECONNREFUSED');
  });

  it('to a host that says nothing ends at its bound, and leaves no socket', async () => {
    const url = await serve(() => {});
    const started = performance.now();
    const error = await failureOf(url, { timeout: 200 });
    expect(performance.now() - started).toBeLessThan(600);
    expect(error).toMatchObject({ refused: false, retryable: true });
    expect(error.message).toContain('no answer within 200 ms');
    await allGone();
  });

  it('that stops half-way through the handshake ends at its bound too', async () => {
    const start = Buffer.concat([
      Buffer.from([0, 9, 0, 0, 0, 0]),
      Buffer.from([0, 0, 0, 5]),
      Buffer.from('PLAIN'),
      Buffer.from([0, 0, 0, 5]),
      Buffer.from('en_US'),
    ]);
    const url = await serve((socket) => socket.write(methodFrame(0, 10, 10, start)));
    const error = await failureOf(url, { timeout: 200 });
    expect(error.message).toContain('no answer within 200 ms');
    await allGone();
  });

  it('waits for credentials within the same bound', async () => {
    const never = amqplibTransport('amqp://127.0.0.1:1', { credentials: () => new Promise(() => {}) });
    const events = { lost() {}, blocked() {}, unblocked() {} };
    const request = { name: 'x', endpoint: 0, timeout: 100, heartbeat: 0, events };
    await expect(never.dial(request)).rejects.toMatchObject({ code: 'ACEMQ_CONNECT_FAILED' });
    const failing = amqplibTransport('amqp://127.0.0.1:1', {
      credentials: () => {
        throw new Error('vault is sealed');
      },
    });
    const error = await failing.dial(request).catch((failure: Error) => failure);
    expect(error).toMatchObject({ code: 'ACEMQ_CONNECT_FAILED', cause: new Error('vault is sealed') });
  });

  it('is ended by its signal, before and while it dials', async () => {
    const reason = new Error('shutting down');
    const url = await serve(() => {});
    const before = await failureOf(url, { signal: AbortSignal.abort(reason) });
    expect(before).toMatchObject({ code: 'ACEMQ_CONNECT_FAILED', cause: reason });
    const controller = new AbortController();
    const dialling = failureOf(url, { signal: controller.signal });
    await vi.waitFor(() => expect(sockets.size).toBeGreaterThan(0));
    controller.abort(reason);
    expect(await dialling).toMatchObject({ code: 'ACEMQ_CONNECT_FAILED', cause: reason });
    await allGone();
  });

  it.each([
    ['ends at once', ''],
    ['speaks HTTP', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['speaks SSH', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['speaks another version of AMQP', 'AMQP\x01\x01\x00\x09'],
  ])('to a host that %s is a retryable error, and leaves no socket', async (_, words) => {
    const url = await serve((socket) => socket.end(Buffer.from(words, 'latin1')));
    const error = await failureOf(url);
    expect(error).toBeInstanceOf(ConnectError);
    expect(error).toMatchObject({ refused: false, retryable: true });
    await allGone();
  });

  it('survives whatever a host says', async () => {
    let said = new Uint8Array();
    const url = await serve((socket) => socket.end(said));
    const uncaught: unknown[] = [];
    const note = (error: unknown): void => void uncaught.push(error);
    process.on('uncaughtException', note);
    try {
      const bytes = fc.uint8Array({ maxLength: 64 });
      const frame = fc
        .tuple(fc.constantFrom(10, 20, 60), fc.nat(60), bytes)
        .map(([classId, methodId, args]) => methodFrame(0, classId, methodId, Buffer.from(args)));
      await fc.assert(
        fc.asyncProperty(fc.oneof(bytes, frame), async (text) => {
          said = new Uint8Array(text);
          expect(await failureOf(url, { timeout: 2000 })).toBeInstanceOf(ConnectError);
        }),
        { numRuns: 200 },
      );
      expect(uncaught).toEqual([]);
    } finally {
      process.off('uncaughtException', note);
    }
    await allGone();
  });
});
