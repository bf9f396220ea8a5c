import { diag } from '@opentelemetry/api';

/**
 * Runs work on OpenTelemetry's side. What that throws goes to its own diagnostics and no further: a message never
 * fails over its trace.
 */
export function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    try {
      diag.error('@acemq/otel: tracing failed; the message went on', error);
    } catch {
      // The diagnostics are the application's too.
    }
    return undefined;
  }
}
