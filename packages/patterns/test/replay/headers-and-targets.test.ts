import { ConfigurationError, copyHeaders, createEnvelope, type HeaderTable, readEnvelope } from '@acemq/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readReplayed, replayed, sourceQueueOf } from '../../src/replay/index.ts';
import { targetOf } from '../../src/replay/replay-target.ts';

const AT = Date.parse('2026-11-30T12:00:00.123Z');
const read = (headers: Record<string, unknown>) =>
  readEnvelope({ headers, messageId: 'm-1', routingKey: 'orders.dlq' }, AT);

describe('the source of a dead letter', () => {
  it.each([
    ['orders.dlq', 'orders'],
    ['orders.parked', 'orders'],
    ['a.dlq.dlq', 'a.dlq'],
    ['orders', undefined],
    ['.dlq', undefined],
    ['orders.dlq.old', undefined],
  ])('of %s is %s', (queue, source) => {
    expect(sourceQueueOf(queue)).toBe(source);
  });
});

describe('the target of a replay', () => {
  it('is the source queue, a queue, or an exchange with a key or without', () => {
    expect(targetOf('orders.dlq', undefined)).toEqual({ exchange: '', routingKey: 'orders' });
    expect(targetOf('orders.dlq', 'elsewhere')).toEqual({ exchange: '', routingKey: 'elsewhere' });
    expect(targetOf('orders.dlq', { exchange: 'events' })).toEqual({
      exchange: 'events',
      routingKey: undefined,
    });
    expect(targetOf('x', { exchange: 'events', routingKey: 'k' })).toEqual({
      exchange: 'events',
      routingKey: 'k',
    });
  });

  it.each([
    ['the queue itself', 'orders.dlq', 'orders.dlq', 'orders'],
    [
      'the queue itself by its key',
      'orders.dlq',
      { exchange: '', routingKey: 'orders.dlq' },
      'again for ever',
    ],
    ['the key that the letters have already', 'orders.dlq', { exchange: '' }, 'again for ever'],
    ['nobody knows where', 'orders', undefined, '"orders" does not end in .dlq or .parked'],
    ['no name', 'orders.dlq', '', '""'],
    ['something else', 'orders.dlq', 7, '7'],
    ['an option that is none', 'orders.dlq', { exchange: 'x', key: 'k' }, '"key"'],
  ])('is refused where it is %s', (_what, queue, to, words) => {
    expect(() => targetOf(queue, to as never)).toThrow(ConfigurationError);
    expect(() => targetOf(queue, to as never)).toThrow(words);
  });
});

describe('a replayed message', () => {
  const dead = createEnvelope(
    {
      id: 'o-1',
      attempt: 5,
      error: 'Error: no',
      firstSeen: 1000,
      correlationId: 'c',
      causationId: 'b',
      headers: { tenant: 7 },
    },
    { routingKey: 'order.placed', now: 2000, origin: 'shop@a' },
  );

  it('has the three headers, attempt 1 and no reason, and is otherwise who it was', () => {
    const envelope = replayed(dead, 'orders.dlq', AT, true);
    expect(envelope.headers).toEqual({
      tenant: 7,
      'acemq-replayed-from': 'orders.dlq',
      'acemq-replayed-at': '2026-11-30T12:00:00.123Z',
      'acemq-replay-count': 1,
    });
    const { headers, attempt, error, ...same } = envelope;
    const { headers: _h, attempt: _a, error: _e, ...before } = dead;
    expect([attempt, error]).toEqual([1, undefined]);
    expect(same).toEqual(before);
  });

  it('goes on as it was found where that is asked for', () => {
    expect(replayed(dead, 'orders.dlq', AT, false)).toMatchObject({ attempt: 5, error: 'Error: no' });
  });

  it('counts on from whatever an earlier replay wrote', () => {
    for (const before of [2, '2', 2n, Buffer.from('2')]) {
      const envelope = replayed(read({ 'acemq-replay-count': before }), 'orders.dlq', AT, true);
      expect(envelope.headers['acemq-replay-count']).toBe(3);
    }
    for (const before of ['many', -4, {}, null]) {
      const envelope = replayed(read({ 'acemq-replay-count': before }), 'orders.dlq', AT, true);
      expect(envelope.headers['acemq-replay-count']).toBe(1);
    }
  });

  it('is read with its time as text or as milliseconds', () => {
    for (const at of ['2026-11-30T12:00:00.123Z', '2026-11-30T12:00:00.123+00:00', AT, BigInt(AT), `${AT}`]) {
      expect(readReplayed({ 'acemq-replayed-at': at }).at).toBe(AT);
    }
    for (const at of ['yesterday', {}, undefined, Number.NaN]) {
      expect(readReplayed({ 'acemq-replayed-at': at }).at).toBeUndefined();
    }
    expect(readReplayed({})).toEqual({ from: undefined, at: undefined, count: 0 });
  });

  it('keeps every other header, whatever it is called and holds, and none of the broker', () => {
    const name = fc.oneof(
      fc.string(),
      fc.constantFrom('__proto__', 'constructor', 'x-death', 'CC', 'x-acemq-later'),
    );
    const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value)), (pairs) => {
        const headers = Object.fromEntries(pairs.filter(([key]) => !key.startsWith('acemq-replay')));
        const before = copyHeaders(read(headers));
        const after: HeaderTable = copyHeaders(replayed(read(headers), 'q.dlq', AT, true));
        for (const key of Object.keys(before)) {
          if (key === 'x-acemq-attempt' || key === 'x-acemq-error') continue;
          expect(Object.hasOwn(after, key)).toBe(true);
          expect(after[key]).toEqual(before[key]);
        }
        expect(Object.hasOwn(after, 'x-death')).toBe(false);
      }),
    );
  });
});
