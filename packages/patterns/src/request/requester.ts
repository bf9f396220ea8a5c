import type { Connection, Publisher } from '@acemq/amqp';
import { ConnectionClosedError, type Envelope } from '@acemq/core';
import { Ask } from './ask.ts';
import { abortedBy, type Draft, type DraftDefaults, draftOf, NO_OPTIONS } from './draft.ts';
import { ReplyQueue } from './reply-queue.ts';
import {
  type AskOptions,
  type RequesterOptions,
  type ResolvedRequesterOptions,
  resolveRequesterOptions,
} from './requester-options.ts';
import { WaitingAsks } from './waiting-asks.ts';

/** A reply, with what it says about itself. */
export interface Reply<Answer = unknown> {
  readonly payload: Answer;
  readonly envelope: Envelope;
}

/** How an ask hands its reply on to the promise of its caller. */
type Handing<Answer, T> = (resolve: (value: T) => void) => (payload: Answer, envelope: Envelope) => void;

/**
 * Asks questions over the broker and waits for the answers, any number at once, on one reply queue. It is opened with
 * {@link Requester.open}, lives on one connection and is closed with it at the latest.
 */
export class Requester<Query = unknown, Answer = unknown> {
  readonly #mq: Connection;
  readonly #options: ResolvedRequesterOptions<Query, Answer>;
  readonly #publisher: Publisher<Query>;
  readonly #waiting: WaitingAsks<Answer>;
  readonly #replies: ReplyQueue;
  readonly #defaults: DraftDefaults;
  readonly #unlisten: () => void;
  #closed = false;
  #closing: Promise<void> | undefined;

  private constructor(
    mq: Connection,
    options: ResolvedRequesterOptions<Query, Answer>,
    publisher: Publisher<Query>,
    waiting: WaitingAsks<Answer>,
    replies: ReplyQueue,
  ) {
    this.#mq = mq;
    this.#options = options;
    this.#publisher = publisher;
    this.#waiting = waiting;
    this.#replies = replies;
    const { type, version, routingKey, timeout } = options;
    this.#defaults = { type, version, routingKey, timeout, address: replies.name, origin: mq.origin };
    this.#unlisten = mq.onState(({ type }) => {
      if (type === 'closed') this.#end('the connection was closed');
    });
  }

  /**
   * Declares the reply queue and reads it.
   *
   * Rejects with `ConfigurationError` (`ACEMQ_CONFIGURATION`) for an option that cannot be used, before anything is sent;
   * with `TopologyError` where a queue called as `replyQueue` says exists otherwise; with `BrokerRefusedError` for what the
   * login may not do, and for a `replyQueue` that is neither there nor to be declared (404); with `ConnectionLostError` and
   * `ConnectionClosedError`.
   */
  static async open<Query = unknown, Answer = unknown>(
    mq: Connection,
    options: RequesterOptions<Query, Answer> = {},
  ): Promise<Requester<Query, Answer>> {
    const resolved = resolveRequesterOptions(options);
    const publisher = mq.publisher(resolved.publisher);
    const { clock, observer } = mq;
    let replies: ReplyQueue | undefined;
    const waiting = new WaitingAsks<Answer>({
      clock,
      observer,
      usualTimeout: resolved.timeout,
      schema: resolved.replySchema,
      stalled: () => replies?.stalled,
    });
    replies = await ReplyQueue.open(mq, {
      named: resolved.replyQueue,
      declare: resolved.declare,
      codec: resolved.codec ?? mq.codec,
      received: (message) => waiting.received(message),
    });
    return new Requester(mq, resolved, publisher, waiting, replies);
  }

  /** The queue that the replies come to. */
  get replyQueue(): string {
    return this.#replies.name;
  }

  /** Asks that wait for their reply. */
  get outstanding(): number {
    return this.#waiting.size;
  }

  /** Asks that got a reply: an answer, the responder's error, or something that could not be read. */
  get answered(): number {
    return this.#waiting.answered;
  }

  /** Asks that came to nothing before their time was over: not published, aborted, or ended by a close. */
  get failed(): number {
    return this.#waiting.failed;
  }

  /** Asks whose time was over. */
  get timedOut(): number {
    return this.#waiting.timedOutCount;
  }

  /** Replies that nobody waited for: late ones, repetitions, and those to somebody else who read this queue. */
  get unmatched(): number {
    return this.#waiting.unmatched;
  }

  /** Of those, the first replies to asks that had timed out or failed. The last 10,000 of such asks are remembered. */
  get late(): number {
    return this.#waiting.late;
  }

  /**
   * Sends a request and resolves to its answer.
   *
   * Rejects with
   * - `RequestTimeoutError` (`ACEMQ_REQUEST_TIMEOUT`): no reply within `timeout`, or this or the connection was closed
   *   first, which the message says. The request may have been worked, or be worked yet.
   * - `ResponderError` (`ACEMQ_RESPONDER`): the responder failed, in its own words.
   * - `DecodeError` (`ACEMQ_DECODE`): the answer cannot be read, or does not fit `replySchema`.
   * - what `send` of a publisher rejects with: `PublishError` (`ACEMQ_PUBLISH_UNROUTABLE` where there is no queue for it),
   *   `PublishingPausedError` at once while the broker blocks publishing, `EncodeError`, `ConfigurationError`.
   * - `AbortedError` (`ACEMQ_ABORTED`): the `signal`.
   * - `ConnectionClosedError` (`ACEMQ_CONNECTION_CLOSED`): this or the connection had been closed.
   */
  ask(payload: Query, options: AskOptions = NO_OPTIONS): Promise<Answer> {
    return this.#ask<Answer>(payload, options, answerAlone);
  }

  /** As {@link ask}, and resolves to the whole reply: the answer, and the envelope that it came in. */
  askForReply(payload: Query, options: AskOptions = NO_OPTIONS): Promise<Reply<Answer>> {
    return this.#ask<Reply<Answer>>(payload, options, wholeReply);
  }

  /**
   * Ends it. What waits rejects with `RequestTimeoutError`; a reply queue of its own is deleted, and not declared again
   * after a lost link. The connection stays open, and so does a `replyQueue` with a name.
   *
   * Resolves when the queue is deleted, or at once while there is no connection. Never rejects.
   */
  close(): Promise<void> {
    this.#end('the requester was closed');
    this.#closing ??= this.#replies.close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Where it asks, and how many of its asks wait. */
  toString(): string {
    const state = this.#closed ? 'closed' : `${this.outstanding} outstanding`;
    return `Requester(${this.#destination(this.#options.routingKey)}, ${state})`;
  }

  #ask<T>(payload: Query, options: AskOptions, handing: Handing<Answer, T>): Promise<T> {
    const started = this.#mq.clock.elapsed();
    let draft: Draft;
    try {
      if (this.#closed) throw new ConnectionClosedError('the requester has been closed');
      draft = draftOf(options, this.#defaults, this.#mq.clock.now());
    } catch (error) {
      this.#waiting.refused(this.#options.routingKey, started);
      return Promise.reject(error);
    }
    const { envelope, routingKey, timeout } = draft;
    return this.#mq.tracing.request(
      this.#destination(routingKey),
      envelope,
      () =>
        new Promise<T>((resolve, reject) => {
          const owner = this.#waiting;
          const parts = { owner, envelope, routingKey, started, timeout, resolve: handing(resolve), reject };
          this.#begin(new Ask<Answer>(parts), payload, draft, options);
        }),
    );
  }

  #begin(ask: Ask<Answer>, payload: Query, draft: Draft, options: AskOptions): void {
    const { signal } = draft;
    if (signal !== undefined) this.#watch(ask, signal);
    this.#waiting.begin(ask);
    if (this.#replies.receiving) {
      this.#publish(ask, payload, options);
      return;
    }
    this.#replies.untilReceiving().then(
      () => this.#publish(ask, payload, options),
      (error: unknown) => this.#waiting.fail(ask, error),
    );
  }

  #watch(ask: Ask<Answer>, signal: AbortSignal): void {
    const abort = (): void => {
      this.#waiting.fail(ask, abortedBy(signal, 'the request was aborted before its reply came'));
      ask.withdrawal.abort(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    ask.unwatch = () => signal.removeEventListener('abort', abort);
  }

  #publish(ask: Ask<Answer>, payload: Query, options: AskOptions): void {
    if (!this.#waiting.has(ask)) return;
    const { envelope, routingKey } = ask.parts;
    const { id, causationId, headers } = envelope;
    // A type that was left to the routing key follows the key that an interceptor chooses.
    const { type, version, persistent, priority, expiresAfter } = options;
    const replyTo = this.#replies.name;
    const { signal } = ask.withdrawal;
    this.#publisher
      .send(payload, {
        id,
        type,
        version,
        causationId,
        headers,
        routingKey,
        replyTo,
        persistent,
        priority,
        expiresAfter,
        signal,
      })
      .then(
        () => {
          ask.confirmed = true;
        },
        (error: unknown) => this.#waiting.fail(ask, error),
      );
  }

  #end(why: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#unlisten();
    this.#waiting.endAll(why);
  }

  /** As the spans name it. */
  #destination(routingKey: string): string {
    return this.#options.exchange === '' ? routingKey : this.#options.exchange;
  }
}

function answerAlone<Answer>(resolve: (value: Answer) => void): (payload: Answer) => void {
  return resolve;
}

function wholeReply<Answer>(
  resolve: (value: Reply<Answer>) => void,
): (payload: Answer, envelope: Envelope) => void {
  return (payload, envelope) => resolve({ payload, envelope });
}
