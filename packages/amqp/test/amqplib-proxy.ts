import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Where the broker is. */
export const BROKER_URL: string = process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';

/** `connection.open-ok`, the last frame of the handshake. */
const OPEN_OK = Buffer.from([1, 0, 0, 0, 0, 0, 5, 0, 10, 0, 41, 0, 206]);

/** A frame with a method in it (AMQP 0-9-1, 2.3.5.1). */
export function methodFrame(
  channel: number,
  classId: number,
  methodId: number,
  args: Buffer = Buffer.alloc(0),
): Buffer {
  const frame = Buffer.alloc(12 + args.length);
  frame[0] = 1;
  frame.writeUInt16BE(channel, 1);
  frame.writeUInt32BE(4 + args.length, 3);
  frame.writeUInt16BE(classId, 7);
  frame.writeUInt16BE(methodId, 9);
  args.copy(frame, 11);
  frame[frame.length - 1] = 206;
  return frame;
}

export function shortText(text: string): Buffer {
  return Buffer.concat([Buffer.from([Buffer.byteLength(text)]), Buffer.from(text)]);
}

/** The arguments of `connection.close` and `channel.close`. */
function closeArguments(code: number, text: string): Buffer {
  const head = Buffer.alloc(2);
  head.writeUInt16BE(code);
  return Buffer.concat([head, shortText(text), Buffer.alloc(4)]);
}

/** The broker's way to end the connection. */
export function connectionClose(code: number, text: string): Buffer {
  return methodFrame(0, 10, 50, closeArguments(code, text));
}

/** The broker's way to end one channel. */
export function channelClose(channel: number, code: number, text: string): Buffer {
  return methodFrame(channel, 20, 40, closeArguments(code, text));
}

/** The broker's way to end one consumer, which leaves the channel open. */
export function basicCancel(channel: number, tag: string): Buffer {
  return methodFrame(channel, 60, 30, Buffer.concat([shortText(tag), Buffer.from([1])]));
}

/** The broker's way to say that a consumer has begun. */
export function consumeOk(channel: number, tag: string): Buffer {
  return methodFrame(channel, 60, 21, shortText(tag));
}

/** What stands between a client and the broker, and can say things in the broker's place. */
export interface BrokerProxy {
  readonly url: string;
  /** Client sockets that are open. */
  readonly clients: ReadonlySet<Socket>;
  /** Written to the client in place of the last frame of the handshake. */
  insteadOfOpen: Buffer | undefined;
  /** Written to the client in one piece with the last frame of the handshake. */
  afterOpen: Buffer | undefined;
  /** Ends the client's socket right after that. */
  endAfterOpen: boolean;
  /** What is said in one piece with the first of these bytes that the broker says, right after them. */
  after: { readonly bytes: Buffer; readonly say: Buffer } | undefined;
  /** Passes nothing on, either way. */
  frozen: boolean;
  /** Passes on nothing of what the broker says; the broker goes on hearing the client, and does not end the link. */
  mute: boolean;
  /** Says it to every client in the broker's place. To be used while the broker is silent. */
  say(bytes: Buffer): void;
  close(): Promise<void>;
}

export async function openProxy(brokerUrl: string = BROKER_URL): Promise<BrokerProxy> {
  const clients = new Set<Socket>();
  const sockets = new Set<Socket>();
  const target = new URL(brokerUrl);
  const brokerPort = Number(target.port === '' ? 5672 : target.port);
  const brokerHost = target.hostname;
  const follow = (bytes: Buffer): Buffer => {
    const { after } = proxy;
    const at = after === undefined ? -1 : bytes.indexOf(after.bytes);
    if (after === undefined || at < 0) return bytes;
    proxy.after = undefined;
    const end = at + after.bytes.length;
    return Buffer.concat([bytes.subarray(0, end), after.say, bytes.subarray(end)]);
  };
  const server = createServer((client) => {
    const broker = connect(brokerPort, brokerHost);
    clients.add(client);
    for (const socket of [client, broker]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    client.on('data', (bytes) => {
      if (!proxy.frozen) broker.write(bytes);
    });
    broker.on('data', (bytes) => {
      if (proxy.frozen || proxy.mute) return;
      const opens = bytes.includes(OPEN_OK);
      const heard = follow(bytes);
      const said = opens && proxy.insteadOfOpen !== undefined ? proxy.insteadOfOpen : heard;
      client.write(opens && proxy.afterOpen !== undefined ? Buffer.concat([said, proxy.afterOpen]) : said);
      if (opens && proxy.endAfterOpen) client.end();
    });
    client.on('close', () => {
      clients.delete(client);
      broker.destroy();
    });
    broker.on('close', () => client.destroy());
  });
  const port = await listen(server);
  target.port = String(port);
  target.hostname = '127.0.0.1';
  const proxy: BrokerProxy = {
    url: target.href,
    clients,
    insteadOfOpen: undefined,
    afterOpen: undefined,
    endAfterOpen: false,
    after: undefined,
    frozen: false,
    mute: false,
    say(bytes) {
      for (const client of clients) client.write(bytes);
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

/** Listens on a port of this machine that is free. */
export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
