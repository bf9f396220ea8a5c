import type { Envelope, Span, SpanOptions, Tracing } from '@acemq/core';

const NO_SPAN: Span = Object.freeze({ attribute(): void {}, event(): void {}, fail(): void {} });

/** What a connection traces with until an adapter is installed: nothing. */
export const NO_TRACING: Tracing = Object.freeze({
  propagationHeaders: (): Record<string, string> => ({}),
  event(): void {},
  span: <T>(_name: string, _options: SpanOptions, work: (span: Span) => T): T => work(NO_SPAN),
  request: <T>(_destination: string, _envelope: Envelope, work: () => Promise<T>): Promise<T> => work(),
});
