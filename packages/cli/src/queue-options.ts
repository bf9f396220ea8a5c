import { ConfigurationError, deadLetterQueueName, parkedQueueName, shown } from '@acemq/core';
import { sourceQueueOf } from '@acemq/patterns/replay';

/** The flags that say which queue is meant. */
export const QUEUE_FLAGS = {
  url: { type: 'string' },
  parked: { type: 'boolean' },
  exact: { type: 'boolean' },
} as const;

interface QueueValues {
  readonly parked?: boolean | undefined;
  readonly exact?: boolean | undefined;
}

/** The queue that is read. Throws `ConfigurationError`. */
export function queueOf(given: string | undefined, { parked, exact }: QueueValues): string {
  if (given === undefined || given === '')
    throw new ConfigurationError('say which queue: acemq dlq list QUEUE');
  if (exact === true) {
    if (parked === true) throw new ConfigurationError('--exact and --parked cannot both be given');
    return given;
  }
  const source = sourceQueueOf(given);
  if (source === undefined) return parked === true ? parkedQueueName(given) : deadLetterQueueName(given);
  if (parked !== true || given === parkedQueueName(source)) return given;
  throw new ConfigurationError(`${shown(given)} is no .parked; give ${shown(source)} --parked`);
}

/** Refuses more names than a command takes. Throws `ConfigurationError`. */
export function noMore(names: readonly string[], most: number): void {
  const [extra] = names.slice(most);
  if (extra !== undefined) throw new ConfigurationError(`${shown(extra)} is one name too many`);
}
