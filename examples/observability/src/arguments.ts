import { type Duration, milliseconds } from '@acemq/core';

/** What a run is asked for. */
export interface Arguments {
  /** Milliseconds between two orders while it serves; undefined where it ends after the report. */
  readonly every: number | undefined;
}

const DEFAULT_EVERY = '200ms';

/** Reads `[--serve [--every DURATION]]`. Throws an `Error` that says what is allowed. */
export function readArguments(args: readonly string[]): Arguments {
  const [serve, every, duration, ...rest] = args;
  if (serve === undefined) return { every: undefined };
  const wrong = rest.length > 0 || (every !== undefined && (every !== '--every' || duration === undefined));
  if (serve !== '--serve' || wrong) throw new Error(`not understood: ${args.join(' ')}`);
  return { every: milliseconds((duration ?? DEFAULT_EVERY) as Duration, '--every', { min: 1 }) };
}
