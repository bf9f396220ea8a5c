import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Envelope, HeaderTable } from '../src/index.ts';
import { ageOf, copyHeaders, readEnvelope, writeHeaders } from '../src/index.ts';
import { hostileTables } from './header-tables.ts';

const NOW = 1_767_323_045_678;

const read = (headers: Record<string, unknown>, messageId?: string, routingKey = 'order.placed'): Envelope =>
  readEnvelope({ headers, messageId, routingKey }, NOW);

/** By identity: some of the values cannot even be looked into. */
function expectSameTable(one: Readonly<HeaderTable>, other: Readonly<HeaderTable>): void {
  expect(Object.keys(one).sort()).toEqual(Object.keys(other).sort());
  for (const name of Object.keys(other)) expect(Object.is(one[name], other[name])).toBe(true);
}

describe('reading the envelope of a message from elsewhere', () => {
  it('takes every default', () => {
    const envelope = read({}, 'm-1');
    expect(envelope).toMatchObject({
      id: 'm-1',
      type: 'order.placed',
      version: 1,
      correlationId: 'm-1',
      causationId: undefined,
      attempt: 1,
      firstSeen: NOW,
      origin: undefined,
      error: undefined,
      claim: undefined,
      route: undefined,
      routePosition: 0,
      routeId: undefined,
    });
    expect(Object.keys(envelope.headers)).toEqual([]);
  });

  it.each([null, undefined])('takes them for the headers %o too', (headers) => {
    expect(readEnvelope({ headers, messageId: 'm-1', routingKey: 'k' }, NOW)).toMatchObject({
      id: 'm-1',
      type: 'k',
    });
  });

  it('makes an id up when neither headers nor properties have one', () => {
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    expect(read({}).id).toMatch(uuid);
    expect(read({ 'x-acemq-id': '' }, '').id).toMatch(uuid);
    expect(read({}).id).not.toBe(read({}).id);
  });

  it('calls it a message when nothing says what it is', () => {
    expect(read({}, 'm-1', '').type).toBe('message');
  });

  it('is young, not fifty years old, when nothing says when it was first seen', () => {
    expect(ageOf(read({}), NOW)).toBe(0);
  });
});

describe('reading an envelope', () => {
  it('takes the header of the id before the property', () => {
    expect(read({ 'x-acemq-id': 'h-1' }, 'p-1')).toMatchObject({ id: 'h-1', correlationId: 'h-1' });
  });

  it('takes the default for an attempt and a version below 1, and for a position below 0', () => {
    const headers = { 'x-acemq-attempt': 0, 'x-acemq-version': -2, 'x-acemq-route-position': -1 };
    expect(read(headers)).toMatchObject({ attempt: 1, version: 1, routePosition: 0 });
  });

  it('takes the default for a time before the epoch', () => {
    expect(read({ 'x-acemq-first-seen': -5 }).firstSeen).toBe(NOW);
  });

  it('trims the steps of a route and drops the blank ones', () => {
    expect(read({ 'x-acemq-route': ' a, ,b ,,c' }).route).toEqual(['a', 'b', 'c']);
    expect(read({ 'x-acemq-route': ' , ' }).route).toBeUndefined();
  });

  it('keeps unknown headers of the library aside, and the others for the application', () => {
    const envelope = read({
      'x-acemq-future': [1],
      'x-tenant': 'acme',
      'acemq-replay-count': 2,
      traceparent: '00',
    });
    expect({ ...envelope.headers }).toEqual({
      'x-tenant': 'acme',
      'acemq-replay-count': 2,
      traceparent: '00',
    });
    expect({ ...envelope.unknownHeaders }).toEqual({ 'x-acemq-future': [1] });
  });

  it('does not believe a prototype that came as a header', () => {
    const spoofed = Object.setPrototypeOf(
      { 'x-tenant': 'acme' },
      { 'x-acemq-attempt': 9, 'x-role': 'admin' },
    ) as object;
    const envelope = read(spoofed as Record<string, unknown>);
    expect(envelope.attempt).toBe(1);
    expect(Object.keys(envelope.headers)).toEqual(['x-tenant']);
  });

  it('is not misled by a table that inherits from bytes', () => {
    // What amqplib makes of a nested table with a header `__proto__` of bytes; found by the property below.
    const table = Object.setPrototypeOf({}, Buffer.from('id')) as unknown;
    expect(read({ 'x-acemq-id': table, 'x-acemq-attempt': table }, 'm-1')).toMatchObject({
      id: 'm-1',
      attempt: 1,
    });
  });

  it('gives whole milliseconds, whatever the clock', () => {
    expect(readEnvelope({ headers: {}, messageId: 'm', routingKey: 'k' }, NOW + 0.5).firstSeen).toBe(NOW);
  });
});

describe('whatever the headers are', () => {
  it('reading never throws, and gives an envelope that keeps its promises', () => {
    fc.assert(
      fc.property(
        hostileTables,
        fc.option(fc.string(), { nil: undefined }),
        fc.string(),
        (headers, id, key) => {
          const envelope = readEnvelope({ headers, messageId: id, routingKey: key }, NOW);
          for (const text of [envelope.id, envelope.type, envelope.correlationId]) {
            expect(typeof text).toBe('string');
            expect(text).not.toBe('');
          }
          for (const text of [
            envelope.causationId,
            envelope.origin,
            envelope.error,
            envelope.claim,
            envelope.routeId,
          ]) {
            expect(text === undefined || (typeof text === 'string' && text !== '')).toBe(true);
          }
          for (const [count, min] of [
            [envelope.attempt, 1],
            [envelope.version, 1],
            [envelope.firstSeen, 0],
            [envelope.routePosition, 0],
          ] as const) {
            expect(Number.isSafeInteger(count) && count >= min).toBe(true);
          }
          for (const step of envelope.route ?? []) expect(step.trim()).toBe(step);
          expect(envelope.route?.length).not.toBe(0);
          expect(Object.isFrozen(envelope)).toBe(true);
          for (const table of [envelope.headers, envelope.unknownHeaders]) {
            expect(Object.getPrototypeOf(table)).toBeNull();
            expect(Object.isFrozen(table)).toBe(true);
          }
          expect(Object.keys(envelope.headers).filter((name) => name.startsWith('x-acemq-'))).toEqual([]);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('every header of the application is kept under its own name, and no other is', () => {
    fc.assert(
      fc.property(hostileTables, (headers) => {
        const own = Object.keys(headers).filter(
          (name) => !name.startsWith('x-acemq-') && headers[name] !== undefined,
        );
        const kept = read(headers).headers;
        expect(Object.keys(kept)).toEqual(own);
        for (const name of own) expect(kept[name]).toBe(headers[name]);
      }),
      { numRuns: 1000 },
    );
  });

  it('what is read is written, and what was written reads the same', () => {
    fc.assert(
      fc.property(hostileTables, (headers) => {
        const envelope = read(headers, 'm-1');
        const again = read(writeHeaders(envelope), 'other', 'other');
        expectSameTable(again.headers, envelope.headers);
        const tables = { headers: undefined, unknownHeaders: undefined };
        expect({ ...again, ...tables }).toEqual({ ...envelope, ...tables });

        const copied = read(copyHeaders(envelope), 'other', 'other');
        expectSameTable(copied.unknownHeaders, envelope.unknownHeaders);
        expectSameTable(copyHeaders(copied), copyHeaders(envelope));
      }),
      { numRuns: 1000 },
    );
  });
});
