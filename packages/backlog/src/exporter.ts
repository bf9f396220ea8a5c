import {
  type Clock,
  ConfigurationError,
  ConnectionClosedError,
  checkOptions,
  type Duration,
  describeError,
  guardLogger,
  type Logger,
  milliseconds,
  shown,
  systemClock,
  type Timer,
} from '@acemq/core';
import {
  guardObserver,
  type Labels,
  METRIC_BACKLOG_ERRORS,
  METRIC_BACKLOG_READ_TIMESTAMP,
  METRIC_JOBS_DEAD_LENGTH,
  METRIC_JOBS_DEPTH,
  METRIC_JOBS_OLDEST_AGE,
  METRIC_JOBS_WAITING_RETRY,
  type Observer,
} from '@acemq/observe';
import { atLeastOne } from './capacity.ts';
import { claimLabels, constantLabels } from './constant-labels.ts';
import { KindLedger } from './kind-ledger.ts';
import { OneReading } from './one-reading.ts';
import type { BacklogReading, BacklogSource } from './reading.ts';

/** What a `BacklogExporter` reads, and whom it tells. */
export interface BacklogExporterOptions {
  readonly source: BacklogSource;
  readonly observer: Observer;
  /** From the start of one reading to the start of the next; 15 s by default. */
  readonly interval?: Duration;
  /** How long a reading may take; 10 s by default, or the interval where that is less. */
  readonly deadline?: Duration;
  /**
   * Labels that all its numbers have, such as `{ stream: 'jobs' }`. Exporters on one observer must have the same names, with
   * other values. None by default.
   */
  readonly labels?: Labels;
  /** How many kinds have series of their own; those past it are summed under `other`. 100 by default. */
  readonly maxKinds?: number;
  /** Is told when the source fails, and when it can be read again. `console` by default. */
  readonly logger?: Pick<Logger, 'info' | 'warn'>;
  readonly clock?: Clock;
}

const OPTIONS = [
  'source',
  'observer',
  'interval',
  'deadline',
  'labels',
  'maxKinds',
  'logger',
  'clock',
] as const;

/**
 * Reads a backlog every 15 s and tells an observer the numbers of `BACKLOG_METRICS`.
 *
 * A number that nobody knows is told as `NaN`, never as 0 or as what it was: an age that is not known, and every number of a
 * source that could not be read. Run one exporter for a queue, or take the maximum over several.
 */
export class BacklogExporter {
  readonly #source: BacklogSource;
  readonly #observer: Observer;
  readonly #interval: number;
  readonly #labels: Labels;
  readonly #logger: Pick<Logger, 'info' | 'warn'>;
  readonly #clock: Clock;
  readonly #ledger: KindLedger;
  readonly #reading: OneReading;
  readonly #giveUp: () => void;
  readonly #labelsOf: Map<string, Labels> = new Map();
  #timer: Timer | undefined;
  #failing = false;
  #everRead = false;
  #closed = false;

  /** @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for an option that is unknown or cannot be used. */
  constructor(options: BacklogExporterOptions) {
    checkOptions(options, OPTIONS, 'BacklogExporter');
    const { source } = options;
    if (typeof source?.read !== 'function') {
      throw new ConfigurationError(`source must have a method read, and ${shown(source)} has none`);
    }
    this.#source = source;
    this.#interval = milliseconds(options.interval ?? '15s', 'interval', { min: 1 });
    const deadline = milliseconds(options.deadline ?? Math.min(10_000, this.#interval), 'deadline', {
      min: 1,
    });
    const maxKinds = atLeastOne(options.maxKinds ?? 100, 'maxKinds');
    this.#labels = constantLabels(options.labels);
    this.#logger = guardLogger(options.logger ?? console, ['info', 'warn']);
    this.#clock = options.clock ?? systemClock;
    this.#ledger = new KindLedger(maxKinds);
    this.#reading = new OneReading(source, deadline, this.#clock);
    this.#observer = guardObserver(options.observer, this.#logger);
    this.#giveUp = claimLabels(options.observer, `the exporter of ${source.name}`, this.#labels);
  }

  /** Reads now, and from then on at every interval. It does not keep the process alive. Does nothing the second time. */
  start(): this {
    if (this.#timer === undefined && !this.#closed) this.#turn();
    return this;
  }

  /**
   * Reads once and tells the numbers. Resolves to what was read; `undefined` when the reading failed, which was told and
   * logged. Never rejects.
   */
  async read(): Promise<BacklogReading | undefined> {
    try {
      const reading = await this.#reading.read();
      if (this.#closed) return undefined;
      this.#tell(reading);
      return reading;
    } catch (error) {
      if (!this.#closed) this.#fail(error);
      return undefined;
    }
  }

  /** Reads no more. Its numbers become `NaN`, since nobody knows them from now on. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer?.cancel();
    this.#reading.end(new ConnectionClosedError(`the exporter of ${this.#source.name} was closed`));
    this.#forget();
    this.#giveUp();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #turn(): void {
    this.#timer = this.#clock.after(this.#interval, () => this.#turn(), { background: true });
    void this.read();
  }

  #tell(reading: BacklogReading): void {
    const observer = this.#observer;
    for (const { kind, depth, oldestAge, waitingRetry } of this.#ledger.enter(
      reading.kinds,
      this.#clock.now(),
    )) {
      const labels = this.#of(kind);
      observer.gauge(METRIC_JOBS_DEPTH, depth ?? Number.NaN, labels);
      observer.gauge(METRIC_JOBS_OLDEST_AGE, oldestAge ?? Number.NaN, labels);
      if (waitingRetry !== undefined) {
        observer.gauge(METRIC_JOBS_WAITING_RETRY, waitingRetry ?? Number.NaN, labels);
      }
    }
    observer.gauge(METRIC_JOBS_DEAD_LENGTH, reading.deadLength ?? Number.NaN, this.#labels);
    observer.gauge(METRIC_BACKLOG_READ_TIMESTAMP, reading.asOf / 1000, this.#labels);
    this.#everRead = true;
    if (!this.#failing) return;
    this.#failing = false;
    this.#logger.info(`${this.#source.name} can be read again`);
  }

  #fail(error: unknown): void {
    this.#observer.count(METRIC_BACKLOG_ERRORS, 1, this.#labels);
    this.#forget();
    if (this.#failing) return;
    this.#failing = true;
    this.#logger.warn(`${this.#source.name} cannot be read: ${describeError(error)}`, { error });
  }

  #forget(): void {
    for (const { kind, hasRetries } of this.#ledger.known()) {
      const labels = this.#of(kind);
      this.#observer.gauge(METRIC_JOBS_DEPTH, Number.NaN, labels);
      this.#observer.gauge(METRIC_JOBS_OLDEST_AGE, Number.NaN, labels);
      if (hasRetries) this.#observer.gauge(METRIC_JOBS_WAITING_RETRY, Number.NaN, labels);
    }
    if (this.#everRead) this.#observer.gauge(METRIC_JOBS_DEAD_LENGTH, Number.NaN, this.#labels);
  }

  #of(kind: string): Labels {
    let labels = this.#labelsOf.get(kind);
    if (labels === undefined) {
      // Kinds may come and go for ever; those that are known are soon here again.
      if (this.#labelsOf.size > 10_000) this.#labelsOf.clear();
      labels = Object.freeze({ kind, ...this.#labels });
      this.#labelsOf.set(kind, labels);
    }
    return labels;
  }
}
