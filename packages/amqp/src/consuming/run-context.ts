import type { ConsumeContext, Envelope, Logger, Settlement } from '@acemq/core';
import { tell } from '../listening.ts';
import type { MessageSource } from './run-message.ts';

/** What a context takes from the consumer that runs the chain. */
export interface ContextHost {
  readonly queue: string;
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
  readonly #source: MessageSource;
  readonly #logger: Logger;
  #state: Map<unknown, unknown> | undefined;
  #listeners: ((settlement: Settlement) => void)[] | undefined = [];

  constructor(source: MessageSource, host: ContextHost, envelope: Envelope, payload: unknown) {
    const { delivery } = source;
    this.#source = source;
    this.envelope = envelope;
    this.payload = payload;
    this.queue = host.queue;
    this.exchange = delivery.exchange;
    this.routingKey = delivery.routingKey;
    this.contentType = delivery.contentType;
    this.redelivered = delivery.redelivered;
    this.body = delivery.body;
    this.#logger = host.logger;
  }

  get signal(): AbortSignal {
    return this.#source.signal;
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
