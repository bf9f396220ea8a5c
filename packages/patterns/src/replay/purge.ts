import type { Connection } from '@acemq/amqp';
import { checkQueueName } from '@acemq/core';
import type { QueueKind } from './queue-kind.ts';
import { type SiftOptions, siftSettings } from './sift-options.ts';
import { Sifting, type SiftReason } from './sifting.ts';

/** How a purge went. */
export interface PurgeReport {
  /** Messages that are gone for good. */
  readonly removed: number;
  /** Messages that `only` left out. */
  readonly skipped: number;
  readonly reason: SiftReason;
  readonly kind: QueueKind;
}

/**
 * Removes messages from a queue for good: all, or those that `only` names. The others are put back in their order. Rejects as
 * `replay` does where the queue cannot be read, and with what `only` threw.
 */
export async function purge(mq: Connection, queue: string, options: SiftOptions = {}): Promise<PurgeReport> {
  checkQueueName(queue);
  const settings = siftSettings(options, [], 'purge');
  const sifting = new Sifting(mq, queue, settings, {
    choose: async (letter) => ((await settings.only(letter)) ? 'take' : 'skip'),
    take: (_letter, delivery) => (delivery.ack() ? 'gone' : 'returned'),
  });
  const { taken, skipped, reason, kind } = await sifting.run();
  return Object.freeze({ removed: taken, skipped, reason, kind });
}
