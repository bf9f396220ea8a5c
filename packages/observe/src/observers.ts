import { ConfigurationError, checkOptions, guardLogger, type Logger } from '@acemq/core';
import { guardObserver } from './guard.ts';
import { isNullObserver, type Labels, NullObserver, type Observer } from './observer.ts';

/** Options of {@link observers}, which takes them after a list. */
export interface ObserversOptions {
  /** Gets one warning for each metric that an observer fails on. `console` by default. */
  readonly logger?: Pick<Logger, 'warn'> | undefined;
}

/**
 * One observer that tells several, in their order. Each is guarded by itself, as {@link guardObserver} does it: what one
 * throws is logged and kept from the others. A {@link NullObserver} among them is left out, and where nothing else is left
 * the result is one, so that a connection reads no clock for it. A sample allocates nothing.
 *
 * `observers(metrics, prometheus)`, or with a logger `observers([metrics, prometheus], { logger })`.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for what is no observer, for one that is given twice (it would
 * count everything twice), and for a logger without `warn`.
 */
export function observers(...all: readonly Observer[]): Observer;
export function observers(all: readonly Observer[], options?: ObserversOptions): Observer;
export function observers(...given: readonly Observer[] | Listed): Observer {
  const [all, options] = isListed(given) ? given : [given];
  checkOptions(options, ['logger'], 'observers');
  const logger = guardLogger(options?.logger ?? console, ['warn']);
  const guarded = all.map((one) => guardObserver(one, logger));
  const told = guarded.filter((one) => !isNullObserver(one));
  const sources = all.filter((one) => !isNullObserver(one)).flatMap((one) => SOURCES.get(one) ?? [one]);
  checkOnce(sources);
  if (told.length === 0) return new NullObserver();
  const together = told.reduce((first, second) => new Both(first, second));
  SOURCES.set(together, sources);
  return together;
}

/** Those that were given, by what was made of them: one that is given again further in would be told twice too. */
const SOURCES: WeakMap<Observer, readonly Observer[]> = new WeakMap();

type Listed = readonly [all: readonly Observer[], options?: ObserversOptions | undefined];

function isListed(given: readonly Observer[] | Listed): given is Listed {
  return Array.isArray(given[0]);
}

function checkOnce(all: readonly Observer[]): void {
  const again = all.findIndex((one, index) => all.indexOf(one) !== index);
  if (again < 0) return;
  throw new ConfigurationError(
    `observer ${again + 1} of ${all.length} was given before; it would count everything twice`,
  );
}

/** Two are told with two plain calls; several are pairs of pairs. */
class Both implements Observer {
  readonly #first: Observer;
  readonly #second: Observer;

  constructor(first: Observer, second: Observer) {
    this.#first = first;
    this.#second = second;
  }

  count(metric: string, delta: number, labels: Labels): void {
    this.#first.count(metric, delta, labels);
    this.#second.count(metric, delta, labels);
  }

  observe(metric: string, value: number, labels: Labels): void {
    this.#first.observe(metric, value, labels);
    this.#second.observe(metric, value, labels);
  }

  gauge(metric: string, value: number, labels: Labels): void {
    this.#first.gauge(metric, value, labels);
    this.#second.gauge(metric, value, labels);
  }
}
