import type { Envelope, Outbound, PublishContext, PublishVerdict } from '@acemq/core';
import {
  OUTCOME_CONFIRMED,
  OUTCOME_FAILED,
  OUTCOME_REFUSED,
  OUTCOME_UNROUTABLE,
  type PublishOutcome,
} from '@acemq/observe';
import type { PublishTelemetry } from '../telemetry.ts';
import { Pending, type PublishFailure } from './pending.ts';
import { failureError, type PublishSubject, verdictError } from './publish-errors.ts';
import type { PublishLink } from './publish-link.ts';

/** One application message between `send` and the broker's answer. */
export class Send extends Pending {
  readonly #envelope: Envelope;
  readonly #started: number;
  readonly #telemetry: PublishTelemetry;
  readonly #resolve: (envelope: Envelope) => void;
  readonly #reject: (error: Error) => void;
  #told = false;
  #unwatch: (() => void) | undefined;

  constructor(
    context: PublishContext,
    message: Outbound,
    started: number,
    telemetry: PublishTelemetry,
    resolve: (envelope: Envelope) => void,
    reject: (error: Error) => void,
  ) {
    super(context.exchange, context.routingKey, message, false);
    this.#envelope = context.envelope;
    this.#started = started;
    this.#telemetry = telemetry;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  watch(signal: AbortSignal, publishing: PublishLink): void {
    const abort = (): void => publishing.abort(this, signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    this.#unwatch = () => signal.removeEventListener('abort', abort);
  }

  judged(verdict: PublishVerdict, reason: string): void {
    if (verdict === 'confirmed') {
      if (this.#tell(OUTCOME_CONFIRMED)) this.#resolve(this.#envelope);
    } else if (this.#tell(verdict === 'unroutable' ? OUTCOME_UNROUTABLE : OUTCOME_FAILED)) {
      this.#reject(verdictError(verdict, reason, this.#subject()));
    }
  }

  failed(failure: PublishFailure): void {
    if (this.#tell(failure.kind === 'paused' ? OUTCOME_REFUSED : OUTCOME_FAILED)) {
      this.#reject(failureError(failure, this.#subject()));
    }
  }

  #tell(outcome: PublishOutcome): boolean {
    if (this.#told) return false;
    this.#told = true;
    this.#unwatch?.();
    if (this.#telemetry.active) {
      this.#telemetry.published(this.exchange, this.routingKey, outcome, this.#started);
    }
    return true;
  }

  #subject(): PublishSubject {
    return { exchange: this.exchange, routingKey: this.routingKey, messageId: this.message.messageId };
  }
}
