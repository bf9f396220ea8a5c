import { ConnectError, type DialRequest } from '@acemq/core';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { amqplibTransport } from '../src/amqplib/index.ts';
import { methodFrame } from './amqplib-proxy.ts';
import {
  CONNECTION_START,
  muteServer,
  otherProtocolServer,
  refusingServer,
  type StubServer,
  stubServer,
} from './faults/stubs.ts';

const stubs: StubServer[] = [];

/** Keeps a stub until the test has ended, and gives its URL. */
async function serve(stub: Promise<StubServer>): Promise<string> {
  stubs.push(await stub);
  return (await stub).url;
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

function openSockets(): number {
  return stubs.reduce((sum, stub) => sum + stub.open, 0);
}

/** That nothing is left open on the side that answered. */
async function allGone(): Promise<void> {
  await vi.waitFor(() => expect(openSockets()).toBe(0), { timeout: 5000 });
}

afterEach(async () => {
  await Promise.all(stubs.splice(0).map((stub) => stub.close()));
});

describe('a dial', () => {
  it('that nobody answers is a retryable error that says so', async () => {
    const url = await serve(muteServer());
    await stubs[0]?.close();
    const error = await failureOf(url);
    expect(error).toBeInstanceOf(ConnectError);
    expect(error).toMatchObject({ refused: false, retryable: true });
    expect(error.message).toContain('ECONNREFUSED');
  });

  it('to a host that says nothing ends at its bound, and leaves no socket', async () => {
    const url = await serve(muteServer());
    const started = performance.now();
    const error = await failureOf(url, { timeout: 200 });
    expect(performance.now() - started).toBeLessThan(600);
    expect(error).toMatchObject({ refused: false, retryable: true });
    expect(error.message).toContain('no answer within 200 ms');
    await allGone();
  });

  it('that stops half-way through the handshake ends at its bound too', async () => {
    const url = await serve(stubServer((socket) => socket.write(CONNECTION_START)));
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
    const url = await serve(muteServer());
    const before = await failureOf(url, { signal: AbortSignal.abort(reason) });
    expect(before).toMatchObject({ code: 'ACEMQ_CONNECT_FAILED', cause: reason });
    const controller = new AbortController();
    const dialling = failureOf(url, { signal: controller.signal });
    await vi.waitFor(() => expect(openSockets()).toBeGreaterThan(0));
    controller.abort(reason);
    expect(await dialling).toMatchObject({ code: 'ACEMQ_CONNECT_FAILED', cause: reason });
    await allGone();
  });

  it.each([
    ['ends at once', () => stubServer((socket) => socket.end())],
    ['speaks HTTP', () => otherProtocolServer('HTTP')],
    ['speaks SSH', () => otherProtocolServer('SSH')],
    ['speaks AMQP 1.0', () => otherProtocolServer('AMQP 1.0')],
    ['speaks another version of AMQP', () => otherProtocolServer('another AMQP')],
  ])('to a host that %s is a retryable error, and leaves no socket', async (_, open) => {
    const url = await serve(open());
    const error = await failureOf(url);
    expect(error).toBeInstanceOf(ConnectError);
    expect(error).toMatchObject({ refused: false, retryable: true });
    await allGone();
  });

  it('with TLS to a port without it says so in one line, without the names of files', async () => {
    const url = await serve(otherProtocolServer('SSH'));
    const error = await failureOf(url.replace('amqp:', 'amqps:'));
    expect(error).toMatchObject({ refused: false, retryable: true });
    expect(error.message).toMatch(
      /^cannot connect to amqps:\S+: .*wrong version number; what answers there does not speak TLS$/,
    );
    expect(error.message).not.toMatch(/\n|openssl\/|\.c:/);
    await allGone();
  });

  it('that is refused its password is an error for good, in the words of the broker', async () => {
    const url = await serve(refusingServer());
    const error = await failureOf(url);
    expect(error).toBeInstanceOf(ConnectError);
    expect(error).toMatchObject({ refused: true, retryable: false });
    expect(error.message).toContain('403 ACCESS_REFUSED - Login was refused');
    await allGone();
  });

  it('survives whatever a host says', async () => {
    let said = new Uint8Array();
    const url = await serve(stubServer((socket) => socket.end(said)));
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
