import type { Envelope } from './envelope.ts';

/** What kind of work a span stands for. */
export type SpanKind = 'internal' | 'client' | 'server' | 'producer' | 'consumer';

/** A value that a span or an event may carry. */
export type AttributeValue = string | number | boolean;

/** What a span is opened with. */
export interface SpanOptions {
  readonly kind?: SpanKind;
  /** Headers (`traceparent`, `tracestate`) that the span hangs on; without them, the active context. */
  readonly parent?: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch; now without it. */
  readonly startTime?: number;
  readonly attributes?: Readonly<Record<string, AttributeValue>>;
}

/** The part of an open span that the library writes to. */
export interface Span {
  attribute(name: string, value: AttributeValue): void;
  event(name: string, attributes?: Readonly<Record<string, AttributeValue>>): void;
  /** Records the error and marks the span failed. */
  fail(error: unknown): void;
}

/**
 * Where the library's traces go. A connection has one that does nothing until an adapter's `install` sets
 * another.
 */
export interface Tracing {
  /** The headers that carry the active context on, made anew at each call; empty without one. */
  propagationHeaders(): Record<string, string>;
  /** Puts an event on whatever span is active; nothing without one. */
  event(name: string, attributes?: Readonly<Record<string, AttributeValue>>): void;
  /** Runs `work` inside a span that ends when `work` has settled. Passes on its result and its error. */
  span<T>(name: string, options: SpanOptions, work: (span: Span) => T): T;
  /**
   * Runs a request and the wait for its answer inside a span of its own, `<destination> request`, that ends with an
   * outcome: `answered`, `timed_out` or `failed`. Does without one where `work` already runs inside such a span, which the
   * caller opened. Passes on the result and the error.
   */
  request<T>(destination: string, envelope: Envelope, work: () => Promise<T>): Promise<T>;
}
