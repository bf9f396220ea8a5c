import { createServer, type Socket } from 'node:net';
import { connectionClose, listen, methodFrame, shortText } from '../amqplib-proxy.ts';

/** A server that is no broker. */
export interface StubServer {
  /** With a user and a password, `s3cret`, which must not be seen anywhere. */
  readonly url: string;
  readonly port: number;
  /** How many connections it has accepted. */
  readonly accepted: number;
  /** Its sockets that are open. */
  readonly open: number;
  /** Resolves when it listens no more and no socket is left. */
  close(): Promise<void>;
}

/** A server that does something with each connection, and reads what it is sent. */
export async function stubServer(accept: (socket: Socket) => void): Promise<StubServer> {
  const sockets = new Set<Socket>();
  let accepted = 0;
  const server = createServer((socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    // Reads, so that the end of the other side is seen.
    socket.on('data', () => {});
    accept(socket);
  });
  const port = await listen(server);
  return {
    url: `amqp://user:s3cret@127.0.0.1:${port}`,
    port,
    get accepted() {
      return accepted;
    },
    get open() {
      return sockets.size;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Accepts connections and never speaks. */
export function muteServer(): Promise<StubServer> {
  return stubServer(() => {});
}

function long(bytes: Buffer | string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, Buffer.from(bytes)]);
}

/** As RabbitMQ does, the server says that it will tell why it refuses a password. */
const CAPABILITIES: Buffer = long(
  Buffer.concat([shortText('authentication_failure_close'), Buffer.from('t\x01')]),
);
const PROPERTIES: Buffer = long(Buffer.concat([shortText('capabilities'), Buffer.from('F'), CAPABILITIES]));

/** `connection.start`, with which a broker answers the protocol header. */
export const CONNECTION_START: Buffer = methodFrame(
  0,
  10,
  10,
  Buffer.concat([Buffer.from([0, 9]), PROPERTIES, long('PLAIN'), long('en_US')]),
);

/** Answers as a broker does up to the password, and refuses that, in RabbitMQ's words, whatever it is. */
export function refusingServer(): Promise<StubServer> {
  const refusal =
    'ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile.';
  return stubServer((socket) => {
    socket.once('data', () => {
      socket.write(CONNECTION_START);
      socket.once('data', () => {
        socket.write(connectionClose(403, refusal));
        socket.once('data', () => socket.end());
      });
    });
  });
}

/** A protocol that a broker does not speak. */
export type OtherProtocol = 'HTTP' | 'SSH' | 'AMQP 1.0' | 'another AMQP';

/** What servers of other protocols say to a client that begins with AMQP 0-9-1. */
const OTHER_PROTOCOLS: Readonly<Record<OtherProtocol, string>> = Object.freeze({
  HTTP: 'HTTP/1.1 400 Bad Request\r\n\r\n',
  SSH: 'SSH-2.0-OpenSSH_9.2\r\n',
  'AMQP 1.0': 'AMQP\x00\x01\x00\x00',
  'another AMQP': 'AMQP\x01\x01\x00\x09',
});

/** Says the words of another protocol to everybody, and hangs up. */
export function otherProtocolServer(protocol: OtherProtocol): Promise<StubServer> {
  return stubServer((socket) => socket.end(Buffer.from(OTHER_PROTOCOLS[protocol], 'latin1')));
}
