import type { ConsumeContext, Envelope, Logger, Settlement } from '@acemq/core';
import { tell } from '../listening.ts';
import type { MessageSource } from './run-message.ts';

/** What a context takes from the consumer that runs the chain. */
export interface ContextHost {
  readonly queue: string;
  readonly logger: Logger;
}

interface SettlementListener {
  readonly settled: (settlement: Settlement) => void;
  readonly undecided: ((error: unknown) => void) | undefined;
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
  /** As it came: an interceptor may leave an envelope that cannot be read. */
  readonly #id: string;
  readonly #logger: Logger;
  #state: Map<unknown, unknown> | undefined;
  #listeners: SettlementListener[] | undefined = [];

  constructor(source: MessageSource, host: ContextHost, envelope: Envelope, payload: unknown) {
    const { delivery } = source;
    this.#source = source;
    this.#id = envelope.id;
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

  whenSettled(settled: (settlement: Settlement) => void, undecided?: (error: unknown) => void): boolean {
    if (this.#listeners === undefined) return false;
    this.#listeners.push({ settled, undecided });
    return true;
  }

  #listenerFailed(error: unknown): void {
    this.#logger.error('a listener of a settlement failed', {
      queue: this.queue,
      id: this.#id,
      error,
    });
  }

  /** Tells the listeners, once. */
  announce(settlement: Settlement): void {
    for (const { settled } of this.#taken()) {
      tell(settled, settlement, (error) => this.#listenerFailed(error));
    }
  }

  /** Tells those who are still waiting that no settlement will come. */
  giveUp(reason: unknown): void {
    for (const { undecided } of this.#taken()) {
      if (undecided !== undefined) tell(undecided, reason, (error) => this.#listenerFailed(error));
    }
  }

  #taken(): readonly SettlementListener[] {
    const listeners = this.#listeners ?? [];
    this.#listeners = undefined;
    return listeners;
  }
}
