import {
  ConfigurationError,
  type ConsumeInterceptor,
  type Envelope,
  type Interceptable,
  type PublishInterceptor,
  RequestTimeoutError,
  TimeoutError,
} from '@acemq/core';
import { OUTCOME_ANSWERED, OUTCOME_FAILED, OUTCOME_TIMED_OUT } from '@acemq/observe';
import { createContextKey, SpanKind } from '@opentelemetry/api';
import type { Conventions } from './attribute-conventions.ts';
import { currentContext, within } from './carried-context.ts';
import { connectionTracing } from './connection-tracing.ts';
import { deadLettered, retried, wholeMilliseconds } from './events.ts';
import {
  ATTR_DESTINATION,
  ATTR_OUTBOX_LAG,
  ATTR_PIPELINE,
  ATTR_REASON,
  ATTR_RUN_AGE,
  ATTR_RUN_OUTCOME,
  ATTR_STEP,
  EVENT_OUTBOX_PUBLISH_FAILED,
  EVENT_PIPELINE_RUN_FINISHED,
  SPAN_REQUEST_SUFFIX,
} from './names.ts';
import type { OpenSpan } from './open-span.ts';
import { consumeInterceptor } from './process-span.ts';
import { Propagation } from './propagation.ts';
import { publishInterceptor } from './publish-span.ts';
import { NO_SERVER, serverOf } from './server.ts';
import { Spans } from './spans.ts';
import { type OpenTelemetryTracingOptions, resolveTracing } from './tracing-options.ts';

/** The connections on which tracing is installed. */
const TRACED = new WeakSet<Interceptable>();

/** Tells a requester that its caller has opened the span of the request already. */
const IN_REQUEST = createContextKey('acemq request span');

/**
 * Traces through the OpenTelemetry API. Exports nothing by itself: that is for the SDK that the application sets up,
 * before or after this is made. Trace headers that came in are handed on even where no SDK is.
 *
 * Nothing that a tracer, an exporter or a propagator throws reaches a message.
 */
export class OpenTelemetryTracing {
  readonly #spans: Spans;
  readonly #propagation: Propagation;
  readonly #queueWait: boolean;
  readonly #conventions: Conventions;

  /**
   * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for an option that is unknown or cannot be used.
   */
  constructor(options: OpenTelemetryTracingOptions = {}) {
    const { system, conventions, queueWait } = resolveTracing(options);
    const { tracerProvider, propagator } = options;
    this.#spans = new Spans(system, conventions, tracerProvider);
    this.#propagation = new Propagation(propagator, tracerProvider !== undefined);
    this.#queueWait = queueWait;
    this.#conventions = conventions;
  }

  /**
   * Adds both interceptors to a connection, sets its `tracing` and returns it. Install before other interceptors: the
   * first is the outermost, and the span then holds their time too.
   *
   * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for what is no connection, and for one on which tracing is installed
   * already: each message would have its spans twice.
   */
  install<T extends Interceptable>(connection: T): T {
    checkConnection(connection);
    if (TRACED.has(connection)) {
      throw new ConfigurationError(
        'tracing is installed on this connection already; a second one would open every span twice',
      );
    }
    TRACED.add(connection);
    const server = serverOf(connection, this.#conventions);
    connection.interceptPublish(publishInterceptor(this.#spans, this.#propagation, server));
    connection.interceptConsume(consumeInterceptor(this.#spans, this.#propagation, server, this.#queueWait));
    connection.tracing = connectionTracing(this.#spans, this.#propagation, (destination, envelope, work) =>
      currentContext().getValue(IN_REQUEST) === true ? work() : this.requestSpan(destination, envelope, work),
    );
    return connection;
  }

  /** The one that opens `<destination> publish`; by itself it cannot say which broker that went to. */
  publishInterceptor(): PublishInterceptor {
    return publishInterceptor(this.#spans, this.#propagation, NO_SERVER);
  }

  /** The one that opens `<queue> process`; by itself it cannot say which broker that came from. */
  consumeInterceptor(): ConsumeInterceptor {
    return consumeInterceptor(this.#spans, this.#propagation, NO_SERVER, this.#queueWait);
  }

  /**
   * Runs a request inside a CLIENT span, `<destination> request`, that ends with an outcome: `answered`; `timed_out`,
   * told by the error's type; `failed` for any other error. Passes on the result and the error.
   */
  async requestSpan<T>(destination: string, envelope: Envelope, work: () => T | Promise<T>): Promise<T> {
    const { span, context } = this.#spans.open({
      name: `${destination}${SPAN_REQUEST_SUFFIX}`,
      kind: SpanKind.CLIENT,
      parent: currentContext(),
      attributes: this.#spans.about(destination, 'request', envelope),
    });
    try {
      const answer = await within(context.setValue(IN_REQUEST, true), work);
      span.outcome(OUTCOME_ANSWERED);
      return answer;
    } catch (error) {
      span.failure(isTimeout(error) ? OUTCOME_TIMED_OUT : OUTCOME_FAILED, error);
      throw error;
    } finally {
      span.end();
    }
  }

  /** The headers of the active context, in a new object at each call; empty where nothing is traced. */
  propagationHeaders(): Record<string, string> {
    return this.#propagation.headers(currentContext());
  }

  /** Writes how late an outbox record was published, in milliseconds, on the active span; nothing for what is no number. */
  outboxPublished(_destination: string, lagMs: number): void {
    this.#current().attributes(wholeMilliseconds(ATTR_OUTBOX_LAG, Math.max(0, lagMs)));
  }

  /** Puts `outbox.publish_failed` on the active span. */
  outboxPublishFailed(destination: string, reason: string): void {
    this.#current().event(EVENT_OUTBOX_PUBLISH_FAILED, {
      [ATTR_DESTINATION]: destination,
      [ATTR_REASON]: reason,
    });
  }

  /** Puts `pipeline.run_finished` on the active span; the run's age is in milliseconds. */
  pipelineRunFinished(pipeline: string, step: string, outcome: string, ageMs: number): void {
    this.#current().event(EVENT_PIPELINE_RUN_FINISHED, {
      [ATTR_PIPELINE]: pipeline,
      [ATTR_STEP]: step,
      [ATTR_RUN_OUTCOME]: outcome,
      ...wholeMilliseconds(ATTR_RUN_AGE, ageMs),
    });
  }

  /** Puts `message.retried` on the active span, for a retry that something else arranged; milliseconds. */
  messageRetried(queue: string, envelope: Envelope, delayMs: number): void {
    retried(this.#current(), queue, envelope, delayMs);
  }

  /** Puts `message.dead_lettered` on the active span, for one that something else arranged. */
  messageDeadLettered(queue: string, envelope: Envelope, reason: string): void {
    deadLettered(this.#current(), queue, envelope, reason);
  }

  #current(): OpenSpan {
    return this.#spans.current(currentContext());
  }
}

function checkConnection(given: unknown): void {
  const { interceptPublish, interceptConsume, then } = (given ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof interceptPublish === 'function' && typeof interceptConsume === 'function') return;
  // The value itself may be a URL with a password in it.
  const what = typeof then === 'function' ? 'the promise of one; await it first' : `of type ${typeof given}`;
  throw new ConfigurationError(`install must be given a connection, not ${what}`);
}

/** `AbortSignal.timeout` rejects with a DOMException of this name, and Node's own errors have it too. */
function isTimeout(error: unknown): boolean {
  if (error instanceof RequestTimeoutError || error instanceof TimeoutError) return true;
  return error instanceof Error && error.name === 'TimeoutError';
}
