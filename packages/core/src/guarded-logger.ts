import { ConfigurationError } from './errors.ts';
import type { Logger } from './logger.ts';
import { shown } from './shown.ts';

/** What pino's loggers have and others do not: they take the object first and the message second. */
interface ObjectFirst {
  bindings(): unknown;
  child(bindings: object): unknown;
}

type Write = (message: string, details?: Readonly<Record<string, unknown>>) => void;

const GUARDED = new WeakSet<object>();

/**
 * A logger that may be called anywhere: what it throws, and what a promise of its rejects with, reaches nobody. One of pino's
 * is given its arguments in the order in which it reads them. A logger that is guarded already is given back as it is.
 *
 * @param levels - Those that are written, and so those that it must have.
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) when it lacks one of them.
 */
export function guardLogger<Level extends keyof Logger>(
  logger: Pick<Logger, Level>,
  levels: readonly Level[],
): Pick<Logger, Level> {
  const given = methodsOf(logger);
  const missing = levels.filter((level) => typeof given?.[level] !== 'function');
  if (given === undefined || missing.length > 0) {
    const why = given === undefined ? `, and is ${shown(logger)}` : `; missing: ${missing.join(', ')}`;
    throw new ConfigurationError(`logger must have the methods ${levels.join(', ')}${why}`);
  }
  if (GUARDED.has(given)) return logger;
  const objectFirst = isObjectFirst(given);
  const guarded = Object.fromEntries(levels.map((level) => [level, safely(given, level, objectFirst)]));
  GUARDED.add(guarded);
  return guarded as unknown as Pick<Logger, Level>;
}

/** By its method: a library that replaces the global Promise makes those of async functions no instances of it. */
function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as Partial<Promise<unknown>> | null | undefined)?.catch === 'function';
}

function methodsOf(logger: unknown): Readonly<Record<string, unknown>> | undefined {
  const may = (typeof logger === 'object' && logger !== null) || typeof logger === 'function';
  return may ? (logger as Readonly<Record<string, unknown>>) : undefined;
}

function isObjectFirst(logger: object): boolean {
  const { bindings, child } = logger as Partial<ObjectFirst>;
  return typeof bindings === 'function' && typeof child === 'function';
}

function safely(logger: Readonly<Record<string, unknown>>, level: keyof Logger, objectFirst: boolean): Write {
  return (message, details) => {
    try {
      const write = logger[level] as (...args: readonly unknown[]) => unknown;
      const written = objectFirst
        ? write.call(logger, details ?? {}, message)
        : write.call(logger, message, details);
      // There is nobody left to tell.
      if (isPromise(written)) written.catch(() => {});
    } catch {
      // Nor here.
    }
  };
}
