import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { ConfigurationError } from '@acemq/core';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { BrokerHealth, type HealthHandlerOptions, healthHandler, healthReport } from '../src/index.ts';
import { answering, answeringAnything, failing, holding } from './checks.ts';

const ready = (method = 'GET'): Request => new Request('http://localhost/ready?verbose=1', { method });

/** A server on `node:http` that answers with the listener alone. */
async function serving(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/ready?x=1`;
}

describe('given a connection', () => {
  test.for([
    // status_code=200 if report.healthy else 503,
    ['up', '', 200],
    ['up', 'the broker has blocked this connection; publishing is paused', 200],
    ['degraded', 'these consumers have stopped reading: shipping.orders', 200],
    ['down', 'the broker did not answer within 3s', 503],
  ] as const)(
    'that is %s (%s), it answers its own status and detail, and %i',
    async ([status, detail, code]) => {
      const mq = { health: async () => healthReport(status, { detail, parts: { blocked: null } }) };
      const handler = healthHandler(mq);
      for (const response of [await handler(ready()), await fetch(await serving(handler))]) {
        expect(response.status).toBe(code);
        expect(response.headers.get('content-type')).toBe('application/json');
        expect(response.headers.get('cache-control')).toBe('no-store');
        // {"status": report.status.value, "detail": report.detail},
        expect(await response.json()).toEqual({ status, detail });
      }
    },
  );

  test('asks it with the time-out that it was given, and with three seconds otherwise', async () => {
    const mq = { health: vi.fn(async (_options: { readonly timeout: number }) => healthReport('up')) };
    await healthHandler(mq)(ready());
    await healthHandler(mq, { timeout: '10s' })(ready());
    expect(mq.health.mock.calls).toEqual([[{ timeout: 3_000 }], [{ timeout: 10_000 }]]);
  });

  test('answers that it is down where the connection fails or hangs', async () => {
    const broken = healthHandler({ health: () => Promise.reject(new Error('no')) });
    expect(await (await broken(ready())).json()).toEqual({
      status: 'down',
      detail: 'the check itself failed: Error: no',
    });
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const hanging = healthHandler({ health: () => new Promise(() => {}) });
    const asking = hanging(ready());
    await vi.advanceTimersByTimeAsync(5_001);
    const response = await asking;
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ status: 'down', detail: 'did not answer within 5s' });
  });
});

describe('given checks', () => {
  test('answers for all of them', async () => {
    const mq = { health: async () => healthReport('up') };
    const database = answering('database', healthReport('down', { detail: 'no route to it' }));
    const response = await healthHandler([new BrokerHealth(mq), database])(ready());
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ status: 'down', detail: 'database: no route to it' });
  });

  test('answers the facts where it is told to, and null stays null', async () => {
    const checked = new Date('2024-01-01T00:00:00Z');
    const broker = answering('broker', healthReport('up', { checked, parts: { blocked: null } }));
    const handler = healthHandler([broker, answering('__proto__', healthReport('up', { checked }))], {
      parts: true,
    });
    const text = await (await handler(ready())).text();
    const plain = { healthy: true, detail: '', checked: '2024-01-01T00:00:00.000Z' };
    expect(JSON.parse(text)).toEqual({
      status: 'up',
      detail: '',
      parts: JSON.parse(
        `{"broker":${JSON.stringify({ status: 'up', ...plain, parts: { blocked: null } })},` +
          `"__proto__":${JSON.stringify({ status: 'up', ...plain, parts: {} })}}`,
      ),
    });
    expect(text).toContain('"__proto__":{"status":"up"');
  });

  test('gives up what does not answer', async () => {
    const response = await healthHandler([holding('slow'), answering('fast')], { timeout: '50ms' })(ready());
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ status: 'down', detail: 'slow: did not answer within 0.05s' });
  });

  test('takes the list as it was given: what is added later is not asked', async () => {
    const checks = [answering('a')];
    const handler = healthHandler(checks);
    checks.push(failing('b', new Error('later')));
    expect((await handler(ready())).status).toBe(200);
  });

  test('is up where there are none', async () => {
    expect(await (await healthHandler([])(ready())).json()).toEqual({ status: 'up', detail: '' });
  });
});

describe('requests', () => {
  test('that come while the checks are asked share the answer, and the next one asks again', async () => {
    const slow = holding('slow');
    const handler = healthHandler([slow]);
    const arrived = vi.fn();
    const url = await serving((request, response) => {
      handler(request, response);
      arrived();
    });
    const gone = connect(Number(new URL(url).port), '127.0.0.1');
    gone.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    const asking = [fetch(url), fetch(url, { method: 'HEAD' }), handler(ready()), handler(ready())];
    await vi.waitFor(() => expect(arrived).toHaveBeenCalledTimes(3));
    // A client that gives up takes the answer from nobody else.
    gone.resetAndDestroy();
    expect(slow.asked()).toBe(1);
    slow.answer(healthReport('down', { detail: 'no' }));
    const responses = await Promise.all(asking);
    expect(responses.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
    const texts = await Promise.all(responses.map((response) => response.text()));
    const body = '{"status":"down","detail":"slow: no"}';
    expect(texts).toEqual([body, '', body, body]);
    expect(responses[1]?.headers.get('content-length')).toBe(String(body.length));
    await handler(ready());
    expect(slow.asked()).toBe(2);
  });

  test('other than GET and HEAD are refused, and nobody is asked', async () => {
    const check = holding('a');
    const response = await healthHandler([check])(ready('POST'));
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(check.asked()).toBe(0);
  });
});

test('facts that are not JSON are left out, and cost no instance its place', async () => {
  const error = vi.fn();
  const round: Record<string, unknown> = {};
  round['self'] = round;
  for (const parts of [{ free: 5n }, round]) {
    const check = answeringAnything('disk', { status: 'up', detail: 'nearly full', parts });
    const handler = healthHandler([check], { parts: true, logger: { error } });
    for (let probe = 0; probe < 3; probe += 1) {
      const response = await handler(ready());
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ status: 'up', detail: 'disk: nearly full' });
    }
  }
  // One line for each handler: it is probed every few seconds.
  expect(error.mock.calls).toEqual(
    [1, 2].map(() => [
      'healthHandler leaves out parts that cannot be written as JSON',
      { error: expect.any(TypeError) },
    ]),
  );
});

test('a log that fails costs no instance its place', async () => {
  const error = (): never => {
    throw new Error('no disk');
  };
  const check = answeringAnything('disk', { status: 'up', parts: { free: 5n } });
  const response = await healthHandler([check], { parts: true, logger: { error } })(ready());
  expect(response.status).toBe(200);
});

describe('it is refused', () => {
  const check = answering('a');
  test.for<[string, unknown, unknown, string]>([
    ['without checks', undefined, {}, 'checks must be a list of health checks, not of type undefined'],
    ['for a URL', 'amqp://user:secret@host', {}, 'not of type string'],
    ['for a check that is not in a list', check, {}, 'not of type object'],
    ['for a connection in the list', [{ health: () => {} }], {}, 'becomes one with new BrokerHealth(mq)'],
    ['for a check without a name', [answering('')], {}, 'the name of check 1 must be text'],
    ['for two of one name', [check, check], {}, 'two are called "a"'],
    ['for no time', [check], { timeout: 0 }, 'timeout must be at least 1ms, not 0'],
    ['for a time that is no number', [check], { timeout: Number.NaN }, 'not NaN'],
    ['for no time, of a connection', { health: () => {} }, { timeout: '0s' }, 'not "0s"'],
    ['for parts that are not yes or no', [check], { parts: 'all' }, 'parts must be true or false, not "all"'],
    ['for a logger that logs no error', [check], { logger: {} }, 'logger must have the methods error'],
    ['for an option that nobody reads', [check], { path: '/ready' }, 'has no option "path"'],
  ])('%s', ([, checks, options, words]) => {
    const make = (): unknown => healthHandler(checks as never, options as HealthHandlerOptions);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(words);
    expect(make).not.toThrow('secret');
  });
});
