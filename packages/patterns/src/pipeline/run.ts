import { type Itinerary, type Place, type SlipForm, stepOf } from './itinerary.ts';
import type { DoneStop, Stop } from './stop.ts';

/** The run that a message belongs to, as a step's handler sees it. Frozen. */
export interface Run {
  /**
   * The same at every step. For a declared route its `x-acemq-route-id`; for a routing slip the correlation id; for a
   * message that began its run at this step by being published into the step's queue, the message's own id.
   */
  readonly id: string;
  /** How the message says where the run goes. */
  readonly form: SlipForm;
  /** What the run is counted under; empty where nothing says so. */
  readonly pipeline: string;
  /** What the step is called. */
  readonly step: string;
  /** How many stops are done: 0 at the first. */
  readonly position: number;
  /** Undefined at the last step. */
  readonly next: Stop | undefined;
  /** Oldest first. */
  readonly done: readonly DoneStop[];
  /** What is left after this step. */
  readonly remaining: readonly Stop[];
}

/** What the handler at a place is told of an itinerary. */
export function runOf(itinerary: Itinerary, place: Place): Run {
  const { id, form, done, here, remaining } = itinerary;
  return Object.freeze({
    id,
    form,
    pipeline: place.pipeline ?? here.exchange,
    step: stepOf(itinerary),
    position: done.length,
    next: remaining[0],
    done: Object.freeze(done),
    remaining: Object.freeze(remaining),
  });
}
