import type { ConsumeContext, Delivery, Envelope, Logger, Settlement } from '@acemq/core';
import { tell } from '../listening.ts';
import type { MessageSource } from './run-message.ts';

/** What a context takes from the consumer that runs the chain. */
export interface ContextSource extends MessageSource {
  readonly logger: Logger;
}

/** What interceptors see. */
export class RunContext implements ConsumeContext {
  envelope: Envelope;
  payload: unknown;
  readonly queue: string;
  readonly exchange: string;
  readonly routingKey: string;
  readonly contentType: string | undefined;
  readonly redelivered: boolean;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
  readonly #logger: Logger;
  #state: Map<unknown, unknown> | undefined;
  #listeners: ((settlement: Settlement) => void)[] | undefined = [];

  constructor(delivery: Delivery, host: ContextSource, envelope: Envelope, payload: unknown) {
    this.envelope = envelope;
    this.payload = payload;
    this.queue = host.queue;
    this.exchange = delivery.exchange;
    this.routingKey = delivery.routingKey;
    this.contentType = delivery.contentType;
    this.redelivered = delivery.redelivered;
    this.body = delivery.body;
    this.signal = host.signal;
    this.#logger = host.logger;
  }

  get state(): Map<unknown, unknown> {
    this.#state ??= new Map();
    return this.#state;
  }

  whenSettled(listener: (settlement: Settlement) => void): boolean {
    if (this.#listeners === undefined) return false;
    this.#listeners.push(listener);
    return true;
  }

  #listenerFailed(error: unknown): void {
    this.#logger.error('a listener of a settlement failed', {
      queue: this.queue,
      id: this.envelope.id,
      error,
    });
  }

  /** Tells the listeners, once. */
  announce(settlement: Settlement): void {
    const listeners = this.#listeners ?? [];
    this.#listeners = undefined;
    for (const listener of listeners) tell(listener, settlement, (error) => this.#listenerFailed(error));
  }
}
