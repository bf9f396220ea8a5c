import { chmodSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { answers, findPrograms, missingModules, programs, rabbitmqServer, services } from '../services.mjs';

const rabbitmq = services.find(({ name }) => name === 'RabbitMQ');
if (rabbitmq === undefined) throw new Error('RabbitMQ is not in the table.');

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A server that does this with each connection; its URL. */
async function serve(onConnection: (socket: Socket) => void): Promise<string> {
  const server = createServer(onConnection);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `amqp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a server that opens an AMQP connection answers', async () => {
  const url = await serve((socket) => {
    socket.once('data', (bytes) => {
      if (bytes.toString('latin1') === 'AMQP\0\0\x09\x01')
        socket.end(Buffer.from([1, 0, 0, 0, 0, 1, 0, 10, 0, 10]));
    });
  });
  expect(await answers(rabbitmq, url)).toBe(true);
});

test('a server that speaks something else does not answer', async () => {
  const url = await serve((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  expect(await answers(rabbitmq, url)).toBe(false);
});

test('a server that hangs up does not answer', async () => {
  const url = await serve((socket) => socket.destroy());
  expect(await answers(rabbitmq, url)).toBe(false);
});

test('a port where nothing listens does not answer', async () => {
  const url = await serve(() => undefined);
  await new Promise((resolve) => servers.splice(0)[0]?.close(resolve));
  expect(await answers(rabbitmq, url)).toBe(false);
});

describe('a program that tests start', () => {
  const wanted = [{ name: 'a-broker', variable: 'A_BROKER', folders: [] as string[], files: /x/ }];
  let folder: string;

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'programs-')));
    vi.stubEnv('PATH', folder);
    vi.stubEnv('A_BROKER', undefined);
  });

  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  function install(path: string): string {
    writeFileSync(path, '#!/bin/sh\n');
    chmodSync(path, 0o755);
    return path;
  }

  test('is found on the path, by way of a link', () => {
    const script = install(join(folder, 'the-script'));
    symlinkSync(script, join(folder, 'a-broker'));
    expect(findPrograms(wanted)).toEqual([]);
    expect(process.env['A_BROKER']).toBe(script);
  });

  test('is looked for in its own folders first', () => {
    install(join(folder, 'a-broker'));
    const own = mkdtempSync(join(folder, 'own-'));
    const script = install(join(own, 'a-broker'));
    expect(findPrograms(wanted.map((one) => ({ ...one, folders: [own] })))).toEqual([]);
    expect(process.env['A_BROKER']).toBe(script);
  });

  test('is missing where there is none', () => {
    expect(findPrograms(wanted)).toEqual(wanted);
    expect(process.env['A_BROKER']).toBeUndefined();
  });

  test('that a variable names must be one that can be run', () => {
    vi.stubEnv('A_BROKER', install(join(folder, 'elsewhere')));
    expect(findPrograms(wanted)).toEqual([]);
    vi.stubEnv('A_BROKER', join(folder, 'nowhere'));
    expect(() => findPrograms(wanted)).toThrow('A_BROKER');
  });

  test('is asked for by the names of the files that need it, and no others', () => {
    const files = ['a/node.fault.test.ts', 'a/node.broker.test.ts', 'a/node.test.ts', 'a/fault.test.ts'];
    expect(files.filter((file) => rabbitmqServer.files.test(file))).toEqual(['a/node.fault.test.ts']);
  });
});

test('a file that needs several things says each of them in its name', () => {
  const needed = (file: string): string[] =>
    [...services, ...programs].filter(({ files }) => files.test(file)).map(({ name }) => name);
  expect(needed('a/kill.broker.fault.test.ts')).toEqual(['RabbitMQ', 'rabbitmq-server']);
  expect(needed('a/rules.promtool.broker.test.ts')).toEqual(['RabbitMQ', 'promtool']);
  expect(needed('a/scrape.prometheus.test.ts')).toEqual(['prometheus']);
  expect(needed('broker/test/fault.test.ts')).toEqual([]);
});

test.each(services)('$name is not taken for a mail server', async (service) => {
  const url = await serve((socket) => socket.end('220 a mail server\r\n'));
  const { port } = new URL(url);
  const elsewhere = new URL(service.url);
  elsewhere.port = port;
  expect(await answers(service, elsewhere.href)).toBe(false);
});

test('a module that is not installed is missing', () => {
  const absent = { name: 'no-such-module', files: /x/ };
  expect(missingModules([absent])).toEqual([absent]);
});
