import type { HeldMessage } from './message.ts';
import { routesOf } from './message.ts';
import type { WireTable } from './wire-table.ts';

/** Why a queue gave a message up. */
export type DeathReason = 'rejected' | 'expired' | 'maxlen' | 'delivery_limit';

/** What is known of one death. */
export interface Death {
  readonly reason: DeathReason;
  readonly queue: string;
  /** The dead-letter exchange it goes to. */
  readonly exchange: string;
  /** The key of `x-dead-letter-routing-key`; without one the message keeps its own. */
  readonly routingKey: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * A message as it leaves a queue for its dead-letter exchange: the death at the head of `x-death`, or counted
 * up where it is known already, and without its `expiration`. An own routing key replaces all keys and takes
 * `CC` off.
 */
export function deadLettered(message: HeldMessage, death: Death): HeldMessage {
  const routingKeys = [message.routingKeys[0], ...routesOf(message.headers, 'CC')];
  const record: WireTable = {
    count: 1,
    reason: death.reason,
    queue: death.queue,
    time: new Date(Math.floor(death.now / 1000) * 1000),
    exchange: message.exchange,
    'routing-keys': routingKeys,
  };
  if (message.expiration !== undefined) record['original-expiration'] = message.expiration;
  const headers = withDeath(message.headers, record);
  if (death.routingKey !== undefined) delete headers['CC'];
  return {
    ...message,
    exchange: death.exchange,
    routingKeys: death.routingKey === undefined ? message.routingKeys : [death.routingKey],
    headers,
    expiration: undefined,
  };
}

function withDeath(before: WireTable, record: WireTable): WireTable {
  if (!Object.hasOwn(before, 'x-death')) {
    return {
      ...before,
      'x-death': [record],
      'x-first-death-exchange': record['exchange'],
      'x-first-death-queue': record['queue'],
      'x-first-death-reason': record['reason'],
    };
  }
  const earlier = before['x-death'];
  // Anything but a list came from a client; RabbitMQ starts a new one.
  if (!Array.isArray(earlier)) return { ...before, 'x-death': [record] };
  const known = grouped(earlier.filter(isTable));
  const same = known.find((one) => sameDeath(one, record));
  const first = same === undefined ? record : { ...same, count: countOf(same) + 1 };
  return { ...before, 'x-death': [sorted(first), ...known.filter((one) => one !== same)] };
}

/**
 * One entry for each queue and reason. RabbitMQ turns the order of two or more round; what follows can depend
 * on it.
 */
function grouped(deaths: readonly WireTable[]): readonly WireTable[] {
  if (deaths.length < 2) return deaths;
  const groups: WireTable[] = [];
  for (const death of deaths) {
    if (groups.some((one) => sameDeath(one, death))) continue;
    const alike = deaths.filter((one) => sameDeath(one, death)).length;
    groups.unshift(Object.hasOwn(death, 'count') ? death : { count: alike, ...death });
  }
  return groups;
}

function sameDeath(one: WireTable, other: WireTable): boolean {
  return one['queue'] === other['queue'] && one['reason'] === other['reason'];
}

function countOf(death: WireTable): number {
  return typeof death['count'] === 'number' ? death['count'] : 0;
}

function sorted(death: WireTable): WireTable {
  return Object.fromEntries(Object.entries(death).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isTable(value: unknown): value is WireTable {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
  );
}

/**
 * Whether a dead letter would come back to a queue that it left before without anybody having rejected it
 * since: a circle that turns by itself. RabbitMQ drops the message there.
 */
export function turnsInCircle(message: HeldMessage, queue: string): boolean {
  const deaths = message.headers['x-death'];
  if (!Array.isArray(deaths)) return false;
  const before = deaths.findIndex((death) => isTable(death) && death['queue'] === queue);
  if (before < 0) return false;
  return deaths.slice(0, before + 1).every((death) => isTable(death) && death['reason'] !== 'rejected');
}
