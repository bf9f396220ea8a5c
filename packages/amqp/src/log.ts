import { inspect } from 'node:util';
import type { Logger } from '@acemq/core';

/**
 * What a connection logs to unless it is given a logger: nothing but warnings and errors, to standard error.
 * They are about what nobody else would notice, so being silent about them by default would be the wrong
 * default.
 */
export const DEFAULT_LOGGER: Logger = Object.freeze({
  debug(): void {},
  info(): void {},
  warn(message: string, details?: Readonly<Record<string, unknown>>): void {
    console.warn(line('warning', message, details));
  },
  error(message: string, details?: Readonly<Record<string, unknown>>): void {
    console.error(line('error', message, details));
  },
});

function line(
  level: string,
  message: string,
  details: Readonly<Record<string, unknown>> | undefined,
): string {
  const words = Object.entries(details ?? {}).map(([name, value]) => `${name}=${printed(value)}`);
  return [`acemq ${level}: ${message}`, ...words].join(' ');
}

function printed(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Error) return JSON.stringify(`${value.name}: ${value.message}`);
  return inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY });
}
