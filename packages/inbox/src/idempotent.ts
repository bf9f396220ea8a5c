import {
  type Ack,
  accept,
  guardLogger,
  type Handler,
  inProgress,
  isAck,
  type Logger,
  type Message,
} from '@acemq/core';
import { type KeyOptions, keyReader } from './message-key.ts';
import type { InboxKey, InboxStore } from './store.ts';

/** How {@link idempotent} behaves. */
export interface IdempotentOptions<T = unknown> extends KeyOptions<T> {
  /** Told of claims that could not be confirmed or released. `console` by default. */
  readonly logger?: Logger | undefined;
}

/**
 * Makes a handler run once for each message, as far as a claim beside the handler's own work can do that: a repeat of a
 * message that was handled is accepted without running the handler, one of a message that somebody else is at comes back
 * after 5 s with its attempt unchanged.
 *
 * The claim is confirmed when the handler accepts, and released when it throws or answers anything else, so that the next
 * delivery runs it again. A process that dies between the handler's work and the confirmation leaves a claim that times
 * out, and the work is then done again; `idempotentTransaction` closes that gap.
 *
 * @param store - Its claim time-out must be longer than the slowest handler.
 * @returns A handler, which throws a `FatalError` (`ACEMQ_FATAL`) for a message without a usable key, and the store's error
 * where nothing could be claimed, which is a retry.
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for options that cannot be used.
 */
export function idempotent<T>(
  handler: Handler<T>,
  store: InboxStore,
  options?: IdempotentOptions<T>,
): Handler<T> {
  const keyOf = keyReader(options, ['logger'], 'idempotent');
  const logger = guardLogger(options?.logger ?? console, ['warn']);

  async function settled(key: InboxKey, owner: string, done: boolean): Promise<void> {
    try {
      const held = await (done ? store.confirm(key, owner) : store.release(key, owner));
      if (!held && done)
        logger.warn('a claim timed out before the handler was done, which may have run twice', { ...key });
    } catch (error) {
      // The work is done, or undone, whatever the store says: at worst the claim times out.
      logger.warn(done ? 'a claim could not be confirmed' : 'a claim could not be released', {
        ...key,
        error,
      });
    }
  }

  return async (message: Message<T>): Promise<Ack> => {
    const key = keyOf(message);
    const claim = await store.claim(key);
    if (claim.answer === 'duplicate') return accept();
    if (claim.answer === 'in_progress') return inProgress();
    let ack: Ack | undefined;
    try {
      ack = await handler(message);
      return ack;
    } finally {
      await settled(key, claim.owner, isAck(ack) && ack.decision === 'accept');
    }
  };
}
