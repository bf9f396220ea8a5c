import { UNKNOWN_KIND } from './kind-tally.ts';
import { asList } from './redis-replies.ts';

/** What a handler is given. */
export interface StreamJob {
  /** The id of the entry: when it was added, and which one it is. */
  readonly id: string;
  readonly kind: string;
  /** All fields of the entry, the kind and the trace included. */
  readonly fields: Readonly<Record<string, string>>;
  /** How often it was delivered, from 1. */
  readonly attempt: number;
  /** Aborted when the worker closes and its deadline has passed: what the handler still does is lost. */
  readonly signal: AbortSignal;
}

/** Works one job. When it returns, the job is done; when it throws, the job is delivered again later. */
export type StreamHandler = (job: StreamJob) => unknown;

/** An entry as it was read. */
export interface StreamEntry {
  readonly id: string;
  readonly kind: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly attempt: number;
}

/** Reads `[id, fields]`; `undefined` for an entry that is no longer there. */
export function entryOf(reply: unknown, kindField: string, attempt: number): StreamEntry | undefined {
  const [id, list] = asList(reply);
  if (id === undefined || !Array.isArray(list)) return undefined;
  const fields: Record<string, string> = Object.create(null);
  for (let index = 0; index + 1 < list.length; index += 2)
    fields[String(list[index])] = String(list[index + 1]);
  return { id: String(id), kind: fields[kindField] || UNKNOWN_KIND, fields, attempt };
}
