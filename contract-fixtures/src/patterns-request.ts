import {
  createEnvelope,
  type Envelope,
  HEADER_REPLY_ERROR,
  HEADER_REPLY_TO,
  type HeaderTable,
  LONGEST_REASON,
  readEnvelope,
  writeHeaders,
} from '@acemq/core';
import {
  METRIC_REQUEST_DURATION,
  METRIC_REQUEST_TOTAL,
  OUTCOME_ANSWERED,
  OUTCOME_FAILED,
  OUTCOME_TIMED_OUT,
  TAG_OUTCOME,
  TAG_ROUTING_KEY,
} from '@acemq/observe';
import {
  type Addressed,
  answeredBy,
  failureOf,
  failureText,
  generatedReplyQueue,
  replyAddressOf,
  replyFields,
  replyQueuePlan,
  requestFields,
  type WireFields,
} from '@acemq/patterns/request';
import { sortedTable } from './envelopes.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const ADDRESS = 'acemq-reply-0123456789abcdef0123456789abcdef';

/** What is written on the wire, with an id that is known. */
function written(fields: WireFields, routingKey: string, id: string, origin: string): object {
  const envelope = createEnvelope(fields, { routingKey, now: NOW, origin, newId: () => id });
  const { replyTo } = fields;
  return {
    exchange: '',
    routingKey,
    properties: { messageId: id, ...(replyTo === undefined ? {} : { replyTo }) },
    headers: sortedTable(writeHeaders(envelope)),
  };
}

function request(): object {
  const asked = { type: undefined, version: undefined, causationId: 'm-0', headers: { tenant: 'acme' } };
  return written(requestFields(asked, ADDRESS), 'prices', 'r-1', 'shop@host-0');
}

/** The request as its responder reads it. */
function received(headers: HeaderTable): Envelope {
  return readEnvelope({ headers, messageId: 'r-1', routingKey: 'prices' }, NOW);
}

function reply(headers: HeaderTable, more: WireFields = {}, type?: string): object {
  const fields = { ...replyFields(received(headers), type), ...more };
  return written(fields, ADDRESS, 'a-1', 'pricing@host-1');
}

/** Requests as other programs send them, by what they say about their address. */
const ADDRESSES: Readonly<Record<string, Addressed>> = {
  'in the header and in the property': { headers: { [HEADER_REPLY_TO]: 'a' }, replyTo: 'a' },
  'in the header, which comes first': { headers: { [HEADER_REPLY_TO]: 'a' }, replyTo: 'b' },
  'in the header alone': { headers: { [HEADER_REPLY_TO]: 'a' }, replyTo: undefined },
  'in the property alone': { headers: {}, replyTo: 'b' },
  'an empty header': { headers: { [HEADER_REPLY_TO]: '' }, replyTo: 'b' },
  'a header that is no text': { headers: { [HEADER_REPLY_TO]: { queue: 'a' } }, replyTo: 'b' },
  'of direct reply-to, as the broker makes it': {
    headers: { [HEADER_REPLY_TO]: 'amq.rabbitmq.reply-to' },
    replyTo: 'amq.rabbitmq.reply-to.g1h2AA1yZXBseUA5MjQ4ODg0AABbwQAAAAFrDqmx.BtdHCMUtMop5OpZr9L1axA==',
  },
  'of direct reply-to, as no broker makes it': {
    headers: { [HEADER_REPLY_TO]: 'amq.rabbitmq.reply-to.garbage' },
    replyTo: undefined,
  },
  'longer than a routing key': { headers: { [HEADER_REPLY_TO]: 'x'.repeat(256) }, replyTo: undefined },
  nowhere: { headers: {}, replyTo: undefined },
};

/** What `acemq-error` may say. */
const FAILURES: readonly string[] = [
  'RangeError: too large',
  'java.io.IOException: reset',
  'Orders::Unknown: A-1',
  'Error: a: b',
  'just words',
  'RangeError',
];

/** Replies, by what they say of the request `r-1` that waits. */
const REPLIES: Readonly<Record<string, { readonly correlation: string; readonly causation?: string }>> = {
  'the correlation of the request': { correlation: 'r-1', causation: 'r-1' },
  'the correlation alone': { correlation: 'r-1' },
  'the id of the request as causation': { correlation: 'a flow', causation: 'r-1' },
  neither: { correlation: 'r-2', causation: 'r-2' },
};

/** A name without what is different each time. */
function nameOfReplyQueue(): string {
  const name = generatedReplyQueue();
  const pattern = /^acemq-reply-[0-9a-f]{32}$/;
  if (!pattern.test(name)) throw new Error(`${name} is not called as it must be`);
  return pattern.source;
}

function queueOf(name: string, generated: boolean): object {
  const [queue] = replyQueuePlan(name, generated).queues;
  return { type: queue?.type, ...queue?.spec };
}

/** How questions are asked and answered: both messages, the queues of replies, and how a reply is matched and read. */
export function patternsRequestFixtures(): object {
  const asked: HeaderTable = { 'x-acemq-correlation': 'flow-1', 'x-acemq-type': 'price.asked' };
  const waiting = new Map([['r-1', true]]);
  return {
    headers: { address: HEADER_REPLY_TO, failure: HEADER_REPLY_ERROR },
    replyQueue: {
      ofItsOwn: { name: nameOfReplyQueue(), ...queueOf(ADDRESS, true) },
      named: queueOf('answers', false),
    },
    request: { mandatory: true, ...request() },
    reply: {
      to: sortedTable(asked),
      answer: { mandatory: false, ...reply(asked) },
      typed: reply(asked, {}, 'price'),
      failure: {
        mandatory: false,
        body: 'null, as the codec writes it',
        ...reply(asked, { headers: { [HEADER_REPLY_ERROR]: failureText(new RangeError('too large')) } }),
      },
    },
    addresses: Object.entries(ADDRESSES).map(([name, addressed]) => ({
      case: name,
      headers: sortedTable(addressed.headers as HeaderTable),
      replyTo: addressed.replyTo ?? null,
      address: replyAddressOf(addressed) ?? null,
    })),
    failures: {
      longest: LONGEST_REASON,
      read: FAILURES.map((text) => {
        const failure = failureOf({ [HEADER_REPLY_ERROR]: text });
        return { text, type: failure?.type ?? null, message: failure?.message ?? null };
      }),
    },
    matching: Object.entries(REPLIES).map(([name, { correlation, causation }]) => {
      const headers: HeaderTable = { 'x-acemq-correlation': correlation };
      if (causation !== undefined) headers['x-acemq-causation'] = causation;
      const envelope = readEnvelope({ headers, messageId: 'a-1', routingKey: ADDRESS }, NOW);
      return {
        case: name,
        correlation,
        causation: causation ?? null,
        matched: answeredBy(envelope, waiting) === true,
      };
    }),
    settling: {
      answered: 'accept',
      failedAndTold: 'reject',
      replyNotSent: 'retry',
      noAddress: 'reject',
    },
    metrics: {
      names: [METRIC_REQUEST_TOTAL, METRIC_REQUEST_DURATION],
      labels: [TAG_OUTCOME, TAG_ROUTING_KEY],
      outcomes: [OUTCOME_ANSWERED, OUTCOME_FAILED, OUTCOME_TIMED_OUT],
    },
  };
}
