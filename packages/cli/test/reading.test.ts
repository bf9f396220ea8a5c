import { readFileSync } from 'node:fs';
import { ConfigurationError, type Delivery } from '@acemq/core';
import { describe, expect, it } from 'vitest';
import { bodyLines } from '../src/body-view.ts';
import { filterOf } from '../src/filters.ts';
import { queueOf } from '../src/queue-options.ts';
import { Reasons, shortReason } from '../src/reasons.ts';
import { VERSION } from '../src/version.ts';
import { ago, cut, messages, size } from '../src/words.ts';

describe('the queue that is meant', () => {
  it.each([
    ['orders', {}, 'orders.dlq'],
    ['orders', { parked: true }, 'orders.parked'],
    ['orders.dlq', {}, 'orders.dlq'],
    ['orders.parked', {}, 'orders.parked'],
    ['orders.parked', { parked: true }, 'orders.parked'],
    ['orders', { exact: true }, 'orders'],
    ['a.b', {}, 'a.b.dlq'],
  ])('by %s and %j is %3$s', (given, flags, queue) => {
    expect(queueOf(given, flags)).toBe(queue);
  });

  it.each([
    [undefined, {}, 'say which queue'],
    ['', {}, 'say which queue'],
    ['orders.dlq', { parked: true }, '"orders.dlq" is no .parked; give "orders" --parked'],
    ['orders', { parked: true, exact: true }, 'cannot both be given'],
  ])('by %s and %j is refused', (given, flags, words) => {
    expect(() => queueOf(given, flags)).toThrow(words);
    expect(() => queueOf(given, flags)).toThrow(ConfigurationError);
  });
});

const letter = (more: object) =>
  ({
    envelope: { id: 'm-1', type: 'order.placed' },
    attempts: 5,
    age: 3_600_000,
    reason: 'Error: No Stock',
    ...more,
  }) as never;

describe('a filter', () => {
  it('that was not asked for is none', () => {
    expect(filterOf({})).toBeUndefined();
  });

  it.each([
    [{ reason: 'no stock' }, true],
    [{ reason: 'no price' }, false],
    [{ type: 'order.placed' }, true],
    [{ type: 'order' }, false],
    [{ id: 'm-1' }, true],
    [{ attempts: '5' }, true],
    [{ attempts: '4' }, false],
    [{ 'older-than': '59m' }, true],
    [{ 'older-than': '2h' }, false],
    [{ 'newer-than': '2h' }, true],
    [{ 'newer-than': '1h' }, false],
    [{ reason: 'stock', type: 'order.placed', attempts: '4' }, false],
  ])('%j holds: %s', (flags, holds) => {
    expect(filterOf(flags)?.(letter({}))).toBe(holds);
  });

  it('by a reason leaves out what has none', () => {
    expect(filterOf({ reason: 'stock' })?.(letter({ reason: undefined }))).toBe(false);
  });

  it.each([
    [{ 'older-than': 'soon' }, '--older-than'],
    [{ attempts: 'many' }, '--attempts'],
  ])('%j is refused', (flags, words) => {
    expect(() => filterOf(flags)).toThrow(words);
  });
});

describe('reasons', () => {
  it('that are alike are one, without what differs in them', () => {
    const reasons = new Reasons();
    for (const number of [1, 2, 3])
      reasons.add(`exhausted 5 attempts: Error: no stock for A-${number} on 5 shelves`);
    for (const name of ['x', 'y']) reasons.add(`the handler rejected it: the address "${name}" is not one`);
    reasons.add('could not be decoded: DecodeError: the body is not JSON');
    reasons.add(undefined);
    expect(reasons.list()).toEqual([
      { count: 3, reason: 'Error: no stock for * on 5 shelves' },
      { count: 2, reason: 'rejected: the address * is not one' },
      { count: 1, reason: 'not decoded: DecodeError: the body is not JSON' },
      { count: 1, reason: '(none given)' },
    ]);
  });

  it('are shown without what stands beside them', () => {
    expect(shortReason('exhausted 1 attempt, as no retry policy allows another: Error: x')).toBe('Error: x');
    expect(shortReason('the handler reported an unprocessable message: FatalError: x')).toBe(
      'fatal: FatalError: x',
    );
  });
});

describe('a body', () => {
  const lines = (body: string | Uint8Array) =>
    bodyLines({ body: typeof body === 'string' ? new TextEncoder().encode(body) : body } as never as {
      body: Delivery['body'];
    } as never);

  it('of JSON has its parts on lines of their own', () => {
    expect(lines('{"a":[1]}')).toEqual(['{', '  "a": [', '    1', '  ]', '}']);
  });

  it('with a number that JavaScript cannot hold is shown as it came', () => {
    expect(lines('{"a":12345678901234567890}')).toEqual(['{"a":12345678901234567890}']);
  });

  it('of text cannot command the terminal', () => {
    expect(lines('a\u001b[2J\nb')).toEqual(['a\ufffd[2J', 'b']);
  });

  it('of other bytes is shown as numbers, as far as 256', () => {
    expect(lines(new Uint8Array([0, 1, 65, 255]))).toEqual([`0000  ${'00 01 41 ff'.padEnd(47)}  ..A.`]);
    expect(lines(new Uint8Array(1000)).at(-1)).toBe('… and 744 bytes more');
  });

  it('that is empty is said to be', () => {
    expect(lines('')).toEqual(['(empty)']);
  });
});

it('words are for a person', () => {
  expect([0, 59_999, 60_000, 3_599_999, 3_600_000, 86_400_000].map(ago)).toEqual([
    '0s',
    '59s',
    '1m',
    '59m',
    '1h',
    '1d',
  ]);
  expect([messages(1), messages(10_000)]).toEqual(['1 message', '10,000 messages']);
  expect([cut('abcdef', 6), cut('abcdefg', 6), cut('', 3)]).toEqual(['abcdef', 'abcde…', '']);
  expect([size(1), size(999), size(4100), size(2_000_000)]).toEqual([
    '1 byte',
    '999 bytes',
    '4.1 kB',
    '2.0 MB',
  ]);
});

it('the version is that of package.json', () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  expect(VERSION).toBe(manifest.version);
});
