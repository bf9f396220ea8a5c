import {
  createEnvelope,
  FatalError,
  HEADER_ROUTE,
  HEADER_ROUTE_ID,
  HEADER_ROUTE_POSITION,
  HEADER_ROUTING_SLIP,
  type HeaderTable,
  readEnvelope,
  writeHeaders,
} from '@acemq/core';
import {
  METRIC_PIPELINE_RUN_DURATION,
  METRIC_PIPELINE_RUN_TOTAL,
  TAG_OUTCOME,
  TAG_PIPELINE,
  TAG_STEP,
} from '@acemq/observe';
import {
  ATTR_RUN_AGE,
  EVENT_RUN_FINISHED,
  hopOf,
  LONGEST_SLIP,
  type Next,
  next,
  outcomeOfRun,
  Pipeline,
  type Place,
  readItinerary,
  type Stop,
  writeSlip,
} from '@acemq/patterns/pipeline';
import { sortedTable } from './envelopes.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const DONE = NOW + 1_000;
const RUN_ID = '6f1c2a1e-0d7b-4a7e-9a53-2f0c8f1f7b11';
const STEPS = ['validate', 'enrich', 'store'] as const;
const PIPELINE = new Pipeline('onboarding', STEPS);

const STOPS: readonly Stop[] = [
  { exchange: 'orders', routingKey: 'check', name: 'check' },
  { exchange: '', routingKey: 'shipping.parcels' },
  { exchange: 'billing', routingKey: '', name: 'bill' },
];

/** Where the messages of the pipeline are read: on the queue of each of its steps. */
function placeOf(step: (typeof STEPS)[number]): Place {
  const { name, steps } = PIPELINE;
  return { queue: PIPELINE.queue(step), pipeline: name, exchange: name, steps, step };
}

const BARE: Place = { queue: 'work', pipeline: undefined, exchange: undefined };

/** The message to the next stop, with an id that is known. */
function hop(headers: HeaderTable, place: Place, routingKey: string, answer: Next = next()): HeaderTable {
  const from = readEnvelope({ headers, messageId: undefined, routingKey: place.step ?? place.queue }, NOW);
  const fields = hopOf(from, readItinerary(from, place), answer, DONE);
  const to = createEnvelope(fields, {
    routingKey,
    now: NOW,
    origin: 'worker@host-1',
    newId: () => `${from.id}+`,
  });
  return sortedTable(writeHeaders(to));
}

/** The first message of a run, as `send` and `startSlip` publish it. */
function first(headers: HeaderTable, route: object, routingKey: string): HeaderTable {
  const fields = { id: 'm-1', headers: { tenant: 'acme', ...headers }, ...route };
  return sortedTable(writeHeaders(createEnvelope(fields, { routingKey, now: NOW, origin: 'shop@host-0' })));
}

function declaredRun(): readonly HeaderTable[] {
  const begun = first({}, { route: STEPS, routePosition: 0, routeId: RUN_ID }, 'validate');
  const second = hop(begun, placeOf('validate'), 'enrich');
  return [begun, second, hop(second, placeOf('enrich'), 'store', next({}))];
}

function slipRun(): readonly HeaderTable[] {
  const begun = first({ [HEADER_ROUTING_SLIP]: writeSlip(STOPS) }, {}, 'check');
  const second = hop(begun, BARE, 'shipping.parcels');
  return [begun, second, hop(second, BARE, '', next({}))];
}

/** Slips as other programs write them, by what is the matter with each. */
const FOREIGN: Readonly<Record<string, string>> = {
  'a list that was never made':
    '{"steps":[{"exchange":"a","routingKey":"b"},{"exchange":"a","routingKey":"c"}],"done":null}',
  'fields that this library does not know':
    '{"v":2,"steps":[{"exchange":"a","routingKey":"b","retries":[1]},{"exchange":"a","routingKey":"c","x":{}}],"done":[],"by":"go"}',
  'a number that a double cannot hold':
    '{"run":12345678901234567890,"steps":[{"exchange":"a","routingKey":"b","w":1.0}]}',
  'white space, another order, a name that is null':
    '{ "done" : [ ],\n "steps" : [ { "name" : null, "routingKey" : "b", "exchange" : "a" } ] }',
  'members named __proto__':
    '{"__proto__":1,"steps":[{"exchange":"a","routingKey":"b","__proto__":{}}],"done":[]}',
};

function route(position: number, steps = STEPS.join(',')): HeaderTable {
  return { [HEADER_ROUTE]: steps, [HEADER_ROUTE_POSITION]: position, [HEADER_ROUTE_ID]: RUN_ID };
}

/** Messages that are dead-lettered at once, before the step sees them, on the queue `onboarding.enrich`. */
const REFUSED: Readonly<Record<string, HeaderTable>> = {
  'a position past the end': route(3),
  'the step of another queue': route(0),
  'a step that this queue is not for': route(0, 'audit'),
  'no JSON': { [HEADER_ROUTING_SLIP]: 'check,ship,bill' },
  'no object': { [HEADER_ROUTING_SLIP]: '[]' },
  'no steps': { [HEADER_ROUTING_SLIP]: '{"done":[]}' },
  'names of another case': { [HEADER_ROUTING_SLIP]: '{"Steps":[{"Exchange":"a","RoutingKey":"b"}]}' },
  'no step left': { [HEADER_ROUTING_SLIP]: '{"steps":[],"done":[{"exchange":"a","routingKey":"b"}]}' },
  'a step that is no object': { [HEADER_ROUTING_SLIP]: '{"steps":["check"]}' },
  'a step without an exchange': { [HEADER_ROUTING_SLIP]: '{"steps":[{"routingKey":"b"}]}' },
  'a step that leads nowhere': { [HEADER_ROUTING_SLIP]: '{"steps":[{"exchange":"","routingKey":""}]}' },
};

function refused(headers: HeaderTable): HeaderTable {
  try {
    readItinerary(readEnvelope({ headers, messageId: 'm-1', routingKey: 'enrich' }, NOW), placeOf('enrich'));
  } catch (error) {
    if (error instanceof FatalError) return headers;
    throw error;
  }
  throw new Error(`it is followed: ${JSON.stringify(headers)}`);
}

function refusedName(name: string): string {
  try {
    new Pipeline(name, ['one']);
  } catch {
    return name;
  }
  throw new Error(`it is accepted: ${name}`);
}

const mapped = <T, U>(table: Readonly<Record<string, T>>, work: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(table).map(([name, value]) => [name, work(value)]));

function slipOf(headers: HeaderTable): string {
  return String(headers[HEADER_ROUTING_SLIP]);
}

/** How runs travel: both forms of slip hop by hop, what is carried on, what is refused, and how they are counted. */
export function patternsPipelineFixtures(): object {
  const { exchanges, queues, bindings } = PIPELINE.topology().plan();
  const both = { ...route(1), 'x-acemq-id': 'm-1', [HEADER_ROUTING_SLIP]: writeSlip(STOPS) };
  const carried = {
    tenant: 'acme',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    tracestate: 'a=b',
  };
  const left = {
    'acemq-error': 'RangeError: no',
    'acemq-reply-to': 'replies',
    'acemq-replayed-from': 'onboarding.enrich.dlq',
    'acemq-replayed-at': '2026-01-02T03:04:05.678Z',
    'acemq-replay-count': 1,
    'x-death': [],
    'x-first-death-queue': 'q',
    CC: ['a'],
    BCC: ['b'],
  };
  const known = {
    'x-acemq-id': 'm-1',
    'x-acemq-type': 'customer.applied',
    'x-acemq-version': 3,
    'x-acemq-attempt': 3,
    'x-acemq-error': 'an earlier reason',
    'x-acemq-claim': 'store://1',
  };
  const full = { ...carried, ...left, ...known, ...route(1) };
  return {
    names: {
      accepted: ['a', 'Orders', '4.step', 'a-b.c'].map((name) => new Pipeline(name, [name]).name),
      refused: ['', '.a', '-a', 'a,b', 'a b', 'a_b', 'ä', 'amq.a', 'acemq.dlx', 'acemq.retry'].map(
        refusedName,
      ),
    },
    topology: {
      pipeline: PIPELINE.name,
      steps: PIPELINE.steps,
      exchange: exchanges.find(({ name }) => name === PIPELINE.name),
      queues: queues.map(({ name, type }) => ({ name, type })),
      bindings: bindings.filter(({ exchange }) => exchange === PIPELINE.name),
    },
    declared: {
      headers: [HEADER_ROUTE, HEADER_ROUTE_POSITION, HEADER_ROUTE_ID],
      run: declaredRun(),
      withoutASlip: {
        came: { 'x-acemq-id': 'm-1' },
        at: 'enrich',
        next: hop({ 'x-acemq-id': 'm-1' }, placeOf('enrich'), 'store'),
      },
    },
    slip: {
      header: HEADER_ROUTING_SLIP,
      longest: LONGEST_SLIP,
      run: slipRun(),
      foreign: mapped(FOREIGN, (came) => ({
        came,
        next: slipOf(hop({ 'x-acemq-id': 'm-1', [HEADER_ROUTING_SLIP]: came }, BARE, 'c')),
      })),
      bytes: slipOf(
        hop(
          { [HEADER_ROUTING_SLIP]: new TextEncoder().encode(FOREIGN['a list that was never made']) },
          BARE,
          'c',
        ),
      ),
    },
    both: { came: sortedTable(both), next: hop(both, placeOf('enrich'), 'shipping.parcels') },
    hop: {
      came: sortedTable(full),
      asItCame: hop(full, placeOf('enrich'), 'store'),
      newPayload: hop(full, placeOf('enrich'), 'store', next({})),
      said: hop(
        full,
        placeOf('enrich'),
        'store',
        next({}, { type: 'customer.new', version: 2, headers: { tenant: 'other' } }),
      ),
    },
    refused: mapped(REFUSED, refused),
    finished: {
      metrics: [METRIC_PIPELINE_RUN_TOTAL, METRIC_PIPELINE_RUN_DURATION],
      event: EVENT_RUN_FINISHED,
      attributes: [TAG_PIPELINE, TAG_STEP, TAG_OUTCOME, ATTR_RUN_AGE],
      stopsLeft: { 0: outcomeOfRun({ remaining: [] }), 1: outcomeOfRun({ remaining: STOPS.slice(0, 1) }) },
    },
  };
}
