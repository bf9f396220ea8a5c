import { ConfigurationError, type ConsumeSpec, checkShortText, shown, UnsupportedError } from '@acemq/core';
import { wireType } from './message.ts';
import type { MemoryQueue } from './queue.ts';
import { argument } from './queue-arguments.ts';
import { accessRefused, named, preconditionFailed } from './refusals.ts';
import { checkArguments as checkEncodable } from './wire-table.ts';

/** AMQP has two bytes for it. */
const LARGEST_PREFETCH = 65_535;

/** Refuses, before anything is written, what no client can ask for. */
export function checkSpec(queue: string, spec: ConsumeSpec): void {
  checkShortText('the consumer tag', spec.tag);
  if (!Number.isInteger(spec.prefetch) || spec.prefetch < 1 || spec.prefetch > LARGEST_PREFETCH) {
    throw new ConfigurationError(
      `prefetch is ${shown(spec.prefetch)}; allowed: a whole number from 1 to ${LARGEST_PREFETCH}`,
    );
  }
  checkEncodable(`consume from queue "${queue}"`, spec.arguments);
}

/** Refuses a consumer as RabbitMQ does, or because the in-memory broker could not honour what it asks for. */
export function checkConsumer(queue: MemoryQueue, spec: ConsumeSpec): void {
  checkArguments(queue, spec);
  // Only a classic queue holds an exclusive consumer to it; RabbitMQ's quorum queue takes the flag and
  // ignores it.
  if (queue.settings.type === 'quorum' || queue.consumers.size === 0) return;
  if (spec.exclusive || [...queue.consumers].some((consumer) => consumer.exclusive)) {
    throw accessRefused(`${named('queue', queue.name)} in exclusive use`);
  }
}

function checkArguments(queue: MemoryQueue, spec: ConsumeSpec): void {
  const priority = argument(spec.arguments, 'x-priority');
  if (priority !== undefined) {
    if (typeof priority !== 'bigint' && !Number.isInteger(priority)) {
      throw invalid(queue, 'x-priority', `: "expected integer, got ${wireType(priority)}"`);
    }
    throw new UnsupportedError('the in-memory broker does not have consumer priorities (x-priority)');
  }
  const foreign = [
    'x-stream-offset',
    ...(queue.settings.type === 'quorum' ? ['x-cancel-on-ha-failover'] : []),
  ];
  const found = foreign.find((key) => argument(spec.arguments, key) !== undefined);
  if (found !== undefined) throw invalid(queue, found, ` of queue type rabbit_${queue.settings.type}_queue`);
}

function invalid(queue: MemoryQueue, key: string, why: string): Error {
  return preconditionFailed(`invalid arg '${key}' for ${named('queue', queue.name)}${why}`);
}
