import type { Connection } from '@acemq/amqp';
import { ConfigurationError, ConnectionLostError, checkQueueName, shown } from '@acemq/core';
import type { Letter } from './letter.ts';
import type { QueueKind } from './queue-kind.ts';
import { type SiftOptions, siftSettings } from './sift-options.ts';
import { Sifting, type SiftReason } from './sifting.ts';

/** How a look went. */
export interface BrowseReport {
  /** Messages that were shown. */
  readonly visited: number;
  /** Messages that `only` left out. */
  readonly skipped: number;
  readonly reason: SiftReason;
  /** What kind of queue it is: in a quorum queue, looking spends a delivery of each message, and its place in the queue. */
  readonly kind: QueueKind;
}

/**
 * Shows the messages of a queue to `visit`, the oldest first, and leaves them there: all are held, unacknowledged, until the
 * end, and then put back in their order. Others do not see them meanwhile, and the broker keeps their bodies in this
 * process's memory until then; `limit` bounds both.
 *
 * A classic queue, as every `.dlq` of this library is, has each message in its old place again. A quorum queue puts them at
 * its end, and counts a delivery: {@link BrowseReport.kind} tells.
 *
 * Rejects as `replay` does where the queue cannot be read, with `ConnectionLostError` (`ACEMQ_CONNECTION_LOST`) when the link
 * was lost in the middle (the messages are in the queue again), and with what `visit` or `only` threw.
 */
export async function browse(
  mq: Connection,
  queue: string,
  visit: (letter: Letter) => void | Promise<void>,
  options: SiftOptions = {},
): Promise<BrowseReport> {
  checkQueueName(queue);
  if (typeof visit !== 'function')
    throw new ConfigurationError(`visit must be a function, and is ${shown(visit)}`);
  const settings = siftSettings(options, [], 'browse');
  const sifting = new Sifting(mq, queue, settings, {
    choose: async (letter) => {
      if (!(await settings.only(letter))) return 'skip';
      await visit(letter);
      return 'take';
    },
    take: () => 'held',
    again: () => {
      throw new ConnectionLostError(
        `the link was lost while ${shown(queue)} was looked through; its messages are in the queue again`,
      );
    },
  });
  const { taken, skipped, reason, kind } = await sifting.run();
  return Object.freeze({ visited: taken, skipped, reason, kind });
}
