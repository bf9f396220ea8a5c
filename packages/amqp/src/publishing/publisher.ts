import { setMaxListeners } from 'node:events';
import {
  AbortedError,
  type AceMQError,
  type Clock,
  type Codec,
  ConfigurationError,
  checkOptions,
  checkOutgoing,
  createEnvelope,
  type Envelope,
  type EnvelopeFields,
  type Outbound,
  type PublishContext,
  PublishError,
  PublishingPausedError,
  type StandardSchema,
  withEnvelope,
  writeHeaders,
} from '@acemq/core';
import { OUTCOME_FAILED, OUTCOME_REFUSED, type PublishOutcome } from '@acemq/observe';
import { encodeWith } from '../codecs/encode-with.ts';
import { type Interceptors, runPublishChain } from '../interceptors.ts';
import { signalOf, yesOrNo } from '../option-checks.ts';
import { type PublishTelemetry, seconds } from '../telemetry.ts';
import { Batch } from './batch.ts';
import { checkSource, draw } from './drawing.ts';
import { failureError, type PublishSubject } from './publish-errors.ts';
import type { PublishLink } from './publish-link.ts';
import {
  checkDestination,
  expirationOf,
  priorityOf,
  type ResolvedPublisherOptions,
  replyToOf,
  SEND_OPTIONS,
  type SendOptions,
} from './publisher-options.ts';
import { Send } from './send.ts';

/** What a publisher needs of its connection. */
export interface PublisherParts {
  readonly origin: string;
  readonly clock: Clock;
  readonly publishing: PublishLink;
  readonly interceptors: Interceptors;
  readonly telemetry: PublishTelemetry;
}

/** Everything but what an interceptor may still change. */
interface Sending {
  readonly codec: Codec;
  readonly schema: StandardSchema | undefined;
  readonly priority: number | undefined;
  readonly expiration: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly started: number;
}

const NO_FIELDS: EnvelopeFields = Object.freeze({});

/**
 * Sends messages of one kind. Cheap to make, holds nothing that needs closing, and may be used by any number
 * of callers at once.
 */
export class Publisher<T = unknown> {
  readonly #parts: PublisherParts;
  readonly #options: ResolvedPublisherOptions;

  /** @internal Made by `Connection.publisher`. */
  constructor(parts: PublisherParts, options: ResolvedPublisherOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /**
   * Sends one message. Resolves, to its envelope as it went out, when the broker has taken responsibility for
   * it; by default that includes that it is in at least one queue.
   *
   * The payload is encoded before this returns. Rejects with
   * - `EncodeError` (`ACEMQ_ENCODE`): it cannot be encoded, or its schema refuses it. Nothing was written.
   * - `PublishError` (`ACEMQ_PUBLISH_UNROUTABLE`, `_NACKED`, `_FAILED`): the broker judged it.
   * - `PublishError` (`ACEMQ_PUBLISH_LOST`, `_TIMEOUT`): no answer; it may or may not have arrived.
   * - `PublishError` (`ACEMQ_PUBLISH_FAILED`, `retryable`): no permit or no connection for the whole
   *   `confirmTimeout`. Nothing was written.
   * - `PublishingPausedError` (`ACEMQ_PUBLISHING_PAUSED`): the broker blocks the connection. Nothing was
   *   written.
   * - `ConnectionClosedError`, `AbortedError`, `ConfigurationError`.
   *
   * The library never sends a message twice by itself.
   */
  send(payload: T, options?: SendOptions): Promise<Envelope> {
    const { telemetry, interceptors } = this.#parts;
    const started = telemetry.active ? seconds() : 0;
    const chain = interceptors.publish;
    let context: PublishContext | undefined;
    try {
      context = this.#context(payload, options);
      const sending = this.#sending(options, started);
      sending.signal?.throwIfAborted();
      if (chain.length > 0)
        return this.#sendThrough(chain, context, sending, options?.type ?? this.#options.type);
      return this.#check(context, sending);
    } catch (error) {
      const cause = options?.signal?.aborted === true ? aborted(options.signal) : error;
      this.#countFailure(context, options, started, OUTCOME_FAILED);
      return Promise.reject(cause);
    }
  }

  /**
   * Sends many messages, as fast as there are permits: one round trip's worth of waiting, not one each.
   * Payloads are encoded as permits come, so a large iterable is never in memory as a whole.
   *
   * Resolves, when all are confirmed, to their envelopes in the order of the payloads; an empty batch
   * resolves to an empty list. A failure does not keep the others from being sent: rejects, when every
   * outcome is known, with `BatchPublishError` (`ACEMQ_PUBLISH_BATCH`), whose `errors` say which. An error of
   * the iterable itself ends the batch: it is thrown on when the outcome of what was sent by then is known. A
   * connection that is closed, or that has no permit for the whole `confirmTimeout`, ends it too: no further
   * payload is drawn.
   */
  async sendAll(payloads: Iterable<T> | AsyncIterable<T>, options?: SendOptions): Promise<Envelope[]> {
    if (options?.id !== undefined) {
      throw new ConfigurationError('sendAll cannot give every message the same id; leave id out');
    }
    checkSource(payloads);
    const { publishing, telemetry } = this.#parts;
    // One listener on the caller's signal, and not one a message.
    const aborting = new AbortController();
    setMaxListeners(0, aborting.signal);
    const each = options?.signal === undefined ? options : { ...options, signal: aborting.signal };
    const abort = (): void => aborting.abort(options?.signal?.reason);
    if (options?.signal?.aborted === true) abort();
    options?.signal?.addEventListener('abort', abort, { once: true });
    const batch = new Batch<T>({
      most: publishing.permits,
      send: (payload) => this.send(payload, each),
      refuse: (failure) => {
        this.#countFailure(undefined, options, telemetry.active ? seconds() : 0, OUTCOME_FAILED);
        return failureError(failure, this.#subject('', options));
      },
    });
    try {
      await draw(payloads, batch, publishing);
    } catch (error) {
      await batch.settled();
      throw error;
    }
    return batch.outcome().finally(() => options?.signal?.removeEventListener('abort', abort));
  }

  #context(payload: T, options: SendOptions | undefined): PublishContext {
    const { exchange, persistent, mandatory, type, version } = this.#options;
    if (options === undefined) {
      const { routingKey } = this.#options;
      checkDestination(exchange, routingKey);
      const fields = type === undefined && version === undefined ? NO_FIELDS : { type, version };
      const envelope = this.#envelope(fields, routingKey);
      return { exchange, routingKey, envelope, payload, persistent, mandatory, replyTo: undefined };
    }
    checkOptions(options, SEND_OPTIONS, 'send');
    const routingKey = options.routingKey ?? this.#options.routingKey;
    checkDestination(exchange, routingKey);
    const envelope = this.#envelope(
      { ...options, type: options.type ?? type, version: options.version ?? version },
      routingKey,
    );
    return {
      exchange,
      routingKey,
      envelope,
      payload,
      persistent: yesOrNo(options.persistent, 'persistent', persistent),
      mandatory: !yesOrNo(options.allowUnroutable, 'allowUnroutable', !mandatory),
      replyTo: replyToOf(options.replyTo),
    };
  }

  #envelope(fields: EnvelopeFields, routingKey: string): Envelope {
    const { clock, origin } = this.#parts;
    return createEnvelope(fields, { routingKey, now: clock.now(), origin });
  }

  #sending(options: SendOptions | undefined, started: number): Sending {
    const { codec, schema, priority, expiration } = this.#options;
    return {
      codec,
      schema,
      priority: options?.priority === undefined ? priority : priorityOf(options.priority),
      expiration: options?.expiresAfter === undefined ? expiration : expirationOf(options.expiresAfter),
      signal: signalOf(options?.signal),
      started,
    };
  }

  /**
   * Checks the payload against its schema, then transmits. Throws, with nothing counted, what shows at once.
   */
  #check(context: PublishContext, sending: Sending): Promise<Envelope> {
    const checked = sending.schema === undefined ? undefined : checkOutgoing(sending.schema, context.payload);
    return checked === undefined
      ? this.#transmit(context, sending)
      : this.#transmitChecked(checked, context, sending);
  }

  async #transmitChecked(
    checked: Promise<void>,
    context: PublishContext,
    sending: Sending,
  ): Promise<Envelope> {
    let sent: Promise<Envelope>;
    try {
      await checked;
      sent = this.#transmit(context, sending);
    } catch (error) {
      this.#countFailure(context, undefined, sending.started, OUTCOME_FAILED);
      throw error;
    }
    return sent;
  }

  async #sendThrough(
    chain: Interceptors['publish'],
    context: PublishContext,
    sending: Sending,
    givenType: string | undefined,
  ): Promise<Envelope> {
    const { routingKey } = context;
    let reached = false;
    let over = false;
    let sent: Promise<Envelope> | undefined;
    let done: Promise<void> | undefined;
    const last = (): Promise<void> => {
      if (reached) throw new ConfigurationError('a publish interceptor called next twice');
      if (over) throw new ConfigurationError('a publish interceptor called next after it had returned');
      reached = true;
      // A type that was left to the routing key follows the key an interceptor chose.
      if (
        givenType === undefined &&
        context.routingKey !== routingKey &&
        context.envelope.type === routingKey
      ) {
        context.envelope = withEnvelope(context.envelope, { type: context.routingKey });
      }
      try {
        checkDestination(context.exchange, context.routingKey);
        context.replyTo = replyToOf(context.replyTo);
        sent = this.#check(context, sending);
      } catch (error) {
        this.#countFailure(context, undefined, sending.started, OUTCOME_FAILED);
        sent = Promise.reject(error);
      }
      done = sent.then(nothing);
      return done;
    };
    const ended = (): Promise<void> => {
      if (done !== undefined) return done;
      over = true;
      throw nothingSent(context);
    };
    try {
      await runPublishChain(chain, context, last, ended);
      // It is there: `ended` has thrown otherwise.
      return await (sent as unknown as Promise<Envelope>);
    } catch (error) {
      if (sent === undefined) {
        const outcome = error instanceof PublishingPausedError ? OUTCOME_REFUSED : OUTCOME_FAILED;
        this.#countFailure(context, undefined, sending.started, outcome);
      }
      throw error;
    } finally {
      over = true;
    }
  }

  /**
   * Encodes and publishes. Throws where the payload cannot be encoded, and where the caller has given up
   * meanwhile.
   */
  #transmit(context: PublishContext, sending: Sending): Promise<Envelope> {
    if (sending.signal?.aborted === true) throw aborted(sending.signal);
    const { envelope } = context;
    const message: Outbound = {
      body: encodeWith(sending.codec, context.payload),
      contentType: sending.codec.contentType,
      messageId: envelope.id,
      replyTo: context.replyTo,
      headers: writeHeaders(envelope),
      persistent: context.persistent,
      mandatory: context.mandatory,
      timestamp: Math.floor(envelope.firstSeen / 1000),
      priority: sending.priority,
      expiration: sending.expiration,
    };
    const { publishing, telemetry } = this.#parts;
    return new Promise((resolve, reject) => {
      const send = new Send(context, message, sending.started, telemetry, resolve, reject);
      if (sending.signal !== undefined) send.watch(sending.signal, publishing);
      publishing.publish(send);
    });
  }

  #subject(messageId: string, options: SendOptions | undefined): PublishSubject {
    const { exchange, routingKey } = this.#options;
    return { exchange, routingKey: options?.routingKey ?? routingKey, messageId };
  }

  /** Counts a message that never came to be written. */
  #countFailure(
    context: PublishContext | undefined,
    options: SendOptions | undefined,
    started: number,
    outcome: PublishOutcome,
  ): void {
    const { telemetry } = this.#parts;
    if (!telemetry.active) return;
    const { exchange, routingKey } = context ?? this.#subject('', options);
    telemetry.published(exchange, routingKey, outcome, started);
  }
}

/** The caller of a chain is told of the envelope, its interceptors only that it went out. */
function nothing(): void {}

function nothingSent({ envelope, exchange, routingKey }: PublishContext): PublishError {
  return new PublishError('a publish interceptor ended the publish without calling next; nothing was sent', {
    messageId: envelope.id,
    exchange,
    routingKey,
  });
}

function aborted(signal: AbortSignal): AceMQError {
  return new AbortedError('the publish was aborted before anything was written', { cause: signal.reason });
}
