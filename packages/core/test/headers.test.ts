import { describe, expect, it } from 'vitest';
import type { HeaderTable } from '../src/index.ts';
import { checkApplicationHeaders, isReservedHeader, NO_HEADERS, readCount, readText } from '../src/index.ts';
import { expectRefusal } from './refusal.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('readCount', () => {
  it.each([
    [2, 2],
    [2.0, 2],
    [0, 0],
    [-3, -3],
    [2n, 2],
    [1_767_323_045_678n, 1_767_323_045_678],
    ['2', 2],
    [' 2\t', 2],
    ['+2', 2],
    ['-2', -2],
    ['007', 7],
    [bytes('12'), 12],
    [Buffer.from(' 12 '), 12],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ])('reads %o as %i', (value, count) => {
    expect(readCount({ count: value }, 'count')).toBe(count);
  });

  it.each([
    2.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 53,
    2n ** 63n,
    '',
    ' ',
    '2.5',
    '0x2',
    '1e3',
    'two',
    '9'.repeat(17),
    '9'.repeat(100_000),
    bytes(''),
    bytes('x'),
    bytes('1'.repeat(100)),
    true,
    false,
    null,
    undefined,
    [2],
    { value: 2 },
    { '!': 'timestamp', value: 2 },
    new Date(2),
    () => 2,
    Symbol('2'),
  ])('does not read %o', (value) => {
    expect(readCount({ count: value }, 'count')).toBeUndefined();
  });

  it('never gives -0', () => {
    expect(Object.is(readCount({ count: -0 }, 'count'), 0)).toBe(true);
    expect(Object.is(readCount({ count: '-0' }, 'count'), 0)).toBe(true);
  });
});

describe('readText', () => {
  it('reads text, bytes of UTF-8 and integers', () => {
    expect(readText({ name: 'å' }, 'name')).toBe('å');
    expect(readText({ name: bytes('å') }, 'name')).toBe('å');
    expect(readText({ name: 42 }, 'name')).toBe('42');
    expect(readText({ name: 42n }, 'name')).toBe('42');
  });

  it('reads bytes that are no UTF-8 with replacement', () => {
    expect(readText({ name: Uint8Array.of(0x61, 0xff) }, 'name')).toBe('a\ufffd');
  });

  it.each(['', bytes(''), 1.5, Number.NaN, true, null, undefined, {}, []])('takes %o for absent', (value) => {
    expect(readText({ name: value }, 'name')).toBeUndefined();
  });
});

describe('a header table whose prototype the sender chose', () => {
  // What a decoder makes of a header named `__proto__` that holds a table.
  const spoofed = Object.setPrototypeOf({}, { 'x-acemq-attempt': 9, 'x-acemq-id': 'spoof' }) as Record<
    string,
    unknown
  >;

  it('is read by own keys only', () => {
    expect(readCount(spoofed, 'x-acemq-attempt')).toBeUndefined();
    expect(readText(spoofed, 'x-acemq-id')).toBeUndefined();
    expect(readText({}, 'constructor')).toBeUndefined();
  });
});

describe('isReservedHeader', () => {
  it('goes by the prefix, so that names of later versions are reserved too', () => {
    expect(isReservedHeader('x-acemq-id')).toBe(true);
    expect(isReservedHeader('x-acemq-of-the-future')).toBe(true);
    expect(isReservedHeader('acemq-replay-count')).toBe(false);
    expect(isReservedHeader('x-acem')).toBe(false);
    expect(isReservedHeader('x-tenant')).toBe(false);
    expect(isReservedHeader('')).toBe(false);
  });
});

describe('checkApplicationHeaders', () => {
  it('refuses reserved names and lists them, sorted', () => {
    const headers = { 'x-acemq-type': 't', ok: 1, 'x-acemq-future': 'f', 'x-acemq-attempt': 2 };
    expectRefusal(
      () => checkApplicationHeaders(headers),
      'ACEMQ_CONFIGURATION',
      'x-acemq-attempt, x-acemq-future, x-acemq-type',
    );
  });

  it.each([null, 'text', 5, ['x']])('refuses %j, which is no table', (given) => {
    expectRefusal(
      () => checkApplicationHeaders(given as never),
      'ACEMQ_CONFIGURATION',
      'headers must be an object',
    );
  });

  it('copies into a frozen table without a prototype, in which every name means itself', () => {
    const given = JSON.parse(
      '{"__proto__":{"a":1},"constructor":"c","toString":"t","x-tenant":"acme"}',
    ) as HeaderTable;
    const copy = checkApplicationHeaders(given);
    given['x-tenant'] = 'other';
    expect(Object.getPrototypeOf(copy)).toBeNull();
    expect(Object.isFrozen(copy)).toBe(true);
    expect(Object.entries(copy)).toEqual([
      ['__proto__', { a: 1 }],
      ['constructor', 'c'],
      ['toString', 't'],
      ['x-tenant', 'acme'],
    ]);
  });

  it('leaves out headers that are undefined', () => {
    expect(checkApplicationHeaders({ a: undefined } as never)).toBe(NO_HEADERS);
    expect(checkApplicationHeaders({})).toBe(NO_HEADERS);
  });
});
