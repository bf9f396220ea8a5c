import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy before the broker that can cut the connections of chosen names. */
export interface NamedProxy {
  readonly url: string;
  /** Cuts both ends of every connection whose name this accepts. */
  cut(accepts: (name: string) => boolean): void;
  close(): Promise<void>;
}

const KEY = Buffer.from('connection_name');

/**
 * The name in the client properties that a connection begins with: a field of the table, its type `S`, four bytes of
 * length and the text.
 */
function nameIn(bytes: Buffer): string | undefined {
  const at = bytes.indexOf(KEY);
  if (at < 0) return undefined;
  const length = at + KEY.length + 1;
  return bytes.toString('utf8', length + 4, length + 4 + bytes.readUInt32BE(length));
}

/** Opens one on a free port of this machine, to the broker at `url`. */
export async function openNamedProxy(url: string): Promise<NamedProxy> {
  const target = new URL(url);
  const port = target.port === '' ? 5672 : Number(target.port);
  const names = new Map<Socket, string>();
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const broker = connect(port, target.hostname);
    for (const socket of [client, broker]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      // A cut is what this is for: the other end's complaint about it is no news.
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        names.delete(client);
        client.destroy();
        broker.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (!names.has(client)) {
        const name = nameIn(bytes);
        if (name !== undefined) names.set(client, name);
      }
      broker.write(bytes);
    });
    broker.on('data', (bytes) => client.write(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxied = new URL(url);
  proxied.hostname = '127.0.0.1';
  proxied.port = String((server.address() as AddressInfo).port);
  return {
    url: proxied.href,
    cut(accepts) {
      for (const [client, name] of names) if (accepts(name)) client.destroy();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
