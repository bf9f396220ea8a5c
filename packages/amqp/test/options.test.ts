import { inspect } from 'node:util';
import { AceMQError, accept, ConfigurationError, exponential, fixed, topology } from '@acemq/core';
import { memoryBroker } from '@acemq/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ConnectOptions, type ConsumeOptions, connect, type PublisherOptions } from '../src/index.ts';
import { keepingLogger, onMemory } from './setting.ts';

/** What the user wrote, what the error must say of it. */
type Refused = readonly [what: string, options: unknown, ...says: string[]];

/** Runs `work`, which must be refused with a configuration error that says all of it. */
async function expectRefused(work: () => unknown, says: readonly string[]): Promise<void> {
  const error = await Promise.resolve()
    .then(work)
    .then(
      () => undefined,
      (refusal: unknown) => refusal,
    );
  expect(error).toBeInstanceOf(ConfigurationError);
  expect((error as AceMQError).code).toBe('ACEMQ_CONFIGURATION');
  for (const words of says) expect((error as Error).message).toContain(words);
}

/** A transport that must not be dialled. */
function undialled(): { readonly broker: ReturnType<typeof memoryBroker>; dials(): number } {
  const broker = memoryBroker();
  const dial = vi.spyOn(broker, 'dial');
  return { broker, dials: () => dial.mock.calls.length };
}

const anyOf = (value: unknown): never => value as never;

describe('the options of connect', () => {
  const WHOLE = 'whole number';
  const refused: readonly Refused[] = [
    ['that are no object', 'fast', 'connect', '"fast"'],
    ['that are null', null, 'connect', 'null'],
    ['that are a list', [], 'connect', 'a list'],
    ['that nobody reads', { prefech: 5 }, '"prefech"', 'prefetch', 'permits'],
    ['of which several are unknown', { zeta: 1, alpha: 2 }, '"alpha", "zeta"'],
    ['name, blank', { name: ' ' }, 'name', '" "'],
    ['name, not text', { name: 7 }, 'name', '7'],
    ['name, too long', { name: 'n'.repeat(256) }, 'name', '255'],
    ['observer, without its methods', { observer: {} }, 'observer', 'count'],
    ['observer, half of one', { observer: { count() {} } }, 'observer', 'observe, gauge'],
    ['logger, without its methods', { logger: { info() {} } }, 'logger', 'debug, warn, error'],
    ['logger, no object', { logger: 'console' }, 'logger', '"console"'],
    ['codec, no codec', { codec: { encode() {} } }, 'codec', 'decode, canDecode'],
    ['retry, a number', { retry: 3 }, 'retry', '3', 'exponential()'],
    ['retry, plain data', { retry: { attempts: 3 } }, 'retry', 'an object'],
    ['prefetch 0', { prefetch: 0 }, 'prefetch', '0', '1 to 65535'],
    ['prefetch past the limit of AMQP', { prefetch: 65_536 }, 'prefetch', '65536', '1 to 65535'],
    ['prefetch, a fraction', { prefetch: 1.5 }, 'prefetch', '1.5', WHOLE],
    ['prefetch, text', { prefetch: '20' }, 'prefetch', '"20"', WHOLE],
    ['prefetch, no number', { prefetch: Number.NaN }, 'prefetch', 'NaN', WHOLE],
    ['permits 0', { permits: 0 }, 'permits', '0', '1 to'],
    ['permits, negative', { permits: -1 }, 'permits', '-1'],
    ['permits without end', { permits: Number.POSITIVE_INFINITY }, 'permits', 'Infinity'],
    ['confirmTimeout 0', { confirmTimeout: 0 }, 'confirmTimeout', '0', 'at least 1ms'],
    ['confirmTimeout, no duration', { confirmTimeout: 'soon' }, 'confirmTimeout', '"soon"', "'30s'"],
    ['connectTimeout 0', { connectTimeout: 0 }, 'connectTimeout', 'at least 1ms'],
    ['connectTimeout, negative', { connectTimeout: -1 }, 'connectTimeout', '-1'],
    ['heartbeat, not in seconds', { heartbeat: 1_500 }, 'heartbeat', '1500', 'seconds'],
    ['heartbeat past 16 bits', { heartbeat: '20h' }, 'heartbeat', '"20h"', 'at most'],
    ['closeTimeout, negative', { closeTimeout: -5 }, 'closeTimeout', '-5'],
    ['closeTimeout, endless', { closeTimeout: Number.POSITIVE_INFINITY }, 'closeTimeout', 'Infinity'],
    ['reconnect, a number', { reconnect: 5 }, 'reconnect', '5'],
    ['reconnect, misspelt', { reconnect: { min: 5 } }, 'reconnect', '"min"', 'initial, max'],
    ['reconnect.initial 0', { reconnect: { initial: 0 } }, 'reconnect.initial', 'at least 1ms'],
    ['reconnect.max 0', { reconnect: { max: 0 } }, 'reconnect.max', 'at least 1ms'],
    [
      'reconnect.max below reconnect.initial',
      { reconnect: { initial: '5s', max: '1s' } },
      'reconnect.max',
      '5000',
      '1000',
    ],
    ['signal, no signal', { signal: {} }, 'signal', 'AbortSignal', 'an object'],
  ];

  it.each(refused)('refuse %s before anything is dialled', async (_what, options, ...says) => {
    const { broker, dials } = undialled();
    await expectRefused(() => connect(broker, anyOf(options)), says as string[]);
    expect(dials()).toBe(0);
  });

  it.each(['tls', 'credentials', 'vhost', 'frameMax', 'channelMax'])(
    'refuse %s together with a transport that is already made',
    async (name) => {
      const { broker, dials } = undialled();
      await expectRefused(
        () => connect(broker, anyOf({ [name]: name === 'tls' ? {} : 'x' })),
        [name, 'transport'],
      );
      expect(dials()).toBe(0);
    },
  );

  it('name all of the transport options that do not go with a transport', async () => {
    await expectRefused(
      () => connect(memoryBroker(), anyOf({ vhost: 'a', credentials: () => ({}), frameMax: 8192 })),
      ['credentials', 'vhost', 'frameMax'],
    );
  });

  it.each([
    ['undefined', undefined],
    ['an empty list', []],
    ['a number', 5672],
    ['an object that cannot dial', { url: 'amqp://localhost' }],
    ['a host alone', 'localhost'],
    ['another scheme', 'http://localhost'],
    ['a list with a bad one in it', ['amqp://localhost', 'redis://localhost']],
  ])('refuse a target that is %s', async (_what, target) => {
    await expectRefused(() => connect(anyOf(target)), ['target', 'amqp://']);
  });

  it('may be undefined, each of them, and then are the defaults', async () => {
    const names = [
      'name',
      'observer',
      'logger',
      'codec',
      'retry',
      'prefetch',
      'permits',
      'confirmTimeout',
      'connectTimeout',
      'heartbeat',
      'closeTimeout',
      'reconnect',
      'signal',
      'tls',
      'credentials',
    ];
    const mq = await connect(
      memoryBroker(),
      anyOf(Object.fromEntries(names.map((name) => [name, undefined]))),
    );
    onTestFinished(async () => void (await mq.close()));
    expect(mq.name).toBe('acemq');
    expect(mq.origin).toMatch(/^acemq@.+/);
  });

  it('take durations as numbers and as text', async () => {
    const options: ConnectOptions = {
      confirmTimeout: '1.5s',
      connectTimeout: 1,
      heartbeat: 0,
      closeTimeout: 0,
      reconnect: { initial: '1ms', max: 1 },
      permits: 1,
      prefetch: 65_535,
    };
    const { mq } = await onMemory(options);
    expect(mq.state).toBe('connected');
  });

  it('raise the default of reconnect.max where reconnect.initial is above it', async () => {
    const { mq } = await onMemory({ reconnect: { initial: '2m' } });
    expect(mq.state).toBe('connected');
  });
});

describe('the options of a publisher', () => {
  const refused: readonly Refused[] = [
    ['that are null', null, 'publisher', 'null'],
    ['that nobody reads', { mandatory: true }, 'publisher', '"mandatory"', 'allowUnroutable'],
    ['exchange, not text', { exchange: 5 }, 'exchange', '5'],
    ['exchange, blank', { exchange: ' ' }, 'exchange'],
    ['exchange, too long', { exchange: 'é'.repeat(128) }, 'exchange', '256', '255'],
    ['routingKey, not text', { routingKey: 5 }, 'routing key', '5'],
    ['routingKey, too long', { routingKey: 'k'.repeat(256) }, 'routing key', '255'],
    ['codec, no codec', { codec: JSON }, 'codec', 'encode, decode, canDecode'],
    ['schema, no schema', { schema: { parse() {} } }, 'schema', 'Standard Schema'],
    ['schema, null', { schema: null }, 'schema', 'null'],
    ['persistent, text', { persistent: 'no' }, 'persistent', '"no"', 'true or false'],
    ['allowUnroutable, a number', { allowUnroutable: 0 }, 'allowUnroutable', '0', 'true or false'],
    ['type, a number', { type: 5 }, 'type', '5'],
    ['version 0', { version: 0 }, 'version', '0'],
    ['version, a fraction', { version: 1.5 }, 'version', '1.5'],
    ['priority 256', { priority: 256 }, 'priority', '256', '0 to 255'],
    ['priority, negative', { priority: -1 }, 'priority', '-1'],
    ['expiresAfter, negative', { expiresAfter: -1 }, 'expiresAfter', '-1'],
    ['expiresAfter, past what the broker holds', { expiresAfter: '50d' }, 'expiresAfter', '"50d"', 'at most'],
  ];

  it.each(refused)('refuse %s', async (_what, options, ...says) => {
    const { mq } = await onMemory();
    await expectRefused(() => mq.publisher(anyOf(options)), says as string[]);
  });

  it('may be undefined, each of them', async () => {
    const { mq } = await onMemory();
    const options: PublisherOptions = {
      exchange: undefined,
      routingKey: undefined,
      codec: undefined,
      schema: undefined,
      persistent: undefined,
      allowUnroutable: undefined,
      type: undefined,
      version: undefined,
      priority: undefined,
      expiresAfter: undefined,
    };
    expect(() => mq.publisher(options)).not.toThrow();
  });
});

describe('the options of a send', () => {
  const refused: readonly Refused[] = [
    ['that are text', 'now', 'send', '"now"'],
    ['that nobody reads', { exchange: 'other' }, 'send', '"exchange"', 'routingKey'],
    ['routingKey, a number', { routingKey: 5 }, 'routing key', '5'],
    ['routingKey, empty, to the default exchange', { routingKey: '' }, 'default exchange', 'routingKey'],
    ['replyTo, the pseudo-queue', { replyTo: 'amq.rabbitmq.reply-to' }, 'replyTo', 'amq.rabbitmq.reply-to'],
    ['replyTo, blank', { replyTo: ' ' }, 'replyTo'],
    ['persistent, text', { persistent: 'false' }, 'persistent', '"false"'],
    ['allowUnroutable, text', { allowUnroutable: 'false' }, 'allowUnroutable', '"false"'],
    ['priority, a fraction', { priority: 0.5 }, 'priority', '0.5'],
    ['expiresAfter, no duration', { expiresAfter: 'later' }, 'expiresAfter', '"later"'],
    ['signal, no signal', { signal: 'stop' }, 'signal', '"stop"'],
    ['id, a number', { id: 5 }, 'id', '5'],
    ['type, a list', { type: [] }, 'type', 'a list'],
    ['version 0', { version: 0 }, 'version', '0'],
    ['attempt 0', { attempt: 0 }, 'attempt', '0'],
    ['attempt, a fraction', { attempt: 1.5 }, 'attempt', '1.5'],
    ['firstSeen, negative', { firstSeen: -1 }, 'firstSeen', '-1'],
    ['headers under the prefix of the library', { headers: { 'x-acemq-id': 'mine' } }, 'x-acemq-id'],
  ];

  it.each(refused)('refuse %s, and write nothing', async (_what, options, ...says) => {
    const { mq, broker, queue } = await onMemory();
    await mq.declare(topology().queue(queue));
    await expectRefused(
      () => mq.publisher({ routingKey: queue }).send('payload', anyOf(options)),
      says as string[],
    );
    expect(mq.outstanding).toBe(0);
    expect(broker.depth(queue)).toBe(0);
  });

  it('refuse, of a batch, an id for all of them', async () => {
    const { mq, queue } = await onMemory();
    await expectRefused(
      () => mq.publisher({ routingKey: queue }).sendAll([1, 2], { id: 'same' }),
      ['sendAll', 'id'],
    );
  });

  it('refuse a publisher with neither an exchange nor a routing key', async () => {
    const { mq } = await onMemory();
    await expectRefused(() => mq.publisher().send('payload'), ['default exchange', 'routingKey']);
  });

  it('refuse, of a raw publish, a destination that cannot be', async () => {
    const { mq } = await onMemory();
    const message = { body: new Uint8Array(), headers: {} };
    await expectRefused(() => mq.publishRaw(anyOf(5), 'key', message), ['exchange', '5']);
    await expectRefused(() => mq.publishRaw('x'.repeat(256), 'key', message), ['exchange', '255']);
    await expectRefused(() => mq.publishRaw('', anyOf(undefined), message), ['routing key']);
  });
});

describe('the options of a consumer', () => {
  const refused: readonly Refused[] = [
    ['that are null', null, 'consume', 'null'],
    ['that nobody reads', { noAck: true }, 'consume', '"noAck"', 'prefetch'],
    ['retry, a number', { retry: 5 }, 'retry', '5', 'fixed()'],
    ['concurrency 0', { concurrency: 0 }, 'concurrency', '0', '1 to 65535'],
    ['concurrency without end', { concurrency: Number.POSITIVE_INFINITY }, 'concurrency', 'Infinity'],
    ['prefetch 0', { prefetch: 0 }, 'prefetch', '0', '1 to 65535'],
    ['prefetch below the concurrency', { prefetch: 2, concurrency: 3 }, 'prefetch', '2', 'concurrency (3)'],
    ['codec, no codec', { codec: {} }, 'codec', 'encode, decode, canDecode'],
    ['schema, no schema', { schema: () => true }, 'schema', 'Standard Schema', 'a function'],
    ['tag, blank', { tag: '' }, 'tag', '""'],
    ['tag, a number', { tag: 1 }, 'tag', '1'],
    ['exclusive, text', { exclusive: 'yes' }, 'exclusive', '"yes"', 'true or false'],
    ['arguments, text', { arguments: 'x-priority=5' }, 'arguments', 'an object'],
    ['arguments, a list', { arguments: [] }, 'arguments', 'a list'],
    ['declare, a number', { declare: 1 }, 'declare', '1', 'true or false'],
    ['closesLast, text', { closesLast: 'yes' }, 'closesLast', '"yes"', 'true or false'],
    ['signal, no signal', { signal: new AbortController() }, 'signal', 'AbortSignal'],
    [
      'retry that would wait here for 15 minutes',
      { retry: fixed(3, '15m').waitInBrokerFrom(0) },
      'retry',
      '900000',
      '15m',
      'waitInBrokerFrom',
    ],
    [
      'retry that would wait here for 15 minutes by its jitter',
      { retry: exponential(2, '13m', '13m').waitInBrokerFrom('1h').withJitter(0.2) },
      'retry',
      '936000',
    ],
  ];

  it.each(refused)('refuse %s before anything is asked of the broker', async (_what, options, ...says) => {
    const { mq, broker, queue } = await onMemory();
    // Not there: asked for it, the broker would say so instead.
    await expectRefused(() => mq.consume(queue, () => accept(), anyOf(options)), says as string[]);
    expect(broker.queues).toEqual([]);
    expect(mq.consumers).toEqual([]);
  });

  it.each([
    ['blank', ' ', 'blank'],
    ['no text', 5, '5'],
    ['too long for what is derived from it', 'q'.repeat(250), '255'],
  ])('refuse a queue whose name is %s', async (_what, queue, says) => {
    const { mq } = await onMemory();
    await expectRefused(() => mq.consume(anyOf(queue), () => accept()), ['queue', says]);
  });

  it.each([[undefined], [null], ['handle'], [{ handle() {} }]])(
    'refuse %s in place of a handler',
    async (handler) => {
      const { mq, queue } = await onMemory();
      await expectRefused(() => mq.consume(queue, anyOf(handler)), ['handler', 'function']);
    },
  );

  it('take a wait that is just short of 15 minutes', async () => {
    const { mq, queue } = await onMemory();
    await mq.declare(topology().queue(queue));
    const consumer = await mq.consume(queue, () => accept(), {
      retry: fixed(2, 899_999).waitInBrokerFrom(0),
    });
    expect(consumer.running).toBe(true);
  });

  it('raise the default prefetch to the concurrency', async () => {
    const { mq, broker, queue } = await onMemory();
    await mq.declare(topology().queue(queue));
    await mq.publisher({ routingKey: queue }).sendAll(Array.from({ length: 40 }, (_, at) => at));
    let running = 0;
    await mq.consume(
      queue,
      () => {
        running += 1;
        return new Promise(() => {});
      },
      { concurrency: 30 },
    );
    await vi.waitFor(() => expect(running).toBe(30));
    expect(broker.queues.find(({ name }) => name === queue)?.unsettled).toBe(30);
  });

  it('may be undefined, each of them', async () => {
    const { mq, queue } = await onMemory();
    await mq.declare(topology().queue(queue));
    const options: ConsumeOptions = {
      retry: undefined,
      concurrency: undefined,
      prefetch: undefined,
      codec: undefined,
      schema: undefined,
      tag: undefined,
      exclusive: undefined,
      arguments: undefined,
      declare: undefined,
      closesLast: undefined,
      signal: undefined,
    };
    expect((await mq.consume(queue, () => accept(), options)).running).toBe(true);
  });
});

describe('the options of a close', () => {
  const refused: readonly Refused[] = [
    ['timeout, negative', { timeout: -1 }, 'timeout', '-1'],
    ['timeout, no number', { timeout: Number.NaN }, 'timeout', 'NaN'],
    ['timeout, no duration', { timeout: 'soon' }, 'timeout', '"soon"'],
    ['misspelt', { timeOut: 5 }, 'close', '"timeOut"', 'timeout'],
    ['a number', 5_000, 'close', '5000'],
  ];

  it.each(refused)('refuse %s, and leave open what was to be closed', async (_what, options, ...says) => {
    const { mq, queue } = await onMemory();
    await mq.declare(topology().queue(queue));
    const consumer = await mq.consume(queue, () => accept());
    await expectRefused(() => consumer.close(anyOf(options)), says as string[]);
    await expectRefused(() => mq.close(anyOf(options)), says as string[]);
    expect(mq.state).toBe('connected');
    expect(consumer.running).toBe(true);
  });

  it('take a duration as text', async () => {
    const { mq } = await onMemory();
    expect(await mq.close({ timeout: '5s' })).toMatchObject({ finished: true });
  });
});

describe('a password', () => {
  const PASSWORD = 'p4ss/w0rd@x';
  const ENCODED = encodeURIComponent(PASSWORD);
  const SECRETS = [PASSWORD, ENCODED, 'p4ss', 'w0rd'];

  const expectNoSecret = (text: string): void => {
    for (const secret of SECRETS) expect(text).not.toContain(secret);
  };
  const everythingOf = (error: unknown): string =>
    [
      String(error),
      (error as Error).stack ?? '',
      inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true }),
      JSON.stringify(error),
    ].join('\n');

  it.each([
    ['that cannot be reached', `amqp://user:${ENCODED}@127.0.0.1:1`],
    ['that is none', `user:${PASSWORD}@somewhere`],
    ['with another scheme', `http://user:${ENCODED}@127.0.0.1`],
    ['whose password is not encoded', `amqp://user:${PASSWORD}@127.0.0.1`],
    ['with a query', `amqp://user:${ENCODED}@127.0.0.1/?heartbeat=5`],
    ['with a bad port', `amqp://user:${ENCODED}@127.0.0.1:99999`],
    ['with a bad escape', `amqp://user:${ENCODED}%zz@127.0.0.1`],
  ])('is in no error, stack or log line about a URL %s', async (_what, url) => {
    const logger = keepingLogger();
    const failed = connect(url, { logger, connectTimeout: '2s' });
    const error = await failed.then(
      () => undefined,
      (refusal: unknown) => refusal,
    );
    expect(error).toBeInstanceOf(AceMQError);
    expectNoSecret(everythingOf(error));
    expectNoSecret(inspect(logger.lines, { depth: Number.POSITIVE_INFINITY }));
  });

  it('is in no error about options that go with it', async () => {
    const url = `amqp://user:${ENCODED}@127.0.0.1:1`;
    for (const options of [{ tls: {} }, { vhost: '' }, { password: PASSWORD }, { frameMax: 5 }]) {
      const error = await connect(url, anyOf(options)).catch((refusal: unknown) => refusal);
      expect(error).toBeInstanceOf(ConfigurationError);
      expectNoSecret(everythingOf(error));
    }
  });

  it('that a function gives is in no error when it fails to be used', async () => {
    const credentials = (): never => anyOf({ username: 'user', password: PASSWORD });
    const error = await connect('amqp://127.0.0.1:1', { credentials, connectTimeout: '2s' }).catch(
      (refusal: unknown) => refusal,
    );
    expect(error).toMatchObject({ code: 'ACEMQ_CONNECT_FAILED' });
    expectNoSecret(everythingOf(error));
  });

  it('that the transport holds is in nothing that prints a connection, a consumer or a publisher', async () => {
    const broker = Object.assign(memoryBroker(), { url: `amqp://user:${ENCODED}@somewhere` });
    const { mq, queue } = await onMemory({}, broker);
    await mq.declare(topology().queue(queue));
    const consumer = await mq.consume(queue, () => accept());
    const publisher = mq.publisher({ routingKey: queue });
    for (const one of [mq, consumer, publisher, { nested: [mq, consumer, publisher] }]) {
      for (const showHidden of [false, true]) {
        expectNoSecret(inspect(one, { depth: Number.POSITIVE_INFINITY, showHidden }));
      }
      expectNoSecret(String(one));
      expectNoSecret(JSON.stringify(one, (_name, value: unknown) => (typeof value === 'bigint' ? 0 : value)));
    }
  });
});

describe('what is printed of', () => {
  it('a connection is its name, its state and its counts', async () => {
    const { mq, queue } = await onMemory({ name: 'shipping' });
    await mq.declare(topology().queue(queue));
    await mq.consume(queue, () => accept());
    const text = 'Connection(shipping, connected, 1 consumers, 0 outstanding)';
    expect([String(mq), inspect(mq)]).toEqual([text, text]);
    await mq.close();
    expect(String(mq)).toContain('closed');
  });

  it('a consumer is its queue and whether it reads', async () => {
    const { mq, queue } = await onMemory();
    await mq.declare(topology().queue(queue));
    const consumer = await mq.consume(queue, () => accept());
    expect([String(consumer), inspect(consumer)]).toEqual([
      `Consumer(${queue}, running)`,
      `Consumer(${queue}, running)`,
    ]);
    await consumer.close();
    expect(String(consumer)).toBe(`Consumer(${queue}, closed)`);
  });
});
