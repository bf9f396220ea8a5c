import {
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type SpanContext,
  type TextMapPropagator,
  trace,
} from '@opentelemetry/api';
import { suppressTracing, TraceState, W3CTraceContextPropagator } from '@opentelemetry/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { W3CTraceState } from '../src/trace-state.ts';
import { W3C } from '../src/w3c.ts';

const theirs = new W3CTraceContextPropagator();

const hex = (length: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });
const noise = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom('', ' ', '\n', '-', '--', '0'.repeat(32)),
);
const traceparent = fc.oneof(
  fc
    .tuple(fc.oneof(fc.constant('00'), hex(2)), hex(32), hex(16), hex(2), fc.oneof(fc.constant(''), noise))
    .map(([version, id, span, flags, rest]) => `${version}-${id}-${span}-${flags}${rest}`),
  fc
    .array(
      fc.oneof(hex(2), hex(16), hex(32), fc.constantFrom('00', 'ff', '0'.repeat(16), '0'.repeat(32)), noise),
    )
    .map((parts) => parts.join('-')),
  fc.string(),
);
const key = fc.oneof(
  fc.constantFrom('a', 'b', 'rojo', 'congo', '1a@b', 'x@', '@', 'A'),
  fc.string({ unit: fc.constantFrom(...'az09_-*/@A '), maxLength: 260 }),
);
const value = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ minLength: 250, maxLength: 258 }));
const tracestate = fc.oneof(
  fc
    .array(fc.tuple(key, value), { maxLength: 40 })
    .map((members) => members.map(([name, text]) => `${name}=${text}`).join(',')),
  fc.string(),
);

const read = (propagator: TextMapPropagator, carrier: object): object | undefined => {
  const span = trace.getSpanContext(propagator.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter));
  return span === undefined ? undefined : { ...span, traceState: span.traceState?.serialize() };
};

describe('the W3C headers', () => {
  it('are read as the propagator of OpenTelemetry reads them, hostile ones included', () => {
    fc.assert(
      fc.property(
        fc.oneof(traceparent, fc.array(traceparent)),
        fc.option(fc.oneof(tracestate, fc.array(tracestate)), { nil: undefined }),
        (parent, state) => {
          const carrier = { traceparent: parent, ...(state === undefined ? {} : { tracestate: state }) };
          expect(read(W3C, carrier)).toEqual(read(theirs, carrier));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('are written as the propagator of OpenTelemetry writes them', () => {
    const ids = fc.oneof(hex(32), fc.constant('0'.repeat(32)), fc.string());
    fc.assert(
      fc.property(
        ids,
        fc.oneof(hex(16), fc.string()),
        fc.integer({ min: 0, max: 15 }),
        fc.option(tracestate, { nil: undefined }),
        fc.boolean(),
        (traceId, spanId, traceFlags, state, suppressed) => {
          const write = (propagator: TextMapPropagator, traceState: SpanContext['traceState']): object => {
            const carrier = {};
            const span: SpanContext = { traceId, spanId, traceFlags };
            if (traceState !== undefined) span.traceState = traceState;
            const context = trace.setSpanContext(ROOT_CONTEXT, span);
            propagator.inject(suppressed ? suppressTracing(context) : context, carrier, defaultTextMapSetter);
            return carrier;
          };
          const ours = state === undefined ? undefined : W3CTraceState.read(state);
          expect(write(W3C, ours)).toEqual(
            write(theirs, state === undefined ? undefined : new TraceState(state)),
          );
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('are written with two digits of flags whatever came in, where that propagator writes three', () => {
    const carrier: Record<string, string> = {};
    const header = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-ff`;
    const context = W3C.extract(ROOT_CONTEXT, { traceparent: header }, defaultTextMapGetter);
    W3C.inject(context, carrier, defaultTextMapSetter);
    expect(carrier).toEqual({ traceparent: header });
  });

  it('carry a state that changes as that of OpenTelemetry does', () => {
    const change = fc.tuple(fc.constantFrom('set', 'unset'), key, value);
    fc.assert(
      fc.property(tracestate, fc.array(change), (header, changes) => {
        let ours = W3CTraceState.read(header);
        let other = new TraceState(header);
        other.serialize();
        for (const [how, name, text] of changes) {
          ours = how === 'set' ? ours.set(name, text) : ours.unset(name);
          other = how === 'set' ? other.set(name, text) : other.unset(name);
          expect(ours.get(name)).toBe(other.get(name));
        }
        expect(ours.serialize()).toBe(other.serialize());
      }),
      { numRuns: 500 },
    );
  });
});
