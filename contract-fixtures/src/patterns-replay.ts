import { copyHeaders, type HeaderTable, readEnvelope } from '@acemq/core';
import { readReplayed, replayed, sourceQueueOf } from '@acemq/patterns/replay';
import { sortedTable } from './envelopes.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const QUEUE = 'orders.new.dlq';

/** What lies in the dead-letter queue, and whether it is to start from the first attempt again. */
const CASES: readonly (readonly [name: string, headers: HeaderTable, restart: boolean])[] = [
  [
    'a dead letter that was never replayed',
    {
      'x-acemq-id': 'o-1',
      'x-acemq-type': 'order.placed',
      'x-acemq-version': 2,
      'x-acemq-correlation': 'c-1',
      'x-acemq-causation': 'b-1',
      'x-acemq-attempt': 5,
      'x-acemq-first-seen': NOW - 86_400_000,
      'x-acemq-origin': 'shop@host-0',
      'x-acemq-error': 'exhausted 5 attempts: Error: no stock',
      tenant: 'acme',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    },
    true,
  ],
  [
    'one that goes on as it was found',
    { 'x-acemq-id': 'o-2', 'x-acemq-attempt': 5, 'x-acemq-first-seen': NOW - 1000, 'x-acemq-error': 'no' },
    false,
  ],
  [
    'one that was replayed before: by a count as text, a time as milliseconds',
    {
      'x-acemq-id': 'o-3',
      'x-acemq-first-seen': NOW - 1000,
      'acemq-replayed-from': 'orders.dlq',
      'acemq-replayed-at': NOW - 5000,
      'acemq-replay-count': '2',
    },
    true,
  ],
  [
    'one that the broker marked, with a header of a later version and a route',
    {
      'x-acemq-id': 'o-4',
      'x-acemq-first-seen': NOW - 1000,
      'x-acemq-route': 'validate,enrich,store',
      'x-acemq-route-position': 1,
      'x-acemq-route-id': 'r-1',
      'x-acemq-later': 'kept',
      'x-death': 'dropped',
      'x-first-death-queue': 'dropped',
      CC: 'dropped',
      BCC: 'dropped',
      'x-delivery-count': 3,
    },
    true,
  ],
  ['one without any header', {}, true],
];

const TIMES: readonly HeaderTable[string][] = [
  '2026-01-02T03:04:05.678Z',
  '2026-01-02T03:04:05.678+00:00',
  '2026-01-02T04:04:05.678+01:00',
  NOW,
  String(NOW),
  'yesterday',
];

const QUEUES = ['orders.new.dlq', 'orders.new.parked', 'orders.new', '.dlq', 'a.dlq.dlq'] as const;

/** What a replay makes of a message, and where it puts it. */
export function patternsReplayFixtures(): object {
  return {
    contract:
      'A replay publishes mandatory and confirmed to the default exchange under the name of the source queue, and acknowledges the original after that. The body and the content type stay as they are; x-death and its kin, CC, BCC and the expiration are left out; replayed-at is RFC 3339 in UTC.',
    sourceQueues: Object.fromEntries(QUEUES.map((queue) => [queue, sourceQueueOf(queue) ?? null])),
    replayedAt: TIMES.map((value) => ({
      value,
      epochMillis: readReplayed({ 'acemq-replayed-at': value }).at ?? null,
    })),
    cases: CASES.map(([name, headers, restart]) => {
      const envelope = readEnvelope({ headers, messageId: 'm-1', routingKey: QUEUE }, NOW);
      return {
        case: name,
        queue: QUEUE,
        messageId: 'm-1',
        nowMillis: NOW,
        restart,
        headers: sortedTable(headers),
        published: sortedTable(copyHeaders(replayed(envelope, QUEUE, NOW, restart))),
      };
    }),
  };
}
