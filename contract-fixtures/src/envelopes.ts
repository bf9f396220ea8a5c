import { createEnvelope, type EnvelopeFields, type HeaderTable, writeHeaders } from '@acemq/core';

/** A published message: what its publisher gave, and the text of its payload. */
export interface EnvelopeCase {
  readonly name: string;
  readonly routingKey: string;
  readonly payload: unknown;
  readonly fields: EnvelopeFields;
}

/** Stands in for the clock: 2026-01-02T03:04:05.678Z. */
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const FIXED_ID = 'f67aff08-6293-4ce2-af9e-1b8797fb8451';
const ORIGIN = 'acemq@app-7';

export const ENVELOPE_CASES: readonly EnvelopeCase[] = [
  { name: 'minimal', routingKey: 'fx.plain', payload: '{"id":"o-1"}', fields: {} },
  {
    name: 'populated',
    routingKey: 'fx.rich',
    payload: '{"id":"o-2"}',
    fields: {
      id: '11111111-2222-3333-4444-555555555555',
      type: 'order.placed',
      version: 3,
      correlationId: 'corr-1',
      causationId: 'cause-1',
      firstSeen: NOW,
      origin: 'orders@host-7',
      headers: { 'x-tenant': 'acme' },
    },
  },
  {
    name: 'replayed',
    routingKey: 'fx.replayed',
    payload: '{"id":"o-3"}',
    fields: {
      id: '99999999-8888-7777-6666-555555555555',
      type: 'order.placed',
      correlationId: 'corr-2',
      firstSeen: NOW,
      origin: 'orders@host-7',
      // An integer, as older libraries wrote it: an application's header, written back as it came.
      headers: {
        'acemq-replay-count': 2,
        'acemq-replayed-at': 1_770_091_506_789,
        'acemq-replayed-from': 'orders.new.dlq',
      },
    },
  },
  {
    name: 'set-aside',
    routingKey: 'fx.failed.dlq',
    payload: '{"id":"o-4"}',
    fields: {
      id: '44444444-3333-2222-1111-000000000000',
      type: 'order.placed',
      correlationId: 'corr-4',
      attempt: 4,
      firstSeen: NOW,
      origin: 'orders@host-7',
      error: 'exhausted 4 attempts: Error: no stock',
    },
  },
  {
    name: 'on-a-route',
    routingKey: 'fx.route',
    payload: '{"id":"o-5"}',
    fields: {
      id: '55555555-4444-3333-2222-111111111111',
      type: 'order.placed',
      firstSeen: NOW,
      origin: 'orders@host-7',
      claim: 'file:///payloads/o-5',
      route: ['price', 'reserve', 'ship'],
      routePosition: 1,
      routeId: 'run-5',
    },
  },
];

/** The headers that messages are published with, in the schema of the family's own file. */
export function envelopeFixtures(): object {
  return {
    generatedBy: 'acemq-typescript',
    contract: 'The headers that an AceMQ publish puts on the wire.',
    cases: ENVELOPE_CASES.map(({ name, routingKey, payload, fields }) => {
      const envelope = createEnvelope(fields, {
        routingKey,
        now: NOW,
        origin: ORIGIN,
        newId: () => FIXED_ID,
      });
      return {
        case: name,
        routingKey,
        messageId: envelope.id,
        body: JSON.stringify(payload),
        contentType: 'application/json',
        headers: sortedTable(writeHeaders(envelope)),
      };
    }),
  };
}

/** The same headers in the order of their names: a table has none. */
export function sortedTable(headers: Readonly<HeaderTable>): HeaderTable {
  return Object.fromEntries(Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1)));
}
