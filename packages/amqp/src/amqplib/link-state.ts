import { type BrokerEndpoint, ConnectionClosedError, ConnectionLostError } from '@acemq/core';
import { wordsOf } from './refusal.ts';

/** Something on a link that can be closed in the order of what was written on it. */
export interface Closable {
  /** Resolves when it is closed, or the broker has not answered for long enough. Its owner is told. */
  closeWithLink(): Promise<void>;
}

/** Whether a link is there, and if not, why not. The link and its channels share it. */
export class LinkState {
  /** Where it leads, without credentials. */
  readonly label: string;
  readonly endpoint: BrokerEndpoint;
  /** Ends the socket, at whatever stage it is. */
  readonly signal: AbortSignal;
  /** Why it went; the first reason counts. */
  reason: unknown;
  /** What is open on it. */
  readonly channels: Set<Closable> = new Set();
  readonly #controller = new AbortController();
  #open = true;
  #closing = false;

  constructor(label: string, endpoint: BrokerEndpoint) {
    this.label = label;
    this.endpoint = endpoint;
    this.signal = this.#controller.signal;
  }

  get open(): boolean {
    return this.#open;
  }

  /** Whether its owner has asked for its end. */
  get closing(): boolean {
    return this.#closing;
  }

  /** Notes that it is no longer to be used. */
  end(reason: unknown): void {
    this.reason ??= reason;
    this.#open = false;
  }

  /** Notes that its owner closes it. */
  close(): void {
    this.#open = false;
    this.#closing = true;
  }

  /** Drops the socket, whatever is still to be written. Safe to call again, and when the socket has gone. */
  drop(reason: unknown): void {
    this.end(reason);
    this.#controller.abort();
  }

  /** The error for what can no longer be asked, or was not answered. */
  gone(): ConnectionClosedError | ConnectionLostError {
    if (this.#closing) return new ConnectionClosedError(`the link to ${this.label} was closed`);
    return new ConnectionLostError(`the link to ${this.label} was lost: ${wordsOf(this.reason)}`, {
      cause: this.reason,
    });
  }
}
