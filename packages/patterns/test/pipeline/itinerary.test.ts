import {
  createEnvelope,
  type Envelope,
  type EnvelopeFields,
  FatalError,
  readEnvelope,
  writeHeaders,
} from '@acemq/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hopOf, next, type Place, readItinerary } from '../../src/pipeline/index.ts';
import { runOf } from '../../src/pipeline/run.ts';

const NOW = Date.UTC(2026, 11, 1);
const STEPS = ['validate', 'enrich', 'store'];

const AT_ENRICH: Place = {
  queue: 'onboarding.enrich',
  pipeline: 'onboarding',
  exchange: 'onboarding',
  steps: STEPS,
  step: 'enrich',
};
const BARE: Place = { queue: 'q', pipeline: undefined, exchange: undefined };

function envelope(fields: EnvelopeFields): Envelope {
  return createEnvelope(
    { id: 'm-1', correlationId: 'flow-1', ...fields },
    { routingKey: 'enrich', now: NOW - 5_000 },
  );
}

const SLIP =
  '{"steps":[{"exchange":"a","routingKey":"b","name":"c"},{"exchange":"","routingKey":"d"}],"done":[]}';
const withSlip = (slip: string, fields: EnvelopeFields = {}): Envelope =>
  envelope({ ...fields, headers: { 'acemq-routing-slip': slip } });

/** The message that the library would publish next, as the next consumer reads it. */
function hopped(from: Envelope, place: Place, answer = next()): Envelope {
  const fields = hopOf(from, readItinerary(from, place), answer, NOW);
  const sent = createEnvelope({ ...fields, id: `${from.id}+` }, { routingKey: 'next', now: NOW });
  return readEnvelope({ headers: writeHeaders(sent), messageId: sent.id, routingKey: 'next' }, NOW);
}

describe('a run is read', () => {
  test('from a declared route: its id, where it is, what is done and what remains', () => {
    const run = runOf(
      readItinerary(envelope({ route: STEPS, routePosition: 1, routeId: 'run-1' }), AT_ENRICH),
      AT_ENRICH,
    );
    const stops = STEPS.map((routingKey) => ({ exchange: 'onboarding', routingKey }));
    expect(run).toEqual({
      id: 'run-1',
      form: 'declared',
      pipeline: 'onboarding',
      step: 'enrich',
      position: 1,
      next: stops[2],
      done: [stops[0]],
      remaining: [stops[2]],
    });
    expect(Object.isFrozen(run)).toBe(true);
  });

  test('from a routing slip, whose run is known by its correlation id', () => {
    const run = runOf(readItinerary(withSlip(SLIP), BARE), BARE);
    expect(run).toEqual({
      id: 'flow-1',
      form: 'json',
      pipeline: 'a',
      step: 'c',
      position: 0,
      next: { exchange: '', routingKey: 'd' },
      done: [],
      remaining: [{ exchange: '', routingKey: 'd' }],
    });
  });

  test('from a declared route without an id, which the correlation id then stands in for from there on', () => {
    const from = envelope({ route: STEPS, routePosition: 1 });
    expect(readItinerary(from, AT_ENRICH).id).toBe('flow-1');
    expect(hopped(from, AT_ENRICH)).toMatchObject({ route: STEPS, routePosition: 2, routeId: 'flow-1' });
  });

  test('from a message without a slip on the queue of a step: a new run goes on from there, under an id that a retry keeps', () => {
    const from = envelope({});
    const run = runOf(readItinerary(from, AT_ENRICH), AT_ENRICH);
    expect(run).toMatchObject({ id: 'm-1', form: 'declared', step: 'enrich', position: 1 });
    expect(hopped(from, AT_ENRICH)).toMatchObject({ route: STEPS, routePosition: 2, routeId: 'm-1' });
  });

  test('from the slip in JSON where both are there, and the other goes on as it came', () => {
    const from = withSlip(SLIP, { route: STEPS, routePosition: 1, routeId: 'run-1' });
    expect(readItinerary(from, AT_ENRICH)).toMatchObject({ form: 'json', here: { name: 'c' } });
    const hop = hopped(from, AT_ENRICH);
    expect(hop).toMatchObject({ route: STEPS, routePosition: 1, routeId: 'run-1' });
    expect(JSON.parse(hop.headers['acemq-routing-slip'] as string)).toMatchObject({
      steps: [{ routingKey: 'd' }],
      done: [{ routingKey: 'b' }],
    });
  });

  test('from a declared route on a queue of another name, where the options say its exchange', () => {
    const place: Place = { ...BARE, exchange: 'onboarding' };
    const read = readItinerary(envelope({ route: STEPS }), place);
    expect(read.remaining[0]).toEqual({ exchange: 'onboarding', routingKey: 'enrich' });
  });

  test('where the header of the slip is null, as one that is not there', () => {
    const from = envelope({ route: STEPS, routePosition: 1, headers: { 'acemq-routing-slip': null } });
    expect(readItinerary(from, AT_ENRICH).form).toBe('declared');
  });
});

describe('a run cannot be followed, which is fatal and says why,', () => {
  test.each<[string, Envelope, Place, string]>([
    [
      'from a position past the end of its route',
      envelope({ route: STEPS, routePosition: 3 }),
      AT_ENRICH,
      'the position of the message (x-acemq-route-position) is 3, and its route has 3 steps (validate, enrich, store): allowed are 0 to 2',
    ],
    [
      'from a position far past it',
      envelope({ route: ['validate'], routePosition: Number.MAX_SAFE_INTEGER }),
      { ...BARE, exchange: 'onboarding' },
      'is 9007199254740991, and its route has 1 steps (validate)',
    ],
    [
      'from a slip whose stops are all done',
      withSlip('{"steps":[],"done":[{"exchange":"a","routingKey":"b"},{"exchange":"a","routingKey":"c"}]}'),
      AT_ENRICH,
      'the routing slip has 0 stops left and 2 done (b, c): its run is over',
    ],
    [
      'from a slip whose stops are null',
      withSlip('{"steps":null,"done":null}'),
      BARE,
      '0 stops left and 0 done',
    ],
    [
      'on the queue of another step',
      envelope({ route: STEPS, routePosition: 2 }),
      AT_ENRICH,
      'the message is for the step "store", number 2 of its route (validate, enrich, store), and the queue "onboarding.enrich" is for "enrich"',
    ],
    [
      'on the queue of another step, which its name tells',
      envelope({ route: STEPS, routePosition: 2 }),
      { queue: 'onboarding.enrich', pipeline: 'onboarding', exchange: 'onboarding' },
      'the queue "onboarding.enrich" is for "enrich"',
    ],
    [
      'from a declared route without an exchange',
      envelope({ route: STEPS, routePosition: 1 }),
      BARE,
      'names steps and no exchange; give followSlip the option pipeline or exchange',
    ],
    ['from nothing', envelope({}), BARE, 'neither the header acemq-routing-slip nor x-acemq-route'],
    [
      'from a step that is longer than a routing key may be',
      envelope({ route: ['enrich', 's'.repeat(300)] }),
      AT_ENRICH,
      'a step of the route takes more than 255 bytes',
    ],
    ['from text that is no JSON', withSlip('{'), AT_ENRICH, 'is not JSON'],
  ])('%s', (_, from, place, reason) => {
    const read = (): unknown => readItinerary(from, place);
    expect(read).toThrow(FatalError);
    expect(read).toThrow(reason);
  });

  test('and shows no more of a long route than a line', () => {
    const route = Array.from({ length: 100 }, (_, number) => `a-step-with-a-long-name-${number}`);
    expect(() => readItinerary(envelope({ route, routePosition: 100 }), AT_ENRICH)).toThrow(/^.{0,300}$/);
  });
});

const step = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9.-]{0,20}$/);

test('a declared run goes hop by hop through 1 to 100 steps, and says the same of itself at each of them', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 100 }), fc.uuid(), (steps, routeId) => {
      let at = envelope({ route: steps, routePosition: 0, routeId });
      for (let position = 0; position < steps.length; position += 1) {
        const place: Place = { ...BARE, exchange: 'p' };
        const read = readItinerary(at, place);
        expect(read).toMatchObject({
          form: 'declared',
          id: routeId,
          here: { exchange: 'p', routingKey: steps[position] },
        });
        expect(read.done.map(({ routingKey }) => routingKey)).toEqual(steps.slice(0, position));
        expect(read.remaining.map(({ routingKey }) => routingKey)).toEqual(steps.slice(position + 1));
        at = hopped(at, place);
        expect(at).toMatchObject({ route: steps, routePosition: position + 1, routeId });
      }
    }),
    { numRuns: 30 },
  );
});
