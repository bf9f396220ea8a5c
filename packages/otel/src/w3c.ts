import {
  type Context,
  createContextKey,
  isSpanContextValid,
  type SpanContext,
  type TextMapGetter,
  type TextMapPropagator,
  type TextMapSetter,
  trace,
} from '@opentelemetry/api';
import { W3CTraceState } from './trace-state.ts';

const TRACEPARENT = 'traceparent';
const TRACESTATE = 'tracestate';

/** The two headers, without any prefix: what every tracing tool reads. */
export const TRACE_HEADERS: readonly string[] = Object.freeze([TRACEPARENT, TRACESTATE]);

const FORM = /^\s?((?!ff)[\da-f]{2})-((?!0{32})[\da-f]{32})-((?!0{16})[\da-f]{16})-([\da-f]{2})(-.*)?\s?$/;

/** The key under which the SDK marks a context in which nothing is to be traced. */
const SUPPRESSED = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/** Reads and writes the two headers of W3C Trace Context. Extracts nothing from a malformed `traceparent`. */
export const W3C: TextMapPropagator = Object.freeze({
  fields: (): string[] => [...TRACE_HEADERS],

  inject(context: Context, carrier: unknown, setter: TextMapSetter): void {
    const span = trace.getSpanContext(context);
    if (span === undefined || context.getValue(SUPPRESSED) === true || !isSpanContextValid(span)) return;
    const flags = span.traceFlags.toString(16).padStart(2, '0');
    setter.set(carrier, TRACEPARENT, `00-${span.traceId}-${span.spanId}-${flags}`);
    if (span.traceState !== undefined) setter.set(carrier, TRACESTATE, span.traceState.serialize());
  },

  extract(context: Context, carrier: unknown, getter: TextMapGetter): Context {
    const given = getter.get(carrier, TRACEPARENT);
    const header: unknown = Array.isArray(given) ? given[0] : given;
    if (typeof header !== 'string') return context;
    const [, version, traceId = '', spanId = '', flags = '', more] = FORM.exec(header) ?? [];
    if (version === undefined || (version === '00' && more !== undefined)) return context;
    const span: SpanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
    const state = getter.get(carrier, TRACESTATE);
    if (state !== undefined && state !== '') {
      span.traceState = W3CTraceState.read(Array.isArray(state) ? state.join(',') : state);
    }
    return trace.setSpanContext(context, span);
  },
});
