import { ConfigurationError, guardLogger, type Logger } from '@acemq/core';
import { isNullObserver, type Labels, type Observer } from './observer.ts';

const METHODS = ['count', 'observe', 'gauge'] as const;

/**
 * Wraps an observer so that what it throws reaches the log, once per metric, and never the caller. A method
 * that was written `async` by mistake is covered too: its rejection is logged the same way, and does not end
 * the process.
 *
 * A {@link NullObserver} is given back as it is.
 *
 * @param observer - Who is told the numbers.
 * @param logger - Gets one warning per metric. One that throws is ignored.
 * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when one of the three methods is missing, or the logger's.
 */
export function guardObserver(observer: Observer, logger: Pick<Logger, 'warn'>): Observer {
  const missing = METHODS.filter((method) => typeof observer?.[method] !== 'function');
  if (missing.length > 0) {
    throw new ConfigurationError(
      `observer must have the methods count, observe and gauge; missing: ${missing.join(', ')}`,
    );
  }
  const log = guardLogger(logger, ['warn']);
  return isNullObserver(observer) ? observer : new GuardedObserver(observer, log);
}

class GuardedObserver implements Observer {
  readonly #observer: Observer;
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #reported: Set<string> = new Set();

  constructor(observer: Observer, logger: Pick<Logger, 'warn'>) {
    this.#observer = observer;
    this.#logger = logger;
  }

  count(metric: string, delta: number, labels: Labels): void {
    try {
      const result: unknown = this.#observer.count(metric, delta, labels);
      if (result !== undefined) this.#watch(metric, result);
    } catch (error) {
      this.#report(metric, error);
    }
  }

  observe(metric: string, value: number, labels: Labels): void {
    try {
      const result: unknown = this.#observer.observe(metric, value, labels);
      if (result !== undefined) this.#watch(metric, result);
    } catch (error) {
      this.#report(metric, error);
    }
  }

  gauge(metric: string, value: number, labels: Labels): void {
    try {
      const result: unknown = this.#observer.gauge(metric, value, labels);
      if (result !== undefined) this.#watch(metric, result);
    } catch (error) {
      this.#report(metric, error);
    }
  }

  /** TypeScript lets an `async` method stand where one that returns nothing is asked for. */
  #watch(metric: string, result: unknown): void {
    // By its method: a library that replaces the global Promise makes those of async functions no instances of it.
    const promise = result as Partial<Promise<unknown>> | null;
    if (typeof promise?.catch === 'function') promise.catch((error: unknown) => this.#report(metric, error));
  }

  #report(metric: string, error: unknown): void {
    if (this.#reported.has(metric)) return;
    this.#reported.add(metric);
    this.#logger.warn(`the observer failed on ${metric}; further failures on it are not logged`, {
      metric,
      error,
    });
  }
}
