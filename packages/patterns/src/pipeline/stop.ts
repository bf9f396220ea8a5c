import { ConfigurationError, checkOptions, isShortText, LONGEST_NAME, shown } from '@acemq/core';

/** One place that a run goes to. */
export interface Stop {
  /** Where the message is published to; empty for the default exchange, which routes by the name of a queue. */
  readonly exchange: string;
  /** Empty only beside an exchange. */
  readonly routingKey: string;
  /** What the stop is called in metrics and errors. Its routing key without one. */
  readonly name?: string | undefined;
}

/** A stop that a run has been to. */
export interface DoneStop extends Stop {
  /** When, in RFC 3339; undefined where nobody wrote it down. */
  readonly completedAt?: string | undefined;
}

/** What a stop is called: its name, or else its routing key, or else its exchange. */
export function nameOf({ name, routingKey, exchange }: Stop): string {
  return name ?? (routingKey === '' ? exchange : routingKey);
}

/** What keeps a value from being the exchange and the key of a stop; undefined where nothing does. */
export function faultOf(exchange: unknown, routingKey: unknown): string | undefined {
  for (const [field, value] of [
    ['exchange', exchange],
    ['routingKey', routingKey],
  ] as const) {
    if (typeof value !== 'string') return `its ${field} must be text, and is ${shown(value)}`;
    if (!isShortText(value)) {
      return `its ${field} takes more than ${LONGEST_NAME} bytes, and begins ${shown(value.slice(0, 40))}`;
    }
  }
  return exchange === '' && routingKey === ''
    ? 'its exchange and its routingKey are both empty, and one of them must not be'
    : undefined;
}

const FIELDS: readonly string[] = ['exchange', 'routingKey', 'name'];

/**
 * A copy of the stops that a run is to go to.
 *
 * @throws `ConfigurationError`, which names the stop by its number from 1, and what is wrong with it.
 */
export function checkStops(stops: unknown): readonly Stop[] {
  if (!Array.isArray(stops) || stops.length === 0) {
    const given = Array.isArray(stops) ? 'an empty list' : shown(stops);
    throw new ConfigurationError(
      `a routing slip must be a list of at least one stop { exchange, routingKey, name? }, and is ${given}`,
    );
  }
  return stops.map((stop: unknown, index) => {
    const of = `stop ${index + 1} of the routing slip`;
    if (stop === undefined) throw new ConfigurationError(`${of} must be an object, and is undefined`);
    checkOptions(stop, FIELDS, of);
    const { exchange, routingKey, name } = stop as Readonly<Record<keyof Stop, unknown>>;
    const fault = faultOf(exchange, routingKey);
    if (fault !== undefined) throw new ConfigurationError(`${of}: ${fault}`);
    if (name !== undefined && (typeof name !== 'string' || name.trim() === '')) {
      throw new ConfigurationError(`${of}: its name must be text that is not blank, and is ${shown(name)}`);
    }
    const copy = { exchange: exchange as string, routingKey: routingKey as string };
    return Object.freeze(name === undefined ? copy : { ...copy, name });
  });
}
