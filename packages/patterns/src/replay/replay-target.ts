import {
  ConfigurationError,
  checkName,
  checkOptions,
  checkQueueName,
  checkRoutingKey,
  shown,
} from '@acemq/core';
import { sourceQueueOf } from './source-queue.ts';

/** Where replayed messages go: a queue by its name, or an exchange with a routing key. */
export type ReplayTarget =
  | string
  | {
      /** Empty for the default exchange. */
      readonly exchange: string;
      /** Default: the routing key that each message came to the dead-letter queue with. */
      readonly routingKey?: string | undefined;
    };

/** The same, checked. Without a routing key each message keeps its own. */
export interface ResolvedTarget {
  readonly exchange: string;
  readonly routingKey: string | undefined;
}

/**
 * Where the messages of `queue` are to go. A message in a dead-letter queue has that queue's name for its routing key, so
 * one that kept it would come straight back through the default exchange.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) where nothing says where to, and for the queue itself.
 */
export function targetOf(queue: string, to: ReplayTarget | undefined): ResolvedTarget {
  const target = resolved(queue, to);
  if (target.exchange === '' && (target.routingKey === undefined || target.routingKey === queue)) {
    throw new ConfigurationError(
      `the messages of ${shown(queue)} would be replayed into ${shown(queue)} itself, and be read again for ever; ` +
        `give \`to\` the name of another queue${example(queue)}`,
    );
  }
  return target;
}

function resolved(queue: string, to: ReplayTarget | undefined): ResolvedTarget {
  if (to === undefined) {
    const source = sourceQueueOf(queue);
    if (source !== undefined) return { exchange: '', routingKey: source };
    throw new ConfigurationError(
      `${shown(queue)} does not end in .dlq or .parked, so nobody can tell where its messages came from; say it with \`to\``,
    );
  }
  if (typeof to === 'string') return { exchange: '', routingKey: checkQueueName(to) };
  if (typeof to !== 'object' || to === null || Array.isArray(to)) {
    throw new ConfigurationError(
      `\`to\` must be the name of a queue, or { exchange, routingKey }, and is ${shown(to)}`,
    );
  }
  checkOptions(to, ['exchange', 'routingKey'], 'the target of a replay');
  const { exchange, routingKey } = to;
  if (exchange !== '') checkName(exchange, 'exchange');
  return { exchange, routingKey: routingKey === undefined ? undefined : checkRoutingKey(routingKey) };
}

function example(queue: string): string {
  const source = sourceQueueOf(queue);
  return source === undefined ? '' : `, such as ${shown(source)}`;
}
