import { ConfigurationError, cutText, FatalError, type HeaderValue, shown } from '@acemq/core';
import { membersOf, objectOf, partsOf } from './json-parts.ts';
import { type DoneStop, faultOf, type Stop } from './stop.ts';

/**
 * The most bytes that a slip may take once all of its stops are done. Headers may take 64 KiB together, and beside the
 * slip there must be room for those of the application and for the reason of a dead letter.
 */
export const LONGEST_SLIP = 49_152;

/** What a stop that is done has more than before, in bytes: `,"completedAt":"…"`. */
const COMPLETION = 42;

/** How much of a slip or a route its errors show, in characters. */
export const LONGEST_SHOWN = 120;

/** The itinerary in the header `acemq-routing-slip`. */
export interface RoutingSlip {
  /** Oldest first. */
  readonly done: readonly DoneStop[];
  /** The first is the one that the message is at. */
  readonly steps: readonly Stop[];
  /** As it came. */
  readonly text: string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * The text of a slip with all of its stops to go.
 *
 * @throws `ConfigurationError` where it would not fit into the headers of a message.
 */
export function writeSlip(stops: readonly Stop[]): string {
  const steps = stops.map(({ exchange, routingKey, name }) => JSON.stringify({ exchange, routingKey, name }));
  const text = `{"steps":[${steps.join(',')}],"done":[]}`;
  const bytes = bytesWhenDone(text, stops.length);
  if (bytes > LONGEST_SLIP) {
    throw new ConfigurationError(
      `a routing slip of ${stops.length} stops takes ${bytes} bytes once they are done; allowed: up to ${LONGEST_SLIP}`,
    );
  }
  return text;
}

/**
 * Reads a slip. Fields that it does not know are left as they are.
 *
 * @param value - The header: JSON text, or the bytes of it.
 * @throws `FatalError`, which says what is wrong with it: no JSON, no list `steps`, a stop that is none, too long.
 */
export function readSlip(value: HeaderValue): RoutingSlip {
  const text = textOf(value);
  let slip: unknown;
  try {
    slip = JSON.parse(text);
  } catch (error) {
    throw unreadable(`is not JSON: ${(error as Error).message}`, text, error);
  }
  if (!isObject(slip))
    throw unreadable(`must be an object with "steps" and "done", and is ${shown(slip)}`, text);
  const { steps, done } = slip;
  if (!Object.hasOwn(slip, 'steps')) {
    const names = Object.keys(slip).slice(0, 10).map(shown).join(', ');
    throw unreadable(`has no "steps"; it has ${names === '' ? 'nothing' : names}`, text);
  }
  const read: RoutingSlip = { steps: stopsOf(steps, 'steps', text), done: stopsOf(done, 'done', text), text };
  const bytes = bytesWhenDone(text, read.steps.length);
  if (bytes > LONGEST_SLIP) {
    throw unreadable(`takes ${bytes} bytes once its stops are done; allowed: up to ${LONGEST_SLIP}`, text);
  }
  return read;
}

/**
 * The text of the slip for the message that goes to the next stop: the first of `steps` moves to the end of `done`, with
 * the time. All the rest stays as it came.
 *
 * @param slip - With at least one stop left.
 * @param now - Milliseconds since the epoch.
 */
export function advanceSlip(slip: RoutingSlip, now: number): string {
  const members = membersOf(slip.text);
  const [head = '{}', ...steps] = partsOf(members.get('steps') ?? '[]');
  const stop = membersOf(head);
  stop.set('completedAt', JSON.stringify(new Date(now).toISOString()));
  const done = members.get('done') ?? '[]';
  // Go writes `null` for a list that was never made.
  const before = done.startsWith('[') ? partsOf(done) : [];
  members.set('steps', `[${steps.join(',')}]`);
  members.set('done', `[${[...before, objectOf(stop)].join(',')}]`);
  return objectOf(members);
}

function textOf(value: HeaderValue): string {
  if (typeof value === 'string') return value.replace(/^\uFEFF/, '');
  if (!ArrayBuffer.isView(value)) {
    throw new FatalError(`the header acemq-routing-slip must be JSON text, and is ${shown(value)}`);
  }
  try {
    return decoder.decode(value);
  } catch (error) {
    throw new FatalError('the header acemq-routing-slip must be JSON text, and its bytes are not UTF-8', {
      cause: error,
    });
  }
}

function stopsOf(list: unknown, field: 'steps' | 'done', text: string): readonly DoneStop[] {
  if (list === null || list === undefined) return [];
  if (!Array.isArray(list))
    throw unreadable(`has "${field}" that must be a list, and is ${shown(list)}`, text);
  return list.map((item: unknown, index) => {
    const of = `has a stop, number ${index + 1} of "${field}",`;
    if (!isObject(item)) {
      throw unreadable(
        `${of} that must be an object with exchange and routingKey, and is ${shown(item)}`,
        text,
      );
    }
    const { exchange, routingKey, name, completedAt } = item;
    const fault = faultOf(exchange, routingKey);
    if (fault !== undefined) throw unreadable(`${of} that cannot be used: ${fault}`, text);
    return Object.freeze({
      exchange: exchange as string,
      routingKey: routingKey as string,
      ...(typeof name === 'string' && name.trim() !== '' ? { name } : {}),
      ...(field === 'done' && typeof completedAt === 'string' ? { completedAt } : {}),
    });
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function bytesWhenDone(text: string, stops: number): number {
  return encoder.encode(text).length + stops * COMPLETION;
}

function unreadable(why: string, text: string, cause?: unknown): FatalError {
  return new FatalError(
    `the header acemq-routing-slip ${why}. It begins ${shown(cutText(text, LONGEST_SHOWN))}`,
    cause === undefined ? {} : { cause },
  );
}
