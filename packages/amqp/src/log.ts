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

/** What pino's loggers have and others do not: they take the object first and the message second. */
interface ObjectFirst {
  bindings(): unknown;
  child(bindings: object): unknown;
}

function isObjectFirst(logger: object): logger is ObjectFirst {
  const { bindings, child } = logger as Partial<ObjectFirst>;
  return typeof bindings === 'function' && typeof child === 'function';
}

/**
 * A logger that throws, or whose promise rejects, must not reach the way of a message. One of pino's is given its
 * arguments in the order in which it reads them.
 */
export function guardLogger(logger: Logger): Logger {
  const swapped = isObjectFirst(logger);
  const safely =
    (level: keyof Logger) =>
    (message: string, details?: Readonly<Record<string, unknown>>): void => {
      try {
        const write = logger[level] as (...args: readonly unknown[]) => unknown;
        const written = swapped
          ? write.call(logger, details ?? {}, message)
          : write.call(logger, message, details);
        // There is nobody left to tell.
        if (written instanceof Promise) written.catch(() => {});
      } catch {
        // Nor here.
      }
    };
  return { debug: safely('debug'), info: safely('info'), warn: safely('warn'), error: safely('error') };
}
