import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { answers, services } from '../services.mjs';

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
