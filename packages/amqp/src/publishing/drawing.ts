import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { ConfigurationError, shown } from '@acemq/core';
import type { Batch } from './batch.ts';
import type { PublishLink } from './publish-link.ts';

/** What a batch may be drawn from. Throws `ConfigurationError` for anything else, text included. */
export function checkSource(payloads: unknown): void {
  const isSource =
    typeof payloads === 'object' &&
    payloads !== null &&
    (Symbol.iterator in payloads || Symbol.asyncIterator in payloads);
  if (!isSource) {
    throw new ConfigurationError(
      `sendAll takes an iterable of payloads, such as a list, and not ${shown(payloads)}`,
    );
  }
}

/**
 * Draws payloads out of their source and adds them to a batch as permits come: never more at once than may be open, so
 * that a large source is never in memory as a whole. Ends early, and draws no further, when the connection is closed or
 * no permit came for the whole time-out. Throws on what the source throws.
 */
export async function draw<T>(
  payloads: Iterable<T> | AsyncIterable<T>,
  batch: Batch<T>,
  publishing: PublishLink,
): Promise<void> {
  const source = payloads as Partial<AsyncIterable<T> & Iterable<T>>;
  if (source[Symbol.asyncIterator] !== undefined) {
    for await (const payload of payloads) {
      await room(batch, publishing);
      batch.add(payload);
      if (batch.isEnded) return;
    }
  } else {
    for (const payload of payloads as Iterable<T>) {
      if (batch.isFull || !publishing.hasRoom) await room(batch, publishing);
      batch.add(payload);
      if (batch.isEnded) break;
    }
    if (batch.isEnded) batch.refuse(sizeOf(payloads) - batch.taken);
  }
}

/** Resolves when the next payload is to be added, if only to fail. */
async function room<T>(batch: Batch<T>, publishing: PublishLink): Promise<void> {
  if (publishing.isStopped) {
    batch.end({ kind: 'closed' });
    return;
  }
  if (!publishing.hasRoom) {
    const failure = await publishing.room();
    if (failure !== undefined) {
      batch.end(failure);
      return;
    }
    // Blocked: each payload fails at once, and a long or endless source must not keep everything else from running.
    if (!publishing.hasRoom) await turnOfTheLoop();
  }
  // Interceptors and schemas take their time before they ask for a permit.
  while (batch.isFull && publishing.hasRoom) await batch.turn();
}

/** How many payloads there are, where that is known without drawing them; none otherwise. */
function sizeOf(payloads: unknown): number {
  if (Array.isArray(payloads)) return payloads.length;
  return payloads instanceof Set ? payloads.size : 0;
}
