import { describe, expect, it } from 'vitest';
import type { HeaderTable } from '../src/index.ts';
import {
  copyHeaders,
  createEnvelope,
  envelopeHeaders,
  essentialHeaders,
  readEnvelope,
  writeHeaders,
} from '../src/index.ts';

const defaults = { routingKey: 'order.placed', now: 1_767_323_045_678, newId: () => 'id-1' };

describe('the headers of a publish', () => {
  it('are the seven that every message has, and no empty one', () => {
    expect(writeHeaders(createEnvelope({ origin: 'orders@host-7', causationId: '' }, defaults))).toEqual({
      'x-acemq-id': 'id-1',
      'x-acemq-type': 'order.placed',
      'x-acemq-version': 1,
      'x-acemq-correlation': 'id-1',
      'x-acemq-attempt': 1,
      'x-acemq-first-seen': 1_767_323_045_678,
      'x-acemq-origin': 'orders@host-7',
    });
  });

  it('have the rest where there is any', () => {
    const envelope = createEnvelope(
      {
        causationId: 'c',
        error: 'e',
        claim: 'u',
        route: ['a', 'b'],
        routePosition: 1,
        routeId: 'r',
        headers: { h: true },
      },
      defaults,
    );
    expect(writeHeaders(envelope)).toMatchObject({
      'x-acemq-causation': 'c',
      'x-acemq-error': 'e',
      'x-acemq-claim': 'u',
      'x-acemq-route': 'a,b',
      'x-acemq-route-position': 1,
      'x-acemq-route-id': 'r',
      h: true,
    });
  });

  it('name the first step of a route too', () => {
    expect(writeHeaders(createEnvelope({ route: ['a'] }, defaults))).toMatchObject({
      'x-acemq-route-position': 0,
    });
  });

  it('are a new table each time', () => {
    const envelope = createEnvelope({}, defaults);
    writeHeaders(envelope)['x-tenant'] = 'acme';
    expect(Object.keys(writeHeaders(envelope))).not.toContain('x-tenant');
  });

  it('carry a header named __proto__ as a header', () => {
    const headers = JSON.parse('{"__proto__":{"polluted":true},"constructor":"c"}') as HeaderTable;
    for (const table of [
      writeHeaders(createEnvelope({ headers }, defaults)),
      copyHeaders(createEnvelope({ headers }, defaults)),
    ]) {
      expect(Object.getPrototypeOf(table)).toBe(Object.prototype);
      expect(Object.hasOwn(table, '__proto__')).toBe(true);
      expect(Object.keys(table).slice(-2)).toEqual(['__proto__', 'constructor']);
      expect((table as { readonly polluted?: boolean }).polluted).toBeUndefined();
    }
  });
});

describe('the headers of a copy', () => {
  const envelope = readEnvelope(
    {
      headers: {
        'x-acemq-id': 'id-1',
        'x-acemq-future': 'f',
        'x-acemq-route': 'a,b',
        'x-acemq-route-position': 1,
        'x-tenant': 'acme',
        'x-death': [{ queue: 'q' }],
        'x-delivery-count': 3,
        'x-first-death-queue': 'q',
        'x-first-death-reason': 'expired',
        'x-last-death-exchange': 'e',
        CC: ['other'],
        BCC: ['other'],
        cc: 'kept',
        'acemq-replay-count': 2,
      },
      messageId: 'id-1',
      routingKey: 'k',
    },
    5,
  );

  it('leave out what only the broker may say or would act on again', () => {
    const kept = Object.keys(copyHeaders(envelope)).filter((name) => !name.startsWith('x-acemq-'));
    expect(kept).toEqual(['x-tenant', 'cc', 'acemq-replay-count']);
  });

  it('put back what this version does not know, and the route', () => {
    expect(copyHeaders(envelope)).toMatchObject({
      'x-acemq-future': 'f',
      'x-acemq-route': 'a,b',
      'x-acemq-route-position': 1,
    });
    expect(writeHeaders(envelope)).not.toHaveProperty('x-acemq-future');
  });

  it('can be cut down to the envelope’s own', () => {
    expect(Object.keys(envelopeHeaders(envelope)).every((name) => name.startsWith('x-acemq-'))).toBe(true);
    expect(envelopeHeaders(envelope)).not.toHaveProperty('x-acemq-future');
  });
});

it('the essential headers stay below 4 kB, whatever a sender wrote, and keep who the message is', () => {
  const long = '𝄞'.repeat(20_000);
  const envelope = readEnvelope(
    {
      headers: {
        'x-acemq-id': long,
        'x-acemq-type': long,
        'x-acemq-correlation': long,
        'x-acemq-origin': long,
        'x-acemq-error': long,
        'x-acemq-claim': long,
        'x-acemq-attempt': 3,
        [`x-${long.slice(0, 100)}`]: long,
      },
      messageId: undefined,
      routingKey: 'orders',
    },
    1_000,
  );
  const headers = essentialHeaders(envelope);
  expect(Buffer.byteLength(JSON.stringify(headers))).toBeLessThan(4_096);
  expect(headers).toMatchObject({ 'x-acemq-attempt': 3, 'x-acemq-first-seen': 1_000, 'x-acemq-version': 1 });
  expect(Object.keys(headers).sort()).toEqual([
    'x-acemq-attempt',
    'x-acemq-correlation',
    'x-acemq-error',
    'x-acemq-first-seen',
    'x-acemq-id',
    'x-acemq-origin',
    'x-acemq-type',
    'x-acemq-version',
  ]);
});
