import {
  copyHeaders,
  createEnvelope,
  HEADER_REPLAY_COUNT,
  HEADER_REPLAYED_AT,
  HEADER_REPLAYED_FROM,
  HEADER_REPLY_ERROR,
  HEADER_REPLY_TO,
  HEADER_ROUTING_SLIP,
  type HeaderTable,
  isReservedHeader,
  RESERVED_PREFIX,
  readEnvelope,
  writeHeaders,
} from '@acemq/core';
import { sortedTable } from './envelopes.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const MESSAGE_ID = 'from-the-property';
const ROUTING_KEY = 'order.placed';

/** Messages as other programs send them, by what is the matter with each. */
const READ_CASES: readonly (readonly [name: string, headers: HeaderTable, routingKey?: string])[] = [
  ['no headers: every default', {}],
  ['no headers and no routing key', {}, ''],
  ['the id of the header before that of the property', { 'x-acemq-id': 'from-the-header' }],
  [
    'counters as text',
    { 'x-acemq-attempt': '2', 'x-acemq-version': ' 3 ', 'x-acemq-first-seen': '1767323045678' },
  ],
  ['counters below 1', { 'x-acemq-attempt': 0, 'x-acemq-version': -1 }],
  ['a counter with a fraction', { 'x-acemq-attempt': 2.5 }],
  [
    'counters that are no numbers',
    { 'x-acemq-attempt': true, 'x-acemq-version': 'three', 'x-acemq-first-seen': null },
  ],
  ['a table and a list where text belongs', { 'x-acemq-type': { a: 1 }, 'x-acemq-origin': ['a'] }],
  ['empty text is absent', { 'x-acemq-type': '', 'x-acemq-correlation': '', 'x-acemq-error': '' }],
  [
    'every header that may be missing',
    {
      'x-acemq-causation': 'cause-1',
      'x-acemq-origin': 'orders@host-7',
      'x-acemq-error': 'could not be decoded: SyntaxError',
      'x-acemq-claim': 's3://payloads/1',
    },
  ],
  [
    'a route with spaces and a blank step',
    { 'x-acemq-route': ' price, ,reserve ', 'x-acemq-route-position': 1, 'x-acemq-route-id': 'run-1' },
  ],
  ['a reserved header of a later version', { 'x-acemq-later': 'kept aside', 'x-tenant': 'acme' }],
  [
    'headers of the family without the prefix belong to the application',
    {
      'acemq-reply-to': 'answers',
      'acemq-replay-count': 2,
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    },
  ],
];

/** Messages that the library copies into a rung, home, or aside. */
const COPY_CASES: readonly (readonly [name: string, headers: HeaderTable])[] = [
  ['a reserved header of a later version is put back', { 'x-acemq-later': 7, 'x-tenant': 'acme' }],
  [
    'what only the broker may say, or would act on again, is left out',
    {
      'x-tenant': 'acme',
      'x-death': [{ queue: 'orders.new.retry.40s', count: 1 }],
      'x-first-death-queue': 'orders.new.retry.40s',
      'x-first-death-exchange': '',
      'x-first-death-reason': 'expired',
      CC: ['other'],
      BCC: ['hidden'],
    },
  ],
  [
    'the headers of a replay stay as they came',
    { 'acemq-replay-count': 2, 'acemq-replayed-at': 1_770_091_506_789 },
  ],
];

/** The headers of the library, how a message that came is read, and what a copy is written with. */
export function headerFixtures(): object {
  return {
    generatedBy: 'acemq-typescript',
    contract:
      'The headers of an AceMQ message: their names and types, how they are read, and what a copy keeps.',
    reservedPrefix: RESERVED_PREFIX,
    reserved: reservedHeaders(),
    applicationHeaders: [
      HEADER_REPLAY_COUNT,
      HEADER_REPLAYED_AT,
      HEADER_REPLAYED_FROM,
      HEADER_REPLY_ERROR,
      HEADER_REPLY_TO,
      HEADER_ROUTING_SLIP,
    ].sort(),
    reading: READ_CASES.map(([name, headers, routingKey = ROUTING_KEY]) => ({
      case: name,
      messageId: MESSAGE_ID,
      routingKey,
      nowMillis: NOW,
      headers: sortedTable(headers),
      envelope: envelopeRead(headers, routingKey),
    })),
    copies: COPY_CASES.map(([name, headers]) => ({
      case: name,
      messageId: MESSAGE_ID,
      routingKey: ROUTING_KEY,
      nowMillis: NOW,
      headers: sortedTable(headers),
      copied: sortedTable(copyHeaders(read(headers, ROUTING_KEY))),
    })),
  };
}

function read(headers: HeaderTable, routingKey: string): ReturnType<typeof readEnvelope> {
  return readEnvelope({ headers, messageId: MESSAGE_ID, routingKey }, NOW);
}

/** Fields without a value are left out, as JSON has no word for them. */
function envelopeRead(headers: HeaderTable, routingKey: string): object {
  const { firstSeen, headers: own, unknownHeaders, ...fields } = read(headers, routingKey);
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(present),
    firstSeenMillis: firstSeen,
    headers: sortedTable(own),
    unknownHeaders: sortedTable(unknownHeaders),
  };
}

/** Found by writing an envelope that has nothing, and one that has everything. */
function reservedHeaders(): readonly object[] {
  const defaults = { routingKey: ROUTING_KEY, now: NOW, newId: () => MESSAGE_ID };
  const always = writeHeaders(createEnvelope({}, defaults));
  const all = writeHeaders(
    createEnvelope(
      {
        causationId: 'cause-1',
        origin: 'orders@host-7',
        error: 'no stock',
        claim: 's3://payloads/1',
        route: ['price', 'reserve'],
        routePosition: 1,
        routeId: 'run-1',
      },
      defaults,
    ),
  );
  return Object.entries(sortedTable(all))
    .filter(([name]) => isReservedHeader(name))
    .map(([name, value]) => ({
      name,
      type: Number.isSafeInteger(value) ? 'integer' : 'text',
      written: Object.hasOwn(always, name) ? 'always' : 'when there is one',
    }));
}
