import {
  accept,
  type Codec,
  ConfigurationError,
  checkIncoming,
  checkOutgoing,
  DecodeError,
  describeIssues,
  EncodeError,
  type Message,
  topology,
} from '@acemq/core';
import { METRIC_PUBLISH_TOTAL, metricKey } from '@acemq/observe';
import { type } from 'arktype';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { DEFAULT_CODEC } from '../src/codecs/by-content-type.ts';
import { byContentType, bytesCodec, jsonCodec, type StandardSchema, textCodec } from '../src/index.ts';
import { onMemory, type Setting } from './setting.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const anyOf = (value: unknown): never => value as never;

describe('the JSON codec', () => {
  const json = jsonCodec();

  it('reads what it writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const written = json.encode(value);
        expect(json.decode(written, 'application/json')).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it.each([
    ['undefined', undefined, 'undefined'],
    ['a function', () => 1, 'function'],
    ['a symbol', Symbol('s'), 'symbol'],
    ['a bigint', 5n, 'BigInt'],
    ['a bigint deep inside', { a: [{ b: 5n }] }, 'BigInt'],
    ['an object whose toJSON gives nothing', { toJSON: () => undefined }, 'object'],
    ['an object whose toJSON throws', { toJSON: () => anyOf(fail('not today')) }, 'not today'],
    ['bytes', new Uint8Array([1, 2]), 'bytesCodec()'],
    ['a buffer', Buffer.from('text'), 'bytesCodec()'],
  ])('refuses to write %s', (_what, payload, says) => {
    expect(() => json.encode(payload)).toThrow(EncodeError);
    expect(() => json.encode(payload)).toThrow(says);
  });

  it('refuses to write a structure that contains itself, or is too deep to be written', () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    expect(() => json.encode(circular)).toThrow(EncodeError);
    let deep: unknown = 1;
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
    expect(() => json.encode(deep)).toThrow(EncodeError);
  });

  it('writes null, false, zero and empty text as they are', () => {
    expect([null, false, 0, ''].map((value) => textOf(json.encode(value)))).toEqual([
      'null',
      'false',
      '0',
      '""',
    ]);
  });

  it.each([
    ['an empty body', ''],
    ['half a document', '{"a":'],
    ['two documents', '{}{}'],
    ['a word', 'undefined'],
    ['a number that is none', 'NaN'],
    ['single quotes', "{'a':1}"],
  ])('refuses to read %s', (_what, text) => {
    expect(() => json.decode(utf8(text), undefined)).toThrow(DecodeError);
    expect(() => json.decode(utf8(text), undefined)).toThrow(/not JSON/);
  });

  it.each([
    ['a stray continuation byte', [0x22, 0x80, 0x22]],
    ['an overlong form', [0x22, 0xc0, 0xaf, 0x22]],
    ['a lone surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['half a character', [0x22, 0xe2, 0x82, 0x22]],
    ['UTF-16', [0xff, 0xfe, 0x22, 0x00, 0x22, 0x00]],
  ])('refuses to read what is not UTF-8: %s', (_what, bytes) => {
    expect(() => json.decode(Uint8Array.from(bytes), 'application/json')).toThrow(/not UTF-8/);
  });

  it('reads past a byte order mark, and only one', () => {
    expect(json.decode(utf8('\uFEFF{"a":1}'), undefined)).toEqual({ a: 1 });
    expect(() => json.decode(utf8('\uFEFF\uFEFF{"a":1}'), undefined)).toThrow(DecodeError);
  });

  it('reads a view into a larger buffer, and nothing beside it', () => {
    const whole = utf8('xx{"a":1}yy');
    expect(json.decode(whole.subarray(2, whole.length - 2), undefined)).toEqual({ a: 1 });
  });

  it('keeps a key named __proto__ a key', () => {
    const read = json.decode(utf8('{"__proto__":{"admin":true}}'), undefined) as Record<string, unknown>;
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(read['admin']).toBeUndefined();
  });

  it.each([
    undefined,
    '',
    'application/json',
    'APPLICATION/JSON; charset=utf-8',
    ' text/json',
    'application/vnd.a+json',
  ])('reads a body of type %s', (contentType) => {
    expect(json.canDecode(contentType)).toBe(true);
  });

  it.each(['text/plain', 'application/octet-stream', 'application/xml', 'application/jsonx', 'json'])(
    'does not claim a body of type %s',
    (contentType) => {
      expect(json.canDecode(contentType)).toBe(false);
    },
  );
});

describe('the text codec', () => {
  const text = textCodec();

  it('reads what it writes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        expect(text.decode(text.encode(value), 'text/plain')).toBe(value);
      }),
    );
  });

  it.each([
    ['null', null],
    ['undefined', undefined],
    ['a number', 5],
    ['an object', {}],
    ['a String object', Object('text')],
    ['bytes', new Uint8Array()],
  ])('refuses to write %s', (_what, payload) => {
    expect(() => text.encode(anyOf(payload))).toThrow(EncodeError);
  });

  it('refuses to read what is not UTF-8', () => {
    expect(() => text.decode(Uint8Array.from([0xff]), 'text/plain')).toThrow(DecodeError);
  });

  it('reads text of any kind, and nothing that was not called text', () => {
    expect(['text/plain', 'TEXT/CSV', ' text/x; charset=utf-8'].map((one) => text.canDecode(one))).toEqual([
      true,
      true,
      true,
    ]);
    expect([undefined, '', 'application/text', 'context/plain'].map((one) => text.canDecode(one))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});

describe('the bytes codec', () => {
  const bytes = bytesCodec();

  it('hands on the same bytes, without a copy', () => {
    const body = Uint8Array.from([0, 255, 1]);
    expect(bytes.encode(body)).toBe(body);
    expect(bytes.decode(body, 'image/png')).toBe(body);
  });

  it('reads everything, whatever it is called', () => {
    for (const contentType of [undefined, '', 'application/json', 'nonsense']) {
      expect(bytes.canDecode(contentType)).toBe(true);
    }
  });

  it.each([
    ['null', null],
    ['text', 'text'],
    ['a list of numbers', [1, 2]],
    ['a bare buffer', new ArrayBuffer(2)],
    ['wider numbers', new Uint16Array(2)],
  ])('refuses to write %s', (_what, payload) => {
    expect(() => bytes.encode(anyOf(payload))).toThrow(EncodeError);
  });
});

describe('several codecs as one', () => {
  const both = byContentType(jsonCodec(), textCodec() as Codec);

  it('write with the first and read with the first that claims the content type', () => {
    expect(both.contentType).toBe('application/json');
    expect(textOf(both.encode({ a: 1 }))).toBe('{"a":1}');
    expect(both.decode(utf8('5'), 'application/json')).toBe(5);
    expect(both.decode(utf8('5'), 'text/plain')).toBe('5');
    expect(both.decode(utf8('5'), undefined)).toBe(5);
  });

  it('do not try another when the one that claims a body cannot read it', () => {
    const greedy = byContentType(jsonCodec(), bytesCodec() as Codec);
    expect(() => greedy.decode(utf8('{broken'), 'application/json')).toThrow(/not JSON/);
  });

  it('refuse a content type that none claims, naming it and what there is', () => {
    expect(both.canDecode('image/png')).toBe(false);
    expect(() => both.decode(utf8('x'), 'image/png')).toThrow(DecodeError);
    expect(() => both.decode(utf8('x'), 'image/png')).toThrow(/"image\/png".*application\/json, text\/plain/);
  });

  it('refuse to be none', () => {
    expect(() => byContentType()).toThrow(ConfigurationError);
  });

  it('are not changed by the list they were made of', () => {
    const list = [jsonCodec()];
    const one = byContentType(...list);
    list.length = 0;
    expect(one.canDecode('application/json')).toBe(true);
  });

  it('by default read JSON, text and bytes by name, and leave the unknown to be parked', () => {
    expect(DEFAULT_CODEC.decode(utf8('[1]'), undefined)).toEqual([1]);
    expect(DEFAULT_CODEC.decode(utf8('[1]'), 'text/plain')).toBe('[1]');
    expect(DEFAULT_CODEC.decode(utf8('[1]'), 'application/octet-stream')).toEqual(utf8('[1]'));
    expect(DEFAULT_CODEC.canDecode('image/png')).toBe(false);
  });
});

/** A schema with nothing but what the interface asks for. */
function schemaOf<Output>(
  validate: StandardSchema<unknown, Output>['~standard']['validate'],
): StandardSchema<unknown, Output> {
  return { '~standard': { version: 1, vendor: 'test', validate } };
}

function fail(message: string): never {
  throw new Error(message);
}

const POSITIVE = schemaOf<number>((value) =>
  typeof value === 'number' && value > 0
    ? { value }
    : { issues: [{ message: 'must be above 0', path: ['n'] }] },
);
const LATER_POSITIVE = schemaOf<number>(async (value) => POSITIVE['~standard'].validate(value));

describe('issues in words', () => {
  it('name where each is, in either form of a path', () => {
    expect(
      describeIssues([
        { message: 'too short', path: ['lines', 0, { key: 'sku' }] },
        { message: 'odd', path: [Symbol('s')] },
        { message: 'no path at all' },
        { message: 'an empty one', path: [] },
      ]),
    ).toBe('lines.0.sku: too short; Symbol(s): odd; no path at all; an empty one');
  });

  it('count what is past the fifth', () => {
    const issues = Array.from({ length: 8 }, (_, at) => ({ message: `m${at}` }));
    expect(describeIssues(issues)).toBe('m0; m1; m2; m3; m4; and 3 more');
  });
});

describe('a schema', () => {
  it('gives what it makes of a payload that was read, at once where it can', () => {
    const upper = schemaOf<string>((value) => ({ value: String(value).toUpperCase() }));
    expect(checkIncoming(upper, 'abc')).toBe('ABC');
  });

  it('may take its time', async () => {
    await expect(checkIncoming(LATER_POSITIVE, 5)).resolves.toBe(5);
    await expect(checkIncoming(LATER_POSITIVE, -5)).rejects.toThrow(DecodeError);
    await expect(checkOutgoing(LATER_POSITIVE, 5)).resolves.toBeUndefined();
    await expect(checkOutgoing(LATER_POSITIVE, -5)).rejects.toThrow(EncodeError);
  });

  it('refuses with the kind of error of its side, and says where', () => {
    expect(() => checkIncoming(POSITIVE, -5)).toThrow(DecodeError);
    expect(() => checkOutgoing(POSITIVE, -5)).toThrow(EncodeError);
    expect(() => checkOutgoing(POSITIVE, -5)).toThrow(
      'the payload does not fit its schema: n: must be above 0',
    );
  });

  it('that throws, at once or later, is named as what failed, with its error as the cause', async () => {
    const cause = new Error('out of order');
    const throwing = schemaOf(() => {
      throw cause;
    });
    const rejecting = schemaOf(() => Promise.reject(cause));
    const thrown = (() => {
      try {
        return checkOutgoing(throwing, 1);
      } catch (error) {
        return error;
      }
    })();
    expect(thrown).toBeInstanceOf(EncodeError);
    expect(thrown).toMatchObject({ cause, message: expect.stringContaining('the schema itself failed') });
    await expect(checkIncoming(rejecting, 1)).rejects.toMatchObject({ code: 'ACEMQ_DECODE', cause });
  });

  it('that answers nothing at all is named as what failed', async () => {
    const silent = schemaOf(() => undefined as never);
    const silentLater = schemaOf(() => Promise.resolve(undefined as never));
    expect(() => checkOutgoing(silent, 1)).toThrow(EncodeError);
    expect(() => checkIncoming(silent, 1)).toThrow(DecodeError);
    await expect(checkOutgoing(silentLater, 1)).rejects.toThrow(EncodeError);
  });

  it('counts an empty list of issues as a refusal, as the interface has it', () => {
    expect(() =>
      checkIncoming(
        schemaOf(() => ({ issues: [] })),
        1,
      ),
    ).toThrow(DecodeError);
  });
});

interface Order {
  readonly id: string;
  readonly count: number;
}

/** Consumes `queue` with a schema and gives back what the handler was handed. */
async function handled(setting: Setting, schema: StandardSchema): Promise<unknown[]> {
  const payloads: unknown[] = [];
  await setting.mq.consume(
    setting.queue,
    (message: Message) => {
      payloads.push(message.payload);
      return accept();
    },
    { schema },
  );
  return payloads;
}

const published = (setting: Setting, outcome: string): number =>
  setting.metrics.counts.get(
    metricKey(METRIC_PUBLISH_TOTAL, { exchange: '', 'routing.key': setting.queue, outcome }),
  ) ?? 0;

describe.each([
  ['written by hand', POSITIVE as StandardSchema, 5, -5, 5],
  ['written by hand that takes its time', LATER_POSITIVE as StandardSchema, 5, -5, 5],
  [
    'of zod',
    z.object({ id: z.string(), count: z.number().int().default(1) }),
    { id: 'o-1', count: 2 },
    { id: 5, count: 2 },
    { id: 'o-1', count: 2 },
  ],
  [
    'of zod that takes its time',
    z.object({ id: z.string().refine(async (id) => id.startsWith('o-'), 'no order') }),
    { id: 'o-1', extra: true },
    { id: 'x-1' },
    { id: 'o-1' },
  ],
  [
    'of valibot',
    v.object({ id: v.pipe(v.string(), v.minLength(3)), count: v.number() }),
    { id: 'o-1', count: 2 },
    { id: 'o', count: 2 },
    { id: 'o-1', count: 2 },
  ],
  [
    'of valibot that takes its time',
    v.pipeAsync(
      v.object({ id: v.string() }),
      v.checkAsync(async ({ id }) => id.startsWith('o-'), 'no order'),
    ),
    { id: 'o-1' },
    { id: 'x-1' },
    { id: 'o-1' },
  ],
  [
    'of arktype, which is a function',
    type({ id: 'string', count: 'number.integer' }),
    { id: 'o-1', count: 2 },
    { id: 'o-1', count: 'two' },
    { id: 'o-1', count: 2 },
  ],
])('a schema %s', (_what, schema, good, bad, seen) => {
  it('lets a payload that fits out and in', async () => {
    const setting = await onMemory();
    await setting.mq.declare(topology().queue(setting.queue));
    const payloads = await handled(setting, schema);
    await setting.mq.publisher({ routingKey: setting.queue, schema }).send(good);
    await vi.waitFor(() => expect(payloads).toEqual([seen]));
    expect(published(setting, 'confirmed')).toBe(1);
  });

  it('rejects one that does not before anything is written, and counts that', async () => {
    const setting = await onMemory();
    await setting.mq.declare(topology().queue(setting.queue));
    const sent = setting.mq.publisher({ routingKey: setting.queue, schema }).send(bad);
    await expect(sent).rejects.toThrow(EncodeError);
    expect(setting.mq.outstanding).toBe(0);
    expect(setting.broker.depth(setting.queue)).toBe(0);
    expect(published(setting, 'failed')).toBe(1);
  });

  it('parks a message that does not fit, and the handler never sees it', async () => {
    const setting = await onMemory();
    await setting.mq.declare(topology().queue(setting.queue));
    const payloads = await handled(setting, schema);
    await setting.mq.publisher({ routingKey: setting.queue }).send(bad);
    await vi.waitFor(() => expect(setting.broker.depth(`${setting.queue}.parked`)).toBe(1));
    const [parked] = setting.broker.messages(`${setting.queue}.parked`);
    expect(parked?.headers['x-acemq-error']).toMatch(
      /^could not be decoded: DecodeError: the payload does not fit its schema: /,
    );
    expect(JSON.parse(textOf(parked?.body ?? new Uint8Array()))).toEqual(bad);
    expect(payloads).toEqual([]);
  });
});

describe('a schema on both sides', () => {
  it('is applied to what goes out without changing it, and gives the reader what it makes of it', async () => {
    const setting = await onMemory();
    const { mq, broker, queue } = setting;
    await mq.declare(topology().queue(queue));
    const schema = z.object({
      at: z.string().transform((text) => new Date(text)),
      note: z.string().default('none'),
    });
    await mq.publisher({ routingKey: queue, schema: schema as StandardSchema }).send({ at: '2024-05-01' });
    expect(textOf(broker.messages(queue)[0]?.body ?? new Uint8Array())).toBe('{"at":"2024-05-01"}');
    const payloads = await handled(setting, schema as StandardSchema);
    await vi.waitFor(() => expect(payloads).toEqual([{ at: new Date('2024-05-01'), note: 'none' }]));
  });

  it('of one send of a batch costs only that one', async () => {
    const setting = await onMemory();
    await setting.mq.declare(topology().queue(setting.queue));
    const orders = setting.mq.publisher<number>({
      routingKey: setting.queue,
      schema: LATER_POSITIVE as StandardSchema<number>,
    });
    await expect(orders.sendAll([1, -2, 3])).rejects.toMatchObject({ confirmed: 2, failed: 1 });
    expect(setting.broker.depth(setting.queue)).toBe(2);
  });

  it('that takes its time does not let a payload through that cannot be encoded, and counts it', async () => {
    const setting = await onMemory();
    await setting.mq.declare(topology().queue(setting.queue));
    const schema = schemaOf(async (value) => ({ value }));
    const sent = setting.mq.publisher({ routingKey: setting.queue, schema }).send(5n);
    await expect(sent).rejects.toThrow(EncodeError);
    expect(published(setting, 'failed')).toBe(1);
  });

  it('that takes its time does not let out what was aborted meanwhile', async () => {
    const setting = await onMemory();
    await setting.mq.declare(topology().queue(setting.queue));
    const abort = new AbortController();
    const schema = schemaOf(async (value) => {
      abort.abort(new Error('changed my mind'));
      return { value };
    });
    const sent = setting.mq
      .publisher({ routingKey: setting.queue, schema })
      .send('payload', { signal: abort.signal });
    await expect(sent).rejects.toMatchObject({
      code: 'ACEMQ_ABORTED',
      cause: { message: 'changed my mind' },
    });
    expect(setting.broker.depth(setting.queue)).toBe(0);
    expect(published(setting, 'failed')).toBe(1);
  });
});

describe('what a message is written and read with', () => {
  it('is JSON unless told otherwise, and the content type says so', async () => {
    const { mq, broker, queue } = await onMemory();
    await mq.declare(topology().queue(queue));
    await mq.publisher({ routingKey: queue }).send({ id: 'o-1', count: 1 } satisfies Order);
    expect(broker.messages(queue)[0]?.contentType).toBe('application/json');
  });

  it('is what the connection has, then what the publisher or consumer has', async () => {
    const { mq, broker, queue } = await onMemory({ codec: textCodec() as Codec });
    await mq.declare(topology().queue(queue));
    await mq.publisher({ routingKey: queue }).send('text');
    await mq.publisher({ routingKey: queue, codec: bytesCodec() as Codec }).send(Uint8Array.from([1]));
    expect(broker.messages(queue).map((message) => message.contentType)).toEqual([
      'text/plain; charset=utf-8',
      'application/octet-stream',
    ]);
    const payloads: unknown[] = [];
    const read = (message: Message) => {
      payloads.push(message.payload);
      return accept();
    };
    await mq.consume(queue, read, { codec: bytesCodec() as Codec });
    await vi.waitFor(() => expect(payloads).toEqual([Buffer.from('text'), Buffer.from([1])]));
  });

  it('never decodes by guess: a content type that nobody claims is parked', async () => {
    const { mq, broker, queue } = await onMemory();
    await mq.declare(topology().queue(queue));
    await mq.consume(queue, () => accept());
    await mq.publishRaw('', queue, { body: utf8('{}'), contentType: 'application/x-unknown', headers: {} });
    await vi.waitFor(() => expect(broker.depth(`${queue}.parked`)).toBe(1));
    expect(broker.messages(`${queue}.parked`)[0]?.headers['x-acemq-error']).toContain(
      '"application/x-unknown"',
    );
  });

  it('may throw anything: the message is parked with what it threw', async () => {
    const { mq, broker, queue } = await onMemory();
    await mq.declare(topology().queue(queue));
    const broken: Codec = { ...jsonCodec(), decode: () => anyOf(fail('a bug in a codec')) };
    await mq.consume(queue, () => accept(), { codec: broken });
    await mq.publisher({ routingKey: queue }).send(1);
    await vi.waitFor(() => expect(broker.depth(`${queue}.parked`)).toBe(1));
    expect(broker.messages(`${queue}.parked`)[0]?.headers['x-acemq-error']).toBe(
      'could not be decoded: Error: a bug in a codec',
    );
  });
});
