import { BrokerRefusedError, ConnectionLostError, EncodeError } from '@acemq/core';
import type { Channel } from 'amqplib/callback_api';
import type { Closable, LinkState } from './link-state.ts';
import { type Reply, refusalOf, replyOf, wordsOf } from './refusal.ts';

/**
 * Milliseconds that a channel waits for the broker to agree to its end. A broker under an alarm does not
 * answer.
 */
const CLOSE_TIMEOUT = 3000;

/** AMQP 0-9-1, `not-allowed`: what the broker says to a channel above the number agreed on. */
const NOT_ALLOWED = 530;

/** How amqplib answers: `null` or an error, then the answer. */
export type Done<T> = (error: Error | null, answer: T) => void;

/**
 * One amqplib channel, with a listener for everything that would end the process unheard, and a promise for
 * every question that settles whichever way the channel goes. amqplib by itself never answers a `close` or a
 * `get` that the loss of the connection cuts off.
 */
export class LinkChannel<C extends Channel = Channel> implements Closable {
  readonly raw: C;
  /** Called once when it is gone for any reason but {@link close}. */
  onGone: ((error: BrokerRefusedError | ConnectionLostError) => void) | undefined;
  /** Called when it is about to be closed from here, while it can still be written to. */
  beforeClose: (() => void) | undefined;
  readonly #link: LinkState;
  readonly #waiting = new Set<() => void>();
  #refusal: Reply | undefined;
  #fault: unknown;
  #open = true;
  #gone = false;
  #closing: Promise<void> | undefined;

  constructor(raw: C, link: LinkState) {
    this.raw = raw;
    this.#link = link;
    link.channels.add(this);
    raw.on('error', (error: Error) => {
      this.#refusal = replyOf(error);
      this.#fault = error;
    });
    // Without this listener, amqplib takes a listener that throws for a malformed frame. The link goes all
    // the same: what was announced half is announced again by the next one.
    raw.on('handler-error', (error: Error) => link.drop(error));
    raw.on('close', () => this.#closed());
  }

  get open(): boolean {
    return this.#open;
  }

  /**
   * Asks the broker. Rejects with `BrokerRefusedError` when it refuses, which closes the channel; with
   * `EncodeError` when the question cannot be encoded, in which case it is closed too: amqplib goes on waiting
   * for an answer to what it has not sent.
   */
  ask<T>(what: string, call: (raw: C, done: Done<T>) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!this.#open) {
        reject(this.gone(what));
        return;
      }
      const giveUp = (): void => reject(this.gone(what));
      this.#waiting.add(giveUp);
      try {
        call(this.raw, (error, answer) => {
          this.#waiting.delete(giveUp);
          if (!error) {
            resolve(answer);
            return;
          }
          const reply = replyOf(error);
          reject(reply === undefined ? this.gone(what) : refusalOf(reply, what, error));
        });
      } catch (error) {
        this.#waiting.delete(giveUp);
        if (!isEncoding(error)) {
          reject(this.gone(what));
          return;
        }
        reject(unusable(what, error));
        void this.close();
      }
    });
  }

  /** The error for what can no longer be done here. */
  gone(what: string): Error {
    if (this.#refusal !== undefined) return refusalOf(this.#refusal, what, this.#fault);
    if (this.#link.open)
      return new ConnectionLostError(`${what}: the channel was closed`, { cause: this.#fault });
    return this.#link.gone();
  }

  /** Closes it. Never rejects, and waits for a broker that does not answer for 3 s only. */
  close(): Promise<void> {
    this.#closing ??= this.closeWithLink();
    return this.#closing;
  }

  closeWithLink(): Promise<void> {
    return this.#gone ? Promise.resolve() : this.#shutDown();
  }

  #shutDown(): Promise<void> {
    if (this.#open) this.beforeClose?.();
    this.#open = false;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, CLOSE_TIMEOUT);
      this.raw.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
      try {
        this.raw.close();
      } catch {
        // amqplib refuses when the link is closing; 'close' follows.
      }
    });
  }

  #closed(): void {
    this.#open = false;
    this.#gone = true;
    this.#link.channels.delete(this);
    for (const giveUp of this.#waiting) giveUp();
    this.#waiting.clear();
    if (this.#closing !== undefined) return;
    const error = this.gone('the broker closed the channel');
    this.onGone?.(error instanceof BrokerRefusedError ? error : lostAs(error));
  }
}

/**
 * Opens a channel. `create` calls one of amqplib's two functions for it and returns the channel that they
 * return before it is open, so that it has its listeners before anything can happen on it.
 */
export function openChannel<C extends Channel>(
  link: LinkState,
  create: (done: Done<C>) => C,
): Promise<LinkChannel<C>> {
  return new Promise((resolve, reject) => {
    let channel: LinkChannel<C> | undefined;
    try {
      const raw = create((error) => {
        if (channel === undefined) reject(noChannelLeft(link, error));
        else if (error) reject(channel.gone('open a channel'));
        else resolve(channel);
      });
      channel = new LinkChannel(raw, link);
    } catch {
      reject(link.gone());
    }
  });
}

/** The same error as one that a link that went away gives, for what only knows that. */
export function lostAs(error: Error): ConnectionLostError {
  return error instanceof ConnectionLostError
    ? error
    : new ConnectionLostError(error.message, { cause: error });
}

function noChannelLeft(link: LinkState, error: Error | null): Error {
  const words = `NOT_ALLOWED - every channel agreed on with ${link.label} is in use`;
  return new BrokerRefusedError(NOT_ALLOWED, words, { what: 'open a channel', cause: error });
}

/** Whether every channel that was agreed on with the broker is in use. */
export function isNoChannelLeft(error: unknown): boolean {
  return error instanceof BrokerRefusedError && error.replyCode === NOT_ALLOWED;
}

function isEncoding(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError;
}

function unusable(what: string, error: unknown): EncodeError {
  return new EncodeError(`${what}: ${wordsOf(error)}`, { cause: error });
}
