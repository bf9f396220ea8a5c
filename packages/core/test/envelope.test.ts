import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EnvelopeFields, HeaderValue } from '../src/index.ts';
import {
  ageOf,
  causing,
  createEnvelope,
  nextAttempt,
  readEnvelope,
  withEnvelope,
  withError,
  writeHeaders,
} from '../src/index.ts';
import { applicationNames } from './header-tables.ts';
import { expectRefusal } from './refusal.ts';

const NOW = 1_767_323_045_678;
const defaults = { routingKey: 'order.placed', now: NOW, origin: 'shipping@app-7', newId: () => 'new-id' };

describe('creating an envelope', () => {
  it('takes its defaults from the publish', () => {
    expect(createEnvelope({}, defaults)).toMatchObject({
      id: 'new-id',
      type: 'order.placed',
      version: 1,
      correlationId: 'new-id',
      attempt: 1,
      firstSeen: NOW,
      origin: 'shipping@app-7',
      routePosition: 0,
    });
  });

  it('makes a random id by itself', () => {
    const { id } = createEnvelope({}, { routingKey: 'k', now: NOW });
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('takes empty text for absent', () => {
    const fields = {
      id: '',
      type: '',
      correlationId: '',
      causationId: '',
      origin: '',
      error: '',
      claim: '',
      routeId: '',
    };
    expect(createEnvelope(fields, { ...defaults, routingKey: '' })).toMatchObject({
      id: 'new-id',
      type: 'message',
      correlationId: 'new-id',
      causationId: undefined,
      origin: 'shipping@app-7',
      error: undefined,
      claim: undefined,
      routeId: undefined,
    });
  });

  it('keeps the origin that a publisher gives', () => {
    expect(createEnvelope({ origin: 'other@host' }, defaults).origin).toBe('other@host');
  });

  it('is frozen, and its headers are a copy', () => {
    const headers: Record<string, HeaderValue> = { 'x-tenant': 'acme' };
    const route = ['a', 'b'];
    const envelope = createEnvelope({ headers, route }, defaults);
    headers['x-tenant'] = 'other';
    route.push('c');
    expect(envelope.headers['x-tenant']).toBe('acme');
    expect(envelope.route).toEqual(['a', 'b']);
    for (const part of [envelope, envelope.headers, envelope.unknownHeaders, envelope.route]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it.each([
    ['version', 0],
    ['version', -1],
    ['version', 1.5],
    ['version', Number.NaN],
    ['attempt', 0],
    ['attempt', Number.POSITIVE_INFINITY],
    ['attempt', 2 ** 53],
    ['attempt', '2'],
    ['firstSeen', -1],
    ['firstSeen', 0.5],
    ['routePosition', -1],
    ['id', 42],
    ['type', null],
    ['route', 'a,b'],
    ['route', ['a', '']],
    ['route', ['a,b']],
    ['route', [' a']],
    ['route', [5]],
    ['headers', 'text'],
  ])('refuses the %s %o', (field, value) => {
    expectRefusal(
      () => createEnvelope({ [field]: value } as EnvelopeFields, defaults),
      'ACEMQ_CONFIGURATION',
      field,
    );
  });

  it('names the value that it refuses', () => {
    expectRefusal(
      () => createEnvelope({ attempt: -7 }, defaults),
      'ACEMQ_CONFIGURATION',
      'attempt',
      '-7',
      'at least 1',
    );
    expectRefusal(() => createEnvelope({ route: ['a,b'] }, defaults), 'ACEMQ_CONFIGURATION', '"a,b"');
    expectRefusal(() => createEnvelope({ id: 'o\ud800' }, defaults), 'ACEMQ_CONFIGURATION', 'surrogate');
  });

  it('refuses headers under the prefix of the library', () => {
    expectRefusal(
      () => createEnvelope({ headers: { 'x-acemq-id': 'x' } }, defaults),
      'ACEMQ_CONFIGURATION',
      'x-acemq-id',
    );
  });
});

const text = fc.string({ minLength: 1 });
const fields: fc.Arbitrary<EnvelopeFields> = fc.record(
  {
    id: text,
    type: text,
    version: fc.integer({ min: 1 }),
    correlationId: text,
    causationId: text,
    attempt: fc.integer({ min: 1 }),
    firstSeen: fc.maxSafeNat(),
    origin: text,
    error: text,
    claim: text,
    route: fc.array(
      text.filter((step) => step.trim() === step && !step.includes(',')),
      { minLength: 1 },
    ),
    routePosition: fc.nat(),
    routeId: text,
    headers: fc
      .array(fc.tuple(applicationNames, fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null))))
      .map((entries) => Object.fromEntries(entries)),
  },
  { requiredKeys: [] },
);

describe('an envelope that is written and read', () => {
  it('is the same envelope', () => {
    fc.assert(
      fc.property(fields, (given) => {
        const envelope = createEnvelope(given, defaults);
        const headers = writeHeaders(envelope);
        expect(readEnvelope({ headers, messageId: 'other', routingKey: 'other' }, NOW + 1)).toEqual(envelope);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a derived envelope', () => {
  const given = createEnvelope(
    {
      id: 'm-1',
      correlationId: 'c-1',
      attempt: 2,
      error: 'why',
      route: ['a', 'b'],
      routePosition: 1,
      headers: { h: 1 },
    },
    defaults,
  );

  it('has one attempt more, and everything else as it was', () => {
    const next = nextAttempt(given);
    expect(next).toEqual({ ...given, attempt: 3 });
    expect(Object.isFrozen(next)).toBe(true);
    expect(Object.keys(next)).toEqual(Object.keys(given));
  });

  it('never counts past what a number can hold', () => {
    const last = withEnvelope(given, { attempt: Number.MAX_SAFE_INTEGER });
    expect(nextAttempt(last).attempt).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('has its reason, or none', () => {
    expect(withError(given, 'other').error).toBe('other');
    expect(withError(given, '').error).toBeUndefined();
  });

  it('changes what it is told to, and nothing else', () => {
    const changed = withEnvelope(given, { version: 4, headers: { g: 2 }, claim: 's3://x' });
    expect({ ...changed, headers: { ...changed.headers } }).toEqual({
      ...given,
      version: 4,
      claim: 's3://x',
      headers: { g: 2 },
    });
    expect(withEnvelope(given, {})).toEqual(given);
  });

  it('loses what may be missing when it is set to undefined, and keeps what may not', () => {
    const changed = withEnvelope(given, {
      id: undefined,
      attempt: undefined,
      error: undefined,
      route: undefined,
    });
    expect(changed).toEqual({ ...given, error: undefined, route: undefined, routePosition: 0 });
  });

  it('keeps what is unknown to this version', () => {
    const read = readEnvelope({ headers: { 'x-acemq-future': 'f' }, messageId: 'm', routingKey: 'k' }, NOW);
    expect(withEnvelope(read, { attempt: 1, error: '' }).unknownHeaders).toEqual(read.unknownHeaders);
  });

  it('refuses what creating one refuses', () => {
    expectRefusal(() => withEnvelope(given, { attempt: 0 }), 'ACEMQ_CONFIGURATION', 'attempt', '0');
    expectRefusal(
      () => withEnvelope(given, { headers: { 'x-acemq-a': 1 } }),
      'ACEMQ_CONFIGURATION',
      'x-acemq-a',
    );
  });

  it('is caused by the one before it, in the same flow', () => {
    expect(causing(given, 'order.shipped', { now: NOW + 5, newId: () => 'm-2' })).toMatchObject({
      id: 'm-2',
      type: 'order.shipped',
      correlationId: 'c-1',
      causationId: 'm-1',
      attempt: 1,
      version: 1,
      firstSeen: NOW + 5,
      origin: 'shipping@app-7',
      error: undefined,
      route: undefined,
      headers: {},
    });
  });
});

describe('ageOf', () => {
  it('is the time since it was first seen, and 0 when the clocks disagree', () => {
    const envelope = createEnvelope({ firstSeen: 1000 }, defaults);
    expect(ageOf(envelope, 1500)).toBe(500);
    expect(ageOf(envelope, 500)).toBe(0);
  });
});
