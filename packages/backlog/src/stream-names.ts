import { ConfigurationError, shown } from '@acemq/core';

/** The field of an entry that says its kind. */
export const KIND_FIELD = 'kind';

/** Where a stream's jobs go that are given up. */
export function deadStreamOf(stream: string): string {
  return `${stream}:dead`;
}

export function nonEmpty(value: unknown, option: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new ConfigurationError(`${option} must be text that is not empty, not ${shown(value)}`);
}
