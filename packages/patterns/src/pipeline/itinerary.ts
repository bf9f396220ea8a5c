import {
  cutText,
  type Envelope,
  type EnvelopeFields,
  FatalError,
  HEADER_ROUTE,
  HEADER_ROUTE_POSITION,
  HEADER_ROUTING_SLIP,
  isShortText,
  LONGEST_NAME,
  shown,
} from '@acemq/core';
import { advanceSlip, LONGEST_SHOWN, readSlip } from './routing-slip.ts';
import { type DoneStop, nameOf, type Stop } from './stop.ts';

/**
 * How a message says where its run goes: as a routing slip in JSON, or as the declared route of a pipeline. Both are
 * read, and each is written back as it came.
 */
export type SlipForm = 'json' | 'declared';

/** Where a message is read. */
export interface Place {
  readonly queue: string;
  /** What a declared route is published to; undefined where nobody said so. */
  readonly exchange: string | undefined;
  /** What the run is counted under; undefined where nobody said so. */
  readonly pipeline: string | undefined;
  /** The steps of the pipeline that the queue belongs to; undefined for any other queue. */
  readonly steps?: readonly string[] | undefined;
  /** Which of them the queue is for. */
  readonly step?: string | undefined;
}

/** Where the run of a message has been, where it is, and where it goes. Frozen. */
export interface Itinerary {
  readonly form: SlipForm;
  /** The run's id. */
  readonly id: string;
  /** Oldest first. */
  readonly done: readonly DoneStop[];
  readonly here: Stop;
  /** What is left after this stop. */
  readonly remaining: readonly Stop[];
  /**
   * What the message to the next stop says about its run: fields of its envelope, and the slip where it has one.
   *
   * @param now - Milliseconds since the epoch.
   */
  onward(now: number): Onward;
}

/** The part of a message that says where its run goes. */
export interface Onward extends Pick<EnvelopeFields, 'route' | 'routePosition' | 'routeId'> {
  /** What `acemq-routing-slip` says; undefined for a declared route. */
  readonly slip?: string | undefined;
}

/**
 * Reads where the run of a message goes. A slip in JSON comes first, then a declared route; a message with neither on
 * the queue of a pipeline's step begins a run there.
 *
 * @throws `FatalError` (`ACEMQ_FATAL`), which says why it cannot be followed: there is nothing to follow, it cannot be
 * read, no stop is left at its position, or it is meant for another queue.
 */
export function readItinerary(envelope: Envelope, place: Place): Itinerary {
  const slip = envelope.headers[HEADER_ROUTING_SLIP];
  if (slip !== undefined && slip !== null) return ofSlip(readSlip(slip), envelope);
  if (envelope.route !== undefined) return ofRoute(envelope.route, envelope.routePosition, envelope, place);
  const { steps, step } = place;
  if (steps !== undefined && step !== undefined) {
    return declared(steps, steps.indexOf(step), envelope.id, place.exchange ?? '');
  }
  throw new FatalError(
    `the message says nowhere where it goes: it has neither the header ${HEADER_ROUTING_SLIP} nor ${HEADER_ROUTE}`,
  );
}

function ofSlip(slip: ReturnType<typeof readSlip>, envelope: Envelope): Itinerary {
  const { done, steps } = slip;
  const [here, ...remaining] = steps;
  if (here === undefined) {
    throw new FatalError(
      `the routing slip has 0 stops left and ${done.length} done (${cutText(done.map(nameOf).join(', '), LONGEST_SHOWN)}): its run is over, and nothing is to be done here`,
    );
  }
  const { route, routePosition, routeId } = envelope;
  return Object.freeze({
    form: 'json',
    id: routeId ?? envelope.correlationId,
    done,
    here,
    remaining,
    onward: (now: number): Onward => ({ slip: advanceSlip(slip, now), route, routePosition, routeId }),
  });
}

function ofRoute(route: readonly string[], position: number, envelope: Envelope, place: Place): Itinerary {
  const { exchange, queue, pipeline } = place;
  const step = route[position];
  const names = cutText(route.join(', '), LONGEST_SHOWN);
  if (step === undefined) {
    throw new FatalError(
      `the position of the message (${HEADER_ROUTE_POSITION}) is ${position}, and its route has ${route.length} steps ` +
        `(${names}): allowed are 0 to ${route.length - 1}`,
    );
  }
  if (exchange === undefined) {
    throw new FatalError(
      `the declared route of the message (${HEADER_ROUTE}) names steps and no exchange; give followSlip the option pipeline or exchange`,
    );
  }
  const tooLong = route.find((one) => !isShortText(one));
  if (tooLong !== undefined) {
    throw new FatalError(
      `a step of the route takes more than ${LONGEST_NAME} bytes, and begins ${shown(tooLong.slice(0, 40))}`,
    );
  }
  const meant = place.step ?? stepOfQueue(queue, pipeline, route);
  if (meant !== undefined && meant !== step) {
    throw new FatalError(
      `the message is for the step ${shown(step)}, number ${position} of its route (${names}), and the queue ` +
        `${shown(queue)} is for ${shown(meant)}`,
    );
  }
  return declared(route, position, envelope.routeId ?? envelope.correlationId, exchange);
}

/** The step that a queue is for by its name, `{pipeline}.{step}`, where that is a step of the route. */
function stepOfQueue(
  queue: string,
  pipeline: string | undefined,
  route: readonly string[],
): string | undefined {
  if (pipeline === undefined || !queue.startsWith(`${pipeline}.`)) return undefined;
  const step = queue.slice(pipeline.length + 1);
  return route.includes(step) ? step : undefined;
}

function declared(steps: readonly string[], position: number, id: string, exchange: string): Itinerary {
  const stops = steps.map((step): Stop => Object.freeze({ exchange, routingKey: step }));
  return Object.freeze({
    form: 'declared',
    id,
    done: stops.slice(0, position),
    here: stops[position] as Stop,
    remaining: stops.slice(position + 1),
    onward: (): Onward => ({ route: steps, routePosition: position + 1, routeId: id }),
  });
}

/** What the stop that the message is at is called. */
export function stepOf({ here }: Itinerary): string {
  return nameOf(here);
}
