import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { record } from '../src/record.ts';
import { headersFromText, headersToText } from '../src/stored-headers.ts';
import { recorder } from './recorder.ts';

describe('a record', () => {
  test('has the bytes and headers that a publisher would have written', () => {
    const made = record(recorder(), {
      exchange: 'shop',
      routingKey: 'orders.placed',
      payload: { order: 7 },
      correlationId: 'c',
      version: 2,
      headers: { tenant: 'a' },
    });
    expect(Buffer.from(made.body).toString()).toBe('{"order":7}');
    expect(made).toMatchObject({
      exchange: 'shop',
      routingKey: 'orders.placed',
      contentType: 'application/json',
    });
    expect(made.headers).toMatchObject({
      'x-acemq-id': made.id,
      'x-acemq-type': 'orders.placed',
      'x-acemq-version': 2,
      'x-acemq-correlation': 'c',
      'x-acemq-origin': 'shop@test',
      'x-acemq-attempt': 1,
      'x-acemq-first-seen': made.createdAt,
      tenant: 'a',
    });
    expect(Object.isFrozen(made) && Object.isFrozen(made.headers)).toBe(true);
  });

  // Seed 000: "propagation_headers() injects the current context into a fresh carrier, for a message this library does not
  // publish — … into a database row an outbox relay will publish later", "so nothing already on the message is overwritten".
  test('carries the active trace, and leaves one that it was given alone', () => {
    const mq = recorder({ traceparent: '00-active', tracestate: 'a=1' });
    const made = record(mq, { routingKey: 'x', payload: 1 });
    expect(made.headers).toMatchObject({ traceparent: '00-active', tracestate: 'a=1' });
    const given = record(mq, { routingKey: 'x', payload: 1, headers: { traceparent: '00-mine' } });
    expect(given.headers).toMatchObject({ traceparent: '00-mine', tracestate: 'a=1' });
  });

  test.each([
    ['an empty id', { id: '' }, /the id of a recorded message must not be empty/],
    ['an id longer than AMQP has room for', { id: 'x'.repeat(256) }, /id must be text of at most 255 bytes/],
    ['a routing key longer than that', { routingKey: 'x'.repeat(256) }, /routing key .* 256 bytes/],
    ['a blank exchange', { exchange: ' ' }, /exchange name must not be blank/],
    ['a reserved header', { headers: { 'x-acemq-id': 'mine' } }, /must not start with x-acemq-/],
    ['a function as a header', { headers: { f: () => 1 } }, /the header "f" is a function/],
    ['NaN as a header', { headers: { n: Number.NaN } }, /the header "n" is NaN/],
    [
      'an instance of a class as a header',
      { headers: { m: new Map() } },
      /the header "m" is of the class "Map"/,
    ],
    ['an option that there is none of', { routing_key: 'x' }, /has no option "routing_key"/],
  ])('refuses %s', (_what, fields, message) => {
    expect(() => record(recorder(), { routingKey: 'x', payload: 1, ...fields } as never)).toThrow(message);
  });

  test('refuses headers that go round in a circle', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    expect(() => record(recorder(), { routingKey: 'x', payload: 1, headers: { circle } as never })).toThrow(
      /nested more than 16 deep/,
    );
  });
});

test('stored headers come back as they were, whatever they are called and hold', () => {
  const leaf = fc.oneof(
    fc.string(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.boolean(),
    fc.constant(null),
    fc.uint8Array(),
    fc.date({ noInvalidDate: true }),
  );
  const name = fc.oneof(
    fc.string(),
    fc.constantFrom('__proto__', 'constructor', '$bytes', '$table', '$int', '$date'),
  );
  const value = fc.oneof(
    leaf,
    fc.array(leaf),
    fc.array(fc.tuple(name, leaf)).map((entries) => Object.fromEntries(entries)),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value)), (entries) => {
      const table = Object.setPrototypeOf({}, null) as Record<string, never>;
      for (const [key, one] of entries) table[key] = one as never;
      const back = headersFromText(headersToText(table));
      expect(back).toEqual(table);
    }),
  );
});
