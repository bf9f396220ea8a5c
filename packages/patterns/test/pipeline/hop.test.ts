import {
  createEnvelope,
  type EnvelopeFields,
  type HeaderTable,
  readEnvelope,
  writeHeaders,
} from '@acemq/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hopOf, next, type Place, readItinerary } from '../../src/pipeline/index.ts';

const NOW = Date.UTC(2026, 11, 1);
const PLACE: Place = { queue: 'p.a', pipeline: 'p', exchange: 'p', steps: ['a', 'b'], step: 'a' };

/** What the next message says after a message with these headers, as they came over the wire. */
function hopFrom(headers: Record<string, unknown>, answer = next()): EnvelopeFields {
  const envelope = readEnvelope({ headers, messageId: undefined, routingKey: 'a' }, NOW);
  return hopOf(envelope, readItinerary(envelope, PLACE), answer, NOW);
}

const CAME = {
  'x-acemq-id': 'm-1',
  'x-acemq-type': 'order.placed',
  'x-acemq-version': 3,
  'x-acemq-correlation': 'flow-1',
  'x-acemq-causation': 'm-0',
  'x-acemq-attempt': 4,
  'x-acemq-first-seen': NOW - 60_000,
  'x-acemq-origin': 'shop@host',
  'x-acemq-error': 'an earlier reason',
  'x-acemq-claim': 's3://bucket/key',
  'x-acemq-of-a-later-version': 'x',
};

describe('the message to the next stop', () => {
  test('is caused by the one that came, and belongs to the same flow, first seen then', () => {
    const hop = hopFrom(CAME);
    expect(hop).toMatchObject({ correlationId: 'flow-1', causationId: 'm-1', firstSeen: NOW - 60_000 });
    const sent = createEnvelope(hop, { routingKey: 'b', now: NOW, origin: 'worker@host' });
    expect(sent).toMatchObject({ attempt: 1, origin: 'worker@host', error: undefined, routePosition: 1 });
    expect(sent.id).not.toBe('m-1');
  });

  test('is of the type and version that it came with, and its payload where it was, when it goes on as it came', () => {
    expect(hopFrom(CAME)).toMatchObject({ type: 'order.placed', version: 3, claim: 's3://bucket/key' });
  });

  test('is of the type of the routing key and of version 1, with no claim, when its payload is a new one', () => {
    const sent = createEnvelope(hopFrom(CAME, next({})), { routingKey: 'b', now: NOW });
    expect(sent).toMatchObject({ type: 'b', version: 1, claim: undefined });
  });

  test('is what the step says that it is', () => {
    const hop = hopFrom(
      { ...CAME, tenant: 'acme', region: 'eu' },
      next({}, { type: 't', version: 2, headers: { region: 'us' } }),
    );
    expect(hop).toMatchObject({ type: 't', version: 2, headers: { tenant: 'acme', region: 'us' } });
  });

  test('carries the headers of the application and of the trace, and none of those that were for the message before it', () => {
    const carried = { tenant: 'acme', traceparent: '00-1', tracestate: 'a=b', nested: { list: [1, null] } };
    const left = {
      'acemq-error': 'RangeError: too far',
      'acemq-reply-to': 'replies',
      'acemq-replayed-from': 'p.a.dlq',
      'acemq-replayed-at': '2026-12-01T00:00:00.000Z',
      'acemq-replay-count': 2,
      'x-death': [{ queue: 'p.a.retry.10s' }],
      'x-first-death-queue': 'p.a.retry.10s',
      'x-last-death-reason': 'expired',
      'x-delivery-count': 3,
      CC: ['everybody'],
      BCC: ['nobody'],
    };
    expect(hopFrom({ ...CAME, ...carried, ...left }).headers).toEqual(carried);
  });

  test('carries headers of any name, and __proto__ is one', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), fc.oneof(fc.string(), fc.integer())),
        (headers) => {
          const own = Object.fromEntries(
            Object.entries(headers).filter(
              ([name]) => !/^(x-acemq-|acemq-|x-death|x-first|x-last|x-delivery|B?CC)/.test(name),
            ),
          );
          const carried = hopFrom({ ...own, ...CAME }).headers as HeaderTable;
          expect(Object.entries(carried)).toEqual(Object.entries(own));
          const sent = createEnvelope({ headers: carried }, { routingKey: 'b', now: NOW });
          expect(writeHeaders(sent)).toMatchObject(own);
        },
      ),
    );
  });
});
