import type { Outbound, PublishVerdict } from '@acemq/core';
import { Pending, type PublishFailure } from './pending.ts';

/** How a copy fared: the broker's verdict about it, or why there was none. */
export type CopyAnswer =
  | { readonly verdict: PublishVerdict; readonly reason: string }
  | { readonly verdict: undefined; readonly failure: PublishFailure };

/**
 * A copy the library makes of a message that it sets aside or sends round again. Goes through the default
 * exchange.
 */
export class Copy extends Pending {
  readonly #told: (answer: CopyAnswer) => void;
  readonly #delayed: (failure: PublishFailure) => void;

  /** `delayed` is told, each time, when no answer has come within the time-out because of an alarm. */
  constructor(
    queue: string,
    message: Outbound,
    told: (answer: CopyAnswer) => void,
    delayed: (failure: PublishFailure) => void,
  ) {
    super('', queue, message, true);
    this.#told = told;
    this.#delayed = delayed;
  }

  judged(verdict: PublishVerdict, reason: string): void {
    this.#told({ verdict, reason });
  }

  failed(failure: PublishFailure): void {
    this.#told({ verdict: undefined, failure });
  }

  override delayed(reason: string): void {
    this.#delayed({ kind: 'paused', reason });
  }
}
