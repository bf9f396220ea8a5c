import { ConfigurationError, checkOptions, shown, type Tracing } from '@acemq/core';
import { type RedisClient, redisCall } from './redis-calls.ts';
import { KIND_FIELD, nonEmpty } from './stream-names.ts';

/** The fields of an entry that carry the trace of whoever added it. */
export const TRACE_FIELDS: readonly string[] = Object.freeze(['traceparent', 'tracestate']);

/** A job to be added. */
export interface EnqueueOptions {
  readonly client: RedisClient;
  readonly stream: string;
  /** What kind of job it is. */
  readonly kind: string;
  /** What the job needs to know, as further fields of the entry. */
  readonly fields?: Readonly<Record<string, string>>;
  /** `kind` by default. */
  readonly kindField?: string;
  /** Whose active context the job carries on; `tracing` of a connection, for example. */
  readonly tracing?: Pick<Tracing, 'propagationHeaders'>;
}

/**
 * Adds a job to a stream, with the trace of the active context in it, so that what a worker does hangs on the request.
 *
 * @returns The id of the entry.
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for an option that is unknown or cannot be used; otherwise it rejects
 * with the client's error.
 */
export async function enqueue(options: EnqueueOptions): Promise<string> {
  checkOptions(options, ['client', 'stream', 'kind', 'fields', 'kindField', 'tracing'], 'enqueue');
  const call = redisCall(options.client);
  const stream = nonEmpty(options.stream, 'stream');
  const kindField = nonEmpty(options.kindField ?? KIND_FIELD, 'kindField');
  const all = new Map([[kindField, nonEmpty(options.kind, 'kind')]]);
  for (const [name, value] of Object.entries(options.fields ?? {})) {
    if (typeof value !== 'string') {
      throw new ConfigurationError(`fields.${name} must be text, not ${shown(value)}`);
    }
    if (all.has(name)) throw new ConfigurationError(`fields has ${shown(name)}, which says the kind`);
    all.set(name, value);
  }
  const context = options.tracing?.propagationHeaders() ?? {};
  for (const name of TRACE_FIELDS) {
    const value = context[name];
    if (value !== undefined) all.set(name, value);
  }
  return String(await call('XADD', stream, '*', ...[...all].flat()));
}
