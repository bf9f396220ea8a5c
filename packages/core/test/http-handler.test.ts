import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ConfigurationError, type HttpAnswer, type HttpHandler, httpHandler } from '../src/index.ts';

const HELLO: HttpAnswer = { status: 200, contentType: 'text/plain; charset=utf-8', body: 'grüß dich\n' };
const LENGTH = String(Buffer.byteLength(HELLO.body));

interface Recorded {
  readonly handler: HttpHandler;
  readonly lines: unknown[][];
}

function recorded(answer: () => HttpAnswer | Promise<HttpAnswer>): Recorded {
  const lines: unknown[][] = [];
  const logger = { error: (...line: unknown[]) => void lines.push(line) };
  return { handler: httpHandler(answer, { name: 'hello', logger }), lines };
}

const hello = (): HttpHandler => recorded(() => HELLO).handler;

async function address(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An answer that the test lets go. */
function held(): { readonly answer: () => Promise<HttpAnswer>; readonly asked: () => number; go(): void } {
  let go: () => void = () => {};
  let asked = 0;
  const gate = new Promise<HttpAnswer>((resolve) => {
    go = () => resolve(HELLO);
  });
  const answer = (): Promise<HttpAnswer> => {
    asked += 1;
    return gate;
  };
  return { answer, asked: () => asked, go: () => go() };
}

describe('as a listener of node:http', () => {
  test('answers GET, on any path and with any query', async () => {
    const url = await address(createServer(hello()));
    const response = await fetch(`${url}/metrics?name[]=up&__proto__=1`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('content-length')).toBe(LENGTH);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.text()).toBe(HELLO.body);
  });

  test('answers HEAD without a body, with the length that GET would have', async () => {
    const url = await address(createServer(hello()));
    const response = await fetch(url, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe(LENGTH);
    expect(await response.text()).toBe('');
  });

  test.for(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])(
    'refuses %s, says what is allowed, and asks nobody',
    async (method) => {
      const answer = vi.fn(() => HELLO);
      const url = await address(createServer(recorded(answer).handler));
      const response = await fetch(url, {
        method,
        ...(method === 'POST' ? { body: 'x'.repeat(200_000) } : {}),
      });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('GET, HEAD');
      expect(await response.text()).toBe('only GET and HEAD\n');
      expect(answer).not.toHaveBeenCalled();
    },
  );

  test('serves HTTP/2 as well', async () => {
    const server = createHttp2Server(hello());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    onTestFinished(() => {
      client.close();
      server.close();
    });
    const stream = client.request({ ':path': '/' });
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect(headers).toMatchObject({ ':status': 200, 'content-length': LENGTH });
    expect(Buffer.concat(await stream.toArray()).toString()).toBe(HELLO.body);
  });

  test('leaves a client alone that has gone, and answers the next', async () => {
    const { answer, asked, go } = held();
    const { handler, lines } = recorded(answer);
    const closed: Promise<unknown>[] = [];
    const server = createServer((request, response) => {
      closed.push(once(response, 'close'));
      handler(request, response);
    });
    const url = await address(server);
    const socket = connectTcp(Number(new URL(url).port), '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await vi.waitFor(() => expect(asked()).toBe(1));
    socket.resetAndDestroy();
    await closed[0];
    go();
    expect(await (await fetch(url)).text()).toBe(HELLO.body);
    expect(lines).toEqual([]);
  });

  test('writes nothing where the request has been answered already', async () => {
    const { answer, asked, go } = held();
    const { handler, lines } = recorded(answer);
    const server = createServer((request, response) => {
      handler(request, response);
      response.writeHead(504).end('too late');
    });
    const url = await address(server);
    const response = await fetch(url);
    expect(response.status).toBe(504);
    go();
    expect(await response.text()).toBe('too late');
    await vi.waitFor(() => expect(asked()).toBe(1));
    expect(lines).toEqual([]);
  });

  test('survives a response that throws when it is written', async () => {
    const { handler, lines } = recorded(() => HELLO);
    const server = createServer((request, response) => {
      response.writeHead = () => {
        throw new Error('a wrapper that fails');
      };
      handler(request, response);
    });
    await expect(fetch(await address(server))).rejects.toThrow('fetch failed');
    expect(lines).toHaveLength(1);
  });

  test('lets nobody wait for a client that does not read its answer', async () => {
    const body = 'x'.repeat(4_000_000);
    const url = await address(createServer(recorded(() => ({ ...HELLO, body })).handler));
    const slow = connectTcp(Number(new URL(url).port), '127.0.0.1');
    onTestFinished(() => void slow.destroy());
    slow.pause();
    slow.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    expect((await (await fetch(url)).text()).length).toBe(body.length);
  });
});

describe('as a function from a Request to its Response', () => {
  test('answers GET', async () => {
    const response = await hello()(new Request('http://localhost/metrics?x=1'));
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': LENGTH,
      'cache-control': 'no-store',
    });
    expect(await response.text()).toBe(HELLO.body);
  });

  test('answers HEAD without a body, with the length that GET would have', async () => {
    const response = await hello()(new Request('http://localhost/', { method: 'HEAD' }));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe(LENGTH);
    expect(response.body).toBeNull();
  });

  test('refuses everything else', async () => {
    const response = await hello()(new Request('http://localhost/', { method: 'POST', body: 'x' }));
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD');
  });

  test('does not take the second argument of Bun, Deno or Next for a response of Node', async () => {
    const call = hello() as (request: Request, more: unknown) => Promise<Response>;
    for (const more of [undefined, null, {}, { params: {} }, { end: () => {} }, () => {}]) {
      expect((await call(new Request('http://localhost/'), more)).status).toBe(200);
    }
  });

  test.for([undefined, null, 'GET /', {}, { req: new Request('http://localhost/') }])(
    'rejects when it is called with %j, which is no request',
    async (given) => {
      const call = hello() as (request: unknown) => Promise<Response>;
      await expect(call(given)).rejects.toThrow(ConfigurationError);
      await expect(call(given)).rejects.toThrow('hello must be called with a Request');
    },
  );
});

test('what fails is a 500 that says nothing of it, and a line in the log until it works again', async () => {
  const errors = [new Error('secret 1'), new Error('secret 2'), undefined, new Error('secret 3')];
  const { handler, lines } = recorded(() => {
    const error = errors.shift();
    if (error !== undefined) throw error;
    return HELLO;
  });
  const url = await address(createServer(handler));
  const first = await fetch(url);
  expect(first.status).toBe(500);
  expect(await first.text()).toBe('no answer; the log says why\n');
  expect((await handler(new Request(url))).status).toBe(500);
  expect((await fetch(url)).status).toBe(200);
  expect((await fetch(url)).status).toBe(500);
  const words = 'hello could not answer a request; further failures in a row are not logged';
  expect(lines).toEqual([
    [words, { error: new Error('secret 1') }],
    [words, { error: new Error('secret 3') }],
  ]);
});

test('a log that throws does not cost the client its answer', async () => {
  const fail = (): never => {
    throw new Error('fails');
  };
  const handler = httpHandler(fail, { name: 'hello', logger: { error: fail } });
  expect((await handler(new Request('http://localhost/'))).status).toBe(500);
});

test('it fits where servers and frameworks ask for a function', async () => {
  const handler = hello();
  // What node:http, Express, Next, Bun and Deno declare.
  const fitting: [
    (request: IncomingMessage, response: ServerResponse) => void,
    (
      request: IncomingMessage,
      response: ServerResponse,
      next: (error?: unknown) => void,
    ) => void | Promise<void>,
    (request: Request, context: { readonly params: Promise<object> }) => Response | Promise<Response>,
    (this: object, request: Request, server: object) => Response | Promise<Response>,
  ] = [handler, handler, handler, handler];
  type FirstOf<Handler> = Handler extends (first: infer First) => unknown ? First : never;
  const inferred: FirstOf<HttpHandler> = new Request('http://localhost/');
  expect((await handler(inferred)).status).toBe(200);
  // Express takes a function of four parameters for one that handles errors.
  expect(fitting[0]).toHaveLength(2);
});

test('a response that always throws is logged once, and so is one that cannot be ended either', async () => {
  const { handler, lines } = recorded(() => HELLO);
  const broken = {
    headersSent: false,
    writableEnded: false,
    destroyed: false,
    writeHead: vi.fn(() => {
      throw new Error('compression');
    }),
    end: () => undefined,
    destroy: () => {
      throw new Error('destroyed before');
    },
  };
  for (const times of [1, 2, 3]) {
    handler({ method: 'GET' }, broken);
    await vi.waitFor(() => expect(broken.writeHead).toHaveBeenCalledTimes(times));
  }
  expect(lines).toHaveLength(1);
});
