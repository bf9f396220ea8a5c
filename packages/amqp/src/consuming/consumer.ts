import {
  BrokerRefusedError,
  type Clock,
  type ConsumeInterceptor,
  type Delivery,
  type Handler,
  type Link,
  type Logger,
  type Timer,
  TopologyError,
} from '@acemq/core';
import { explaining } from '../declaring.ts';
import { inspectedAsText } from '../inspected-as-text.ts';
import { type Backoff, backoffCeiling } from '../link/backoff.ts';
import { type CloseOptions, closeTimeoutOf } from '../option-checks.ts';
import type { PublishLink } from '../publishing/publish-link.ts';
import type { ConsumeTelemetry } from '../telemetry.ts';
import type { ResolvedConsumeOptions } from './consumer-options.ts';
import { DeliveryRun, type RunHost } from './delivery-run.ts';
import { DeliveryBuffer, Reader } from './reader.ts';
import { Settler } from './settler.ts';

/** How often a subscription that the broker ended or refused is asked for again. */
const RESUBSCRIBE: Backoff = { initial: 1_000, max: 30_000 };

/** What a {@link Consumer} is made with. */
export interface ConsumerParts {
  readonly queue: string;
  readonly handler: Handler<unknown>;
  readonly options: ResolvedConsumeOptions;
  readonly publishing: PublishLink;
  readonly telemetry: ConsumeTelemetry;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly closeTimeout: number;
  interceptors(): readonly ConsumeInterceptor[];
  /** The consuming link, while it is up. */
  link(): Link | undefined;
  /** It will not be restored any more. */
  closed(consumer: Consumer): void;
}

/** How a close went. */
export interface ConsumerCloseReport {
  /** Whether every handler that had started was settled within the deadline. */
  readonly finished: boolean;
  /** Deliveries that were left unsettled; the broker delivers them again. */
  readonly unsettled: number;
}

/**
 * A queue being worked. It subscribes again, by itself and for as long as it is open, after a lost link and
 * after the broker has cancelled it.
 */
export class Consumer {
  /** The queue that is consumed. */
  readonly queue: string;
  readonly #parts: ConsumerParts;
  readonly #settler: Settler;
  readonly #host: RunHost;
  readonly #buffer = new DeliveryBuffer();
  readonly #runs = new Set<DeliveryRun>();
  #reader: Reader | undefined;
  #working = 0;
  #late = 0;
  #stalled: string | undefined = 'it has not subscribed yet';
  #retryTimer: Timer | undefined;
  #refusals = 0;
  #closing: Promise<ConsumerCloseReport> | undefined;
  #emptied: (() => void) | undefined;
  /** Resolves at the earliest deadline of those who asked it to close. */
  readonly #past: Promise<void>;
  #passed: () => void = () => {};

  /** @internal Made by `Connection.consume`. */
  constructor(parts: ConsumerParts) {
    this.#parts = parts;
    this.queue = parts.queue;
    this.#past = new Promise((resolve) => {
      this.#passed = resolve;
    });
    const { options, publishing, telemetry, clock, logger, random, queue, handler } = parts;
    const { policy, ladder, codec, schema } = options;
    this.#settler = new Settler({ queue, ladder, policy, publishing, telemetry, clock, logger, random });
    this.#host = {
      queue,
      handler,
      codec,
      schema,
      policy,
      settler: this.#settler,
      telemetry,
      clock,
      logger,
      random,
      interceptors: parts.interceptors,
      closing: () => this.#closing !== undefined,
      decided: () => {
        this.#working -= 1;
        this.#pump();
      },
      finished: (run) => {
        this.#runs.delete(run);
        if (this.#runs.size === 0) this.#emptied?.();
      },
      late: () => {
        this.#late += 1;
      },
    };
  }

  /** Whether the broker is sending it messages. False while it is cut off, refused or closed. */
  get running(): boolean {
    return this.#closing === undefined && this.#reader?.subscription !== undefined && this.#reader.alive;
  }

  /** Why it is not running although nobody closed it; undefined while it is. */
  get stalled(): string | undefined {
    return this.running || this.#closing !== undefined ? undefined : this.#stalled;
  }

  /** The tag the broker knows its present subscription by. */
  get tag(): string | undefined {
    return this.#reader?.subscription?.tag;
  }

  /**
   * Deliveries that were started and are not settled: handlers that run, waits for a retry, and held copies.
   */
  get inFlight(): number {
    return this.#runs.size;
  }

  /**
   * Of those, deliveries whose copy (to a rung, the queue itself, `.dlq` or `.parked`) cannot be placed at
   * present.
   */
  get held(): number {
    return this.#settler.held;
  }

  /**
   * Settlements that came after the delivery's channel had gone; the broker delivered those messages again.
   */
  get lateSettlements(): number {
    return this.#late;
  }

  /**
   * Ends it: no further delivery is started, what had not started goes back, and so does what waits here for
   * its retry. Then waits for the running handlers.
   *
   * Resolves when they are settled or after `timeout` (default: the connection's `closeTimeout`). Past it the
   * handlers' signals are aborted and what is left stays unsettled. A second call gives the first's answer,
   * and may bring it about earlier. Rejects only with `ConfigurationError`, for a `timeout` that is none.
   */
  async close(options: CloseOptions = {}): Promise<ConsumerCloseReport> {
    const timeout = closeTimeoutOf(options, this.#parts.closeTimeout);
    let timer: Timer | undefined;
    const deadline = new Promise<void>((resolve) => {
      timer = this.#parts.clock.after(timeout, resolve);
    });
    try {
      return await this.closeBy(deadline);
    } finally {
      timer?.cancel();
    }
  }

  /** @internal Whether it reads until the handlers of the others have ended. */
  get closesLast(): boolean {
    return this.#parts.options.closesLast;
  }

  /** @internal As {@link close}, with a deadline that several share. The earliest one counts. */
  closeBy(deadline: Promise<void>): Promise<ConsumerCloseReport> {
    void deadline.then(this.#passed);
    this.#closing ??= this.#drain(this.#past);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close().then(() => undefined);
  }

  /** The queue, and whether it is being read. */
  toString(): string {
    return `Consumer(${this.queue}, ${this.running ? 'running' : (this.stalled ?? 'closed')})`;
  }

  /**
   * @internal Declares what it needs and subscribes. Rejects with the broker's refusal, or with the link's end.
   */
  async subscribe(link: Link): Promise<void> {
    const { options, queue } = this.#parts;
    const reader = new Reader();
    this.#reader = reader;
    if (options.declare) await options.ladder.declare(explaining(link));
    const subscription = await link.consume(
      queue,
      {
        prefetch: options.prefetch,
        tag: options.tag,
        exclusive: options.exclusive,
        arguments: options.arguments,
      },
      {
        delivered: (delivery) => this.#delivered(reader, delivery),
        ended: (error) => this.#ended(reader, error),
      },
    );
    if (!reader.alive) {
      await subscription.release();
      return;
    }
    reader.subscription = subscription;
    this.#refusals = 0;
    if (this.#stalled !== undefined) {
      this.#stalled = undefined;
      this.#parts.logger.debug('a consumer is reading', { queue, tag: subscription.tag });
    }
    if (this.#closing !== undefined) await subscription.release();
  }

  /**
   * @internal As {@link subscribe}, for a link that was lost: a refusal is for later, and not the link's
   * failure.
   */
  async restore(link: Link): Promise<void> {
    if (this.#closing !== undefined) return;
    this.#retryTimer?.cancel();
    this.#retryTimer = undefined;
    try {
      await this.subscribe(link);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#stall(error);
    }
  }

  #delivered(reader: Reader, delivery: Delivery): void {
    if (this.#reader !== reader || !reader.alive) return;
    this.#buffer.push(delivery);
    this.#pump();
  }

  #pump(): void {
    const reader = this.#reader;
    if (reader === undefined) return;
    while (this.#working < this.#parts.options.concurrency && this.#closing === undefined) {
      const delivery = this.#buffer.shift();
      if (delivery === undefined) return;
      const run = new DeliveryRun(this.#host, reader, delivery);
      this.#working += 1;
      this.#runs.add(run);
      run.start();
    }
  }

  #ended(reader: Reader, error: Error): void {
    if (!reader.alive) return;
    reader.alive = false;
    // Its channel may still be open, with deliveries out on it that nobody would settle any more.
    void reader.subscription?.release();
    if (this.#reader !== reader) return;
    this.#buffer.clear();
    for (const run of this.#runs) run.gone();
    if (this.#closing !== undefined) return;
    this.#stall(error);
  }

  /** Says once why it does not read, and asks again later. With the link gone, restoring it is what asks. */
  #stall(error: Error): void {
    const { queue, logger } = this.#parts;
    if (this.#stalled !== error.message) {
      this.#stalled = error.message;
      const words = 'a consumer has stopped reading and will subscribe again';
      if (isRefusal(error) || this.#parts.link()?.open === true) {
        logger.warn(words, { queue, reason: error.message });
      } else {
        logger.debug(words, { queue, reason: error.message });
      }
    }
    this.#refusals += 1;
    this.#retryLater();
  }

  #retryLater(): void {
    this.#retryTimer?.cancel();
    const wait = backoffCeiling(RESUBSCRIBE, this.#refusals);
    this.#retryTimer = this.#parts.clock.after(wait, () => void this.#resubscribe());
  }

  async #resubscribe(): Promise<void> {
    this.#retryTimer = undefined;
    if (this.#closing !== undefined || this.running) return;
    const link = this.#parts.link();
    if (link === undefined) {
      // Being restored, most likely, which subscribes too; but it may have been past this consumer already.
      this.#retryLater();
      return;
    }
    try {
      await this.subscribe(link);
    } catch (error) {
      if (this.#closing === undefined && link.open) {
        this.#stall(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }

  async #drain(deadline: Promise<void>): Promise<ConsumerCloseReport> {
    // The first await must come after the caller has set #closing.
    let late = false;
    const past = deadline.then(() => {
      late = true;
    });
    this.#retryTimer?.cancel();
    const subscription = this.#reader?.subscription;
    await Promise.race([subscription?.stop(), past]);
    let delivery = this.#buffer.shift();
    while (delivery !== undefined) {
      delivery.nack(true);
      delivery = this.#buffer.shift();
    }
    for (const run of this.#runs) run.giveBackIfWaiting();
    if (this.#runs.size > 0) {
      const emptied = new Promise<void>((resolve) => {
        this.#emptied = resolve;
      });
      await Promise.race([emptied, past]);
    }
    const unsettled = late ? [...this.#runs].filter((run) => run.live).length : 0;
    if (this.#runs.size > 0) {
      for (const run of this.#runs) run.abandon();
    }
    await Promise.race([subscription?.release(), past]);
    if (this.#reader !== undefined) this.#reader.alive = false;
    this.#parts.closed(this);
    return Object.freeze({ finished: unsettled === 0, unsettled });
  }
}

inspectedAsText(Consumer);

/** The broker said no, to the subscription or to something that the consumer declares. */
function isRefusal(error: unknown): error is BrokerRefusedError | TopologyError {
  return error instanceof BrokerRefusedError || error instanceof TopologyError;
}
