import { EncodeError, type HeaderTable, type HeaderValue, type Outbound } from '@acemq/core';
import { describe, expect, it } from 'vitest';
import { bufferOf, readTable, wireProperties, wireTable } from '../src/amqplib/properties.ts';
import { refuseAbove } from '../src/amqplib/table-size.ts';

function message(more: Partial<Outbound> = {}): Outbound {
  return { body: new Uint8Array(), messageId: 'm', headers: {}, persistent: true, mandatory: true, ...more };
}

describe('headers on their way out', () => {
  it('are handed over as they are where amqplib writes them right', () => {
    const headers: HeaderTable = { text: 'x', yes: true, none: null, count: 5, half: 0.5, long: 1e12 };
    expect(wireTable(headers)).toBe(headers);
  });

  it('are copied by own names only where they come with a prototype', () => {
    const headers = Object.assign(Object.create({ inherited: 'x' }), { own: 'y' }) as HeaderTable;
    expect(wireTable(headers)).toEqual({ own: 'y' });
  });

  it('are given the form that amqplib writes as the right type', () => {
    const bytes = new Uint8Array([1, 2, 3]).subarray(1);
    const wire = wireTable({ big: 5n, when: new Date(1999), bytes, list: [5n], gone: undefined as never });
    expect(wire).toEqual({
      big: { '!': 'int64', value: 5n },
      when: { '!': 'timestamp', value: 1 },
      bytes: Buffer.from([2, 3]),
      list: [{ '!': 'int64', value: 5n }],
    });
    expect((wire as { bytes: Buffer }).bytes.buffer).toBe(bytes.buffer);
  });

  it('keep a name of any spelling, and a table in which somebody wrote the notation of amqplib', () => {
    const hostile = JSON.parse('{"__proto__": {"x": 1}, "a": {"!": "bogus", "value": 1}}') as HeaderTable;
    const wire = wireTable(hostile) as Record<string, Record<string, unknown>>;
    expect(Object.keys(wire)).toEqual(['__proto__', 'a']);
    expect(Object.hasOwn(wire['a'] as object, '!')).toBe(false);
    expect(wire['a']?.['!']).toBe('bogus');
  });

  it('have a number written as a double where amqplib would take it for an integer', () => {
    for (const value of [-1e300, 2 ** 50 + 0.5, -(2 ** 51) - 0.5]) {
      expect(wireTable({ value })).toEqual({ value: { '!': 'double', value } });
    }
    const whole = { a: 2 ** 60, b: -(2 ** 63), c: 1e300, d: 2 ** 49 + 0.5 };
    expect(wireTable(whole)).toBe(whole);
  });

  it('are refused, not followed, where they are nested without end', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = [circle];
    expect(() => wireTable(circle as HeaderTable)).toThrow(/^header "self\[0\]\.self.*…" is nested/);
    let deep: unknown = 'bottom';
    for (let depth = 0; depth < 100; depth += 1) deep = [deep];
    expect(() => wireTable({ deep } as HeaderTable)).not.toThrow();
    expect(() => wireTable({ deep: { deep } } as HeaderTable)).toThrow(EncodeError);
  });

  it.each<[string, unknown]>([
    ['no number', Number.NaN],
    ['an infinite number', Number.POSITIVE_INFINITY],
    ['no date', new Date(Number.NaN)],
    ['a date before 1970', new Date(-1)],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['a hole in a list', [undefined]],
  ])('are refused with their name for %s', (_, value) => {
    expect(() => wireTable({ outer: { inner: value as HeaderValue } })).toThrow(EncodeError);
    expect(() => wireTable({ outer: { inner: value as HeaderValue } })).toThrow(/"outer\.inner/);
  });
});

describe('properties on their way out', () => {
  it('leave out an empty content type and reply-to', () => {
    const bare = wireProperties(message({ contentType: '', replyTo: '', persistent: false }));
    expect([bare.contentType, bare.replyTo, bare.deliveryMode]).toEqual([undefined, undefined, 1]);
    const full = wireProperties(message({ contentType: 'text/plain', replyTo: 'r' }));
    expect([full.contentType, full.replyTo, full.deliveryMode]).toEqual(['text/plain', 'r', 2]);
  });

  it('carry the bytes of a body that is part of a larger buffer, not copied', () => {
    const part = new Uint8Array([0, 1, 2, 3]).subarray(1, 3);
    expect([...bufferOf(part)]).toEqual([1, 2]);
    expect(bufferOf(part).buffer).toBe(part.buffer);
    const buffer = Buffer.from('x');
    expect(bufferOf(buffer)).toBe(buffer);
  });

  it('are refused when their headers do not fit in a frame that the broker takes', () => {
    const headers = {
      text: 'x'.repeat(5000),
      list: ['y'.repeat(5000), 5n],
      table: { inner: new Uint8Array(5000) },
    };
    const properties = wireProperties(message({ headers }));
    expect(() => refuseAbove(131_072, properties)).not.toThrow();
    expect(() => refuseAbove(20_000, properties)).not.toThrow();
    expect(() => refuseAbove(16_000, properties)).toThrow(EncodeError);
  });
});

describe('headers on their way in', () => {
  it('are handed over as they came where there is nothing to read', () => {
    const headers = { text: 'x', bytes: Buffer.from('y'), none: null };
    expect(readTable(headers)).toBe(headers);
    expect(Object.keys(readTable(undefined))).toEqual([]);
  });

  it('have dates for timestamps, at any depth, and keep decimals for a copy', () => {
    const decimal = { '!': 'decimal', value: { places: 2, digits: 5 } };
    const death = { count: 1, time: { '!': 'timestamp', value: 5 } };
    const read = readTable({ 'x-death': [death], price: decimal });
    expect(read).toEqual({ 'x-death': [{ count: 1, time: new Date(5000) }], price: decimal });
    expect(wireTable(read as HeaderTable)).toEqual({ 'x-death': [death], price: decimal });
  });

  it.each([
    ['a date that no Date can hold', { '!': 'timestamp', value: 2 ** 63 }],
    ['a text as its seconds', { '!': 'timestamp', value: 'x' }],
    ['an unknown type', { '!': 'bogus' }],
    ['a decimal that is none', { '!': 'decimal', value: { places: 'x' } }],
  ])('keep %s as a table, which can be written again', (_, hostile) => {
    const read = readTable({ hostile });
    expect(read).toEqual({ hostile });
    const wire = wireTable(read as HeaderTable) as { hostile: object };
    expect(Object.hasOwn(wire.hostile, '!')).toBe(false);
  });

  it('are read by own names only, and never throw at any depth', () => {
    const spoofed = Object.setPrototypeOf({ own: [1] }, { 'x-acemq-attempt': 99 }) as Record<string, unknown>;
    expect(readTable(spoofed)['x-acemq-attempt']).toBeUndefined();
    let deep: unknown = 'bottom';
    for (let i = 0; i < 20_000; i += 1) deep = [deep];
    expect(() => readTable({ deep })).not.toThrow();
  });
});
