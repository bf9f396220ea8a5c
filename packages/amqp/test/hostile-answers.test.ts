import { accept, type Codec, EncodeError, fixed, park, retry, topology } from '@acemq/core';
import pino from 'pino';
import { describe, expect, test, vi } from 'vitest';
import { onManualTime, onMemory } from './setting.ts';

describe('a handler', () => {
  test.each([
    [
      'an object whose then throws',
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: what lazy query builders look like
        then(): never {
          throw new Error('not a promise after all');
        },
      }),
    ],
    [
      'an object that cannot be looked at',
      () =>
        new Proxy(
          {},
          {
            get(): never {
              throw new Error('hands off');
            },
          },
        ),
    ],
  ])('that returns %s has failed, and the next message is handled', async (_, answer) => {
    const { mq, queue, broker } = await onMemory();
    await mq.declare(topology().queue(queue));
    let handled = 0;
    const consumer = await mq.consume(queue, () => {
      handled += 1;
      return handled === 1 ? (answer() as never) : accept();
    });
    await mq.publisher({ routingKey: queue }).sendAll([1, 2]);
    await vi.waitFor(() => expect(handled).toBe(2));
    await vi.waitFor(() => expect(broker.depth(`${queue}.dlq`)).toBe(1));
    expect(consumer.inFlight).toBe(0);
    expect(mq.state).toBe('connected');
  });

  test('that answers several times is settled by its first answer', async () => {
    const { mq, queue, broker, metrics } = await onMemory();
    await mq.declare(topology().queue(queue));
    const consumer = await mq.consume(
      queue,
      () =>
        ({
          // biome-ignore lint/suspicious/noThenProperty: a thenable that breaks the rules
          then(answer: (ack: unknown) => void): void {
            answer(accept());
            answer(accept());
            answer(retry('again'));
          },
        }) as never,
    );
    await mq.publisher({ routingKey: queue }).sendAll([1, 2, 3]);
    const acked = `acemq.consume.total{outcome="acked",queue="${queue}"}`;
    await vi.waitFor(() => expect(metrics.counts.get(acked)).toBe(3));
    expect(metrics.gauges.get(`acemq.consume.in.flight{queue="${queue}"}`)).toBe(0);
    expect([...metrics.counts.keys()].filter((key) => key.startsWith('acemq.consume.total'))).toEqual([
      acked,
    ]);
    expect(consumer.inFlight).toBe(0);
    expect(broker.depth(`${queue}.dlq`)).toBe(0);
  });

  test('that never looks at its signal costs none, and one that does sees it aborted at the deadline', async () => {
    const { mq, queue } = await onMemory();
    await mq.declare(topology().queue(queue));
    let seen: AbortSignal | undefined;
    const consumer = await mq.consume(queue, async ({ signal }) => {
      seen = signal;
      await new Promise(() => {});
      return accept();
    });
    await mq.publisher({ routingKey: queue }).send(1);
    await vi.waitFor(() => expect(seen).toBeInstanceOf(AbortSignal));
    expect(seen?.aborted).toBe(false);
    expect(await consumer.close({ timeout: 1 })).toEqual({ finished: false, unsettled: 1 });
    expect(seen?.aborted).toBe(true);
  });
});

describe('a codec', () => {
  const codec = (encode: () => unknown): Codec =>
    ({ contentType: 'application/odd', encode, decode: () => 1, canDecode: () => true }) as Codec;

  test.each([
    ['undefined', undefined],
    ['null', null],
    ['text', 'text'],
    ['an error', new Error('broken')],
  ])('that throws %s fails the send with an EncodeError, and is counted in a batch', async (_, thrown) => {
    const { mq, queue } = await onMemory();
    const publisher = mq.publisher({
      routingKey: queue,
      codec: codec(() => {
        throw thrown;
      }),
    });
    await expect(publisher.send(1)).rejects.toBeInstanceOf(EncodeError);
    await expect(publisher.sendAll([1, 2])).rejects.toThrow(
      /^2 of 2 messages were not confirmed; 0 were\. The first failure was: the payload cannot be encoded as application\/odd/,
    );
  });

  test.each([
    ['text', () => 'text'],
    ['nothing', () => undefined],
    ['a promise', () => Promise.reject(new Error('later'))],
  ])('that answers with %s in place of bytes is named', async (_, answer) => {
    const { mq, queue } = await onMemory();
    const sending = mq.publisher({ routingKey: queue, codec: codec(answer) }).send(1);
    await expect(sending).rejects.toThrow(/the codec for application\/odd must answer with a Uint8Array/);
  });

  test('that decodes to a promise parks the message instead of handing the promise on', async () => {
    const { mq, queue, broker } = await onMemory();
    await mq.declare(topology().queue(queue));
    const handler = vi.fn(() => accept());
    const promising = { ...codec(() => new Uint8Array()), decode: async () => 1 } as Codec;
    await mq.consume(queue, handler, { codec: promising });
    await mq.publisher({ routingKey: queue }).send(1);
    await vi.waitFor(() => expect(broker.depth(`${queue}.parked`)).toBe(1));
    expect(handler).not.toHaveBeenCalled();
  });
});

describe('a foreign message whose id is longer than a message id may be', () => {
  const id = 'i'.repeat(300);

  test('is parked with its id in the header, and is not lost', async () => {
    const { mq, queue, broker } = await onMemory();
    await mq.declare(topology().queue(queue));
    await mq.consume(queue, () => park('odd'));
    await mq.publishRaw('', queue, { body: Buffer.from('1'), headers: { 'x-acemq-id': id } });
    await vi.waitFor(() => expect(broker.depth(`${queue}.parked`)).toBe(1));
    const [copy] = broker.messages(`${queue}.parked`);
    expect(copy?.headers['x-acemq-id']).toBe(id);
    expect(copy?.messageId).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('is retried with its next attempt', async () => {
    const { mq, queue, broker, clock } = await onManualTime();
    await mq.declare(topology().queue(queue));
    const attempts: number[] = [];
    await mq.consume(
      queue,
      ({ envelope }) => {
        attempts.push(envelope.attempt);
        return retry('no');
      },
      { retry: fixed(3, '1s') },
    );
    await mq.publishRaw('', queue, { body: Buffer.from('1'), headers: { 'x-acemq-id': id } });
    await clock.advance(10_000);
    expect(attempts).toEqual([1, 2, 3]);
    expect(broker.depth(`${queue}.dlq`)).toBe(1);
  });

  test('or whose flow is named by tens of kilobytes is copied with each text cut, and is not lost', async () => {
    const { mq, queue, broker } = await onMemory();
    await mq.declare(topology().queue(queue));
    await mq.consume(queue, () => park('odd'));
    const headers = { 'x-acemq-id': 'm-1', 'x-acemq-correlation': 'c'.repeat(65_400) };
    await mq.publishRaw('', queue, { body: Buffer.from('1'), headers });
    await vi.waitFor(() => expect(broker.depth(`${queue}.parked`)).toBe(1));
    const [copy] = broker.messages(`${queue}.parked`);
    expect(copy?.headers['x-acemq-id']).toBe('m-1');
    expect(String(copy?.headers['x-acemq-correlation']).length).toBeLessThanOrEqual(120);
    expect(copy?.headers['x-acemq-error']).toBe('the handler parked it: odd');
  });
});

describe('a batch', () => {
  test('draws no more payloads than may be open, also where an interceptor takes its time', async () => {
    const { mq, queue } = await onMemory({ permits: 5 });
    await mq.declare(topology().queue(queue));
    mq.interceptPublish(async (_, next) => {
      await Promise.resolve();
      await next();
    });
    let drawn = 0;
    let most = 0;
    let done = 0;
    const payloads = (function* () {
      for (; drawn < 200; drawn += 1) {
        most = Math.max(most, drawn - done);
        yield drawn;
      }
    })();
    mq.interceptPublish(async (_, next) => {
      await next();
      done += 1;
    });
    await mq.publisher<number>({ routingKey: queue }).sendAll(payloads);
    expect(done).toBe(200);
    expect(most).toBeLessThanOrEqual(6);
  });

  test('from an endless source ends with its connection, and lets everything else run until then', async () => {
    const { mq, queue } = await onMemory();
    await mq.declare(topology().queue(queue));
    let drawn = 0;
    const endless = (function* () {
      for (;;) yield drawn++;
    })();
    const sending = mq.publisher<number>({ routingKey: queue }).sendAll(endless);
    const ended = expect(sending).rejects.toMatchObject({ code: 'ACEMQ_PUBLISH_BATCH' });
    await vi.waitFor(() => expect(drawn).toBeGreaterThan(100));
    await mq.close();
    await ended;
  });

  test('under an alarm lets everything else run', async () => {
    const { mq, queue, broker } = await onMemory({ permits: 1 });
    await mq.declare(topology().queue(queue));
    const publisher = mq.publisher<number>({ routingKey: queue });
    broker.block();
    void publisher.send(0).catch(() => {});
    await vi.waitFor(() => expect(mq.blocked).toBe(true));
    let drawn = 0;
    const endless = (function* () {
      while (drawn < 1_000_000) yield drawn++;
    })();
    const sending = publisher.sendAll(endless);
    sending.catch(() => {});
    await vi.waitFor(() => expect(drawn).toBeGreaterThan(10));
    broker.unblock();
    await mq.close({ timeout: 0 });
    await expect(sending).rejects.toMatchObject({ code: 'ACEMQ_PUBLISH_BATCH' });
    expect(drawn).toBeLessThan(1_000_000);
  });

  test('has one listener on its signal, however many messages', async () => {
    const { mq, queue } = await onMemory();
    await mq.declare(topology().queue(queue));
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warned);
    try {
      const { signal } = new AbortController();
      const payloads = Array.from({ length: 100 }, (_, number) => number);
      await mq.publisher<number>({ routingKey: queue }).sendAll(payloads, { signal });
      await new Promise((resolve) => setImmediate(resolve));
      expect(warnings).toEqual([]);
    } finally {
      process.off('warning', warned);
    }
  });

  test.each([[null], ['text'], [5], [{}]])('of %j is refused', async (payloads) => {
    const { mq, queue } = await onMemory();
    await expect(mq.publisher({ routingKey: queue }).sendAll(payloads as never)).rejects.toThrow(
      /sendAll takes an iterable of payloads/,
    );
  });
});

describe('a logger', () => {
  test('that answers with a promise that rejects ends nothing', async () => {
    const failing = async (): Promise<never> => {
      throw new Error('the log is full');
    };
    const logger = { debug: failing, info: failing, warn: failing, error: failing };
    const { mq, broker } = await onMemory({ logger, reconnect: { initial: 1, max: 1 } });
    const recovered = new Promise<void>((resolve) => {
      mq.onState(({ type }) => void (type === 'recovered' && mq.state === 'connected' && resolve()));
    });
    broker.dropLinks();
    await recovered;
  });

  test('of pino’s is given the details in the order in which it reads them', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
    const { mq, broker } = await onMemory({ logger });
    const lost = new Promise<void>((resolve) => {
      mq.onState(({ type }) => void (type === 'lost' && resolve()));
    });
    broker.dropLinks({ reason: 'pulled the cable' });
    await lost;
    const line = lines.map((text) => JSON.parse(text)).find(({ msg }) => /was lost/.test(msg));
    expect(line).toMatchObject({ reason: expect.stringContaining('pulled the cable') });
  });
});

test.each([[null], [{}], ['orders']])(
  'a topology that is %j is refused before anything is asked',
  async (wrong) => {
    const { mq } = await onMemory();
    await expect(mq.declare(wrong as never)).rejects.toThrow(/a topology is what topology\(\) makes/);
    await expect(mq.plan(wrong as never)).rejects.toThrow(/a topology is what topology\(\) makes/);
  },
);

test('a consumer tag longer than AMQP has room for is refused before the broker is asked', async () => {
  const { mq, queue } = await onMemory();
  await expect(mq.consume(queue, () => accept(), { tag: 't'.repeat(256) })).rejects.toThrow(/consumer tag/);
  await expect(mq.publisher({ routingKey: queue }).send(1, { id: 'i'.repeat(256) })).rejects.toThrow(
    /id must be text of at most 255 bytes/,
  );
});
