import { NO_HEADERS } from './headers.ts';
import type { ExchangeSpec, QueueSpec } from './transport.ts';

/** How `acemq.retry` and `acemq.dlx` are declared. */
export const MANAGED_EXCHANGE: ExchangeSpec = Object.freeze({
  type: 'direct',
  durable: true,
  autoDelete: false,
  arguments: NO_HEADERS,
});

/**
 * How dead-letter and parked queues are declared, and rungs beside their arguments: classic and durable. No
 * `x-queue-type`, which would be an argument more than the other languages declare.
 */
export const CLASSIC_DURABLE: QueueSpec = Object.freeze({
  durable: true,
  autoDelete: false,
  exclusive: false,
  arguments: NO_HEADERS,
});
