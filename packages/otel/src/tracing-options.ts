import { ConfigurationError, checkOptions, shown } from '@acemq/core';
import type { TextMapPropagator, TracerProvider } from '@opentelemetry/api';
import type { Conventions } from './attribute-conventions.ts';
import { DEFAULT_SYSTEM } from './names.ts';

/** What an `OpenTelemetryTracing` may be given. */
export interface OpenTelemetryTracingOptions {
  /** What spans say as their messaging system; `rabbitmq` by default. */
  readonly system?: string;
  /** Makes the spans; the global provider by default, asked for at each message. */
  readonly tracerProvider?: TracerProvider;
  /**
   * Reads and writes the trace headers. By default the global one, where there is one and no `tracerProvider` is
   * given; otherwise W3C `traceparent` and `tracestate`.
   */
  readonly propagator?: TextMapPropagator;
  /** The names that attributes have; `acemq` by default. */
  readonly conventions?: Conventions;
  /**
   * Whether a message's first attempt gets a `queue.wait` span, from its first publish to the start of its handler;
   * false by default.
   */
  readonly queueWait?: boolean;
}

const CONVENTIONS: readonly unknown[] = ['acemq', 'otel', 'both'];

/** The options with their defaults. Throws `ConfigurationError`. */
export function resolveTracing(options: OpenTelemetryTracingOptions): {
  readonly system: string;
  readonly conventions: Conventions;
  readonly queueWait: boolean;
} {
  checkOptions(
    options,
    ['system', 'tracerProvider', 'propagator', 'conventions', 'queueWait'],
    'OpenTelemetryTracing',
  );
  const { system = DEFAULT_SYSTEM, conventions = 'acemq', queueWait = false } = options;
  if (typeof system !== 'string' || system === '') {
    throw new ConfigurationError(`system must be text and not empty, not ${shown(system)}`);
  }
  if (!CONVENTIONS.includes(conventions)) {
    throw new ConfigurationError(`conventions must be acemq, otel or both, not ${shown(conventions)}`);
  }
  if (typeof queueWait !== 'boolean') {
    throw new ConfigurationError(`queueWait must be true or false, not ${shown(queueWait)}`);
  }
  requireMethod(options.tracerProvider, 'tracerProvider', 'getTracer');
  requireMethod(options.propagator, 'propagator', 'inject');
  return { system, conventions, queueWait };
}

function requireMethod(given: unknown, option: string, method: string): void {
  if (given === undefined) return;
  if (typeof (given as Readonly<Record<string, unknown>> | null)?.[method] !== 'function') {
    throw new ConfigurationError(`${option} must have a method ${method}, and ${shown(given)} has none`);
  }
}
