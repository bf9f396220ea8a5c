import { createServer } from 'node:net';

/**
 * Below the ports that a system gives to outgoing connections, of which one could be taken while a broker is
 * down.
 */
const LOWEST = 20_000;
const HIGHEST = 29_999;

/** Two neighbouring ports on which nothing listens. */
export async function freePorts(): Promise<readonly [number, number]> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = LOWEST + 2 * Math.floor((Math.random() * (HIGHEST - LOWEST)) / 2);
    if ((await isFree(port)) && (await isFree(port + 1))) return [port, port + 1];
  }
  throw new Error(`no two free ports were found from ${LOWEST} to ${HIGHEST}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
