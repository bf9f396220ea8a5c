import {
  cutText,
  type Duration,
  describeError,
  isFatal,
  LONGEST_REASON,
  milliseconds,
  type Timer,
} from '@acemq/core';
import { type Labels, METRIC_JOBS_COMPLETED } from '@acemq/observe';
import { inJobSpan } from './job-span.ts';
import { asList } from './redis-replies.ts';
import { entryOf, type StreamEntry } from './stream-job.ts';
import { trimFinished } from './stream-trim.ts';
import { type StreamWorkerOptions, type WorkerSettings, workerSettings } from './worker-options.ts';

/** How long one blocking read waits; a worker that closes waits no longer than that. */
const BLOCK = 1000;

/**
 * Puts a job among the dead and acknowledges it, unless somebody has finished it. A script and no MULTI: a client that loses
 * its connection sends again what was not answered, and of a MULTI that may be the second half.
 */
const GIVE_UP = `
if #redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[2], ARGV[2], 1) == 0 then return 0 end
redis.call('XADD', KEYS[2], '*', unpack(ARGV, 3))
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
return 1`;

/** How long a worker rests after Redis failed. */
const REST = 1000;

/**
 * Works the jobs of a consumer group on a Redis stream.
 *
 * It takes a batch of entries, works them, and acknowledges each when its handler has returned. While it holds an entry,
 * started or not, it renews its claim, so that nobody takes it from a living worker. What nobody has renewed for
 * `reclaimAfter` is taken over by whoever looks first. A job that fails stays with the group and comes back that way; at
 * the delivery limit it goes to the dead stream, with the reason.
 */
export class StreamWorker {
  readonly #settings: WorkerSettings;
  /** Taken, and not started. */
  readonly #waiting: StreamEntry[] = [];
  /** Being worked, by id. */
  readonly #working: Map<string, Promise<void>> = new Map();
  readonly #labelsOf: Map<string, Labels> = new Map();
  readonly #stopping: AbortController = new AbortController();
  readonly #abandoned: AbortController = new AbortController();
  readonly #timers: Set<Timer> = new Set();
  #running: Promise<void> | undefined;
  #closed: Promise<void> | undefined;
  #wake: () => void = () => {};

  /** @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for an option that is unknown or cannot be used. */
  constructor(options: StreamWorkerOptions) {
    this.#settings = workerSettings(options);
  }

  /** Makes the group where it is not there, and begins. Rejects with the client's error. */
  async start(): Promise<this> {
    if (this.#running !== undefined) return this;
    const { call, stream, group, reclaimAfter, trimEvery } = this.#settings;
    await call('XGROUP', 'CREATE', stream, group, '0', 'MKSTREAM').catch((error: unknown) => {
      // Somebody else made it, which is as good.
      if (!String(error).includes('BUSYGROUP')) throw error;
    });
    if (reclaimAfter > 0) {
      this.#every(reclaimAfter / 3, () => this.#renew());
      this.#every(reclaimAfter / 2, () => this.#reclaim());
    }
    if (trimEvery > 0) this.#every(trimEvery, () => trimFinished(call, stream));
    this.#running = this.#run();
    return this;
  }

  /**
   * Takes no more, gives back what was not started, waits up to `deadline` (10 s by default) for what was, and
   * leaves the group when it holds nothing. What was given back, or is abandoned, is reclaimed by the others.
   */
  close(deadline: Duration = '10s'): Promise<void> {
    this.#closed ??= this.#close(milliseconds(deadline, 'deadline'));
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(deadline: number): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await this.#running;
    this.#waiting.length = 0;
    const drained = Promise.all(this.#working.values());
    await Promise.race([drained, this.#pause(deadline)]);
    for (const timer of this.#timers) timer.cancel();
    this.#abandoned.abort();
    const { call, stream, group, consumer, logger } = this.#settings;
    try {
      const held = asList(await call('XPENDING', stream, group, '-', '+', '1', consumer));
      // A consumer that is removed takes what it holds out of the group for ever.
      if (held.length === 0) await call('XGROUP', 'DELCONSUMER', stream, group, consumer);
    } catch (error) {
      logger.warn(`the worker ${consumer} could not leave its group: ${describeError(error)}`, { error });
    }
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#startWaiting();
      if (this.#waiting.length > 0 || this.#working.size >= this.#settings.concurrency) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
          if (this.#stopping.signal.aborted) resolve();
        });
        continue;
      }
      try {
        await this.#take();
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        this.#settings.logger.warn(`the stream cannot be read: ${describeError(error)}`, { error });
        await this.#pause(REST);
      }
    }
  }

  async #take(): Promise<void> {
    const { blocking, stream, group, consumer, batch, kindField } = this.#settings;
    const reply = await blocking(
      'XREADGROUP',
      'GROUP',
      group,
      consumer,
      'COUNT',
      String(batch),
      'BLOCK',
      String(BLOCK),
      'STREAMS',
      stream,
      '>',
    );
    for (const raw of entriesOf(reply)) {
      const entry = entryOf(raw, kindField, 1);
      if (entry !== undefined) this.#waiting.push(entry);
    }
  }

  #startWaiting(): void {
    while (!this.#stopping.signal.aborted && this.#working.size < this.#settings.concurrency) {
      const entry = this.#waiting.shift();
      if (entry === undefined) return;
      const work = this.#work(entry).finally(() => {
        this.#working.delete(entry.id);
        this.#wake();
      });
      this.#working.set(entry.id, work);
    }
  }

  async #work(entry: StreamEntry): Promise<void> {
    const { handlers, tracing, deliveryLimit, logger } = this.#settings;
    try {
      const handler = handlers.get(entry.kind);
      if (handler === undefined) {
        await this.#giveUp(entry, `nobody works the kind ${JSON.stringify(entry.kind)}`);
        return;
      }
      const failed = await inJobSpan(tracing, entry, async (span) => {
        try {
          await handler({ ...entry, signal: this.#abandoned.signal });
          return undefined;
        } catch (error) {
          span?.fail(error);
          return { error };
        }
      });
      if (this.#abandoned.signal.aborted) return;
      if (failed === undefined) await this.#finish(entry);
      else if (entry.attempt >= deliveryLimit || isFatal(failed.error)) {
        await this.#giveUp(entry, describeError(failed.error));
      } else {
        logger.warn(`a job of kind ${entry.kind} failed and will come back: ${describeError(failed.error)}`, {
          id: entry.id,
          attempt: entry.attempt,
        });
      }
    } catch (error) {
      logger.warn(`a job of kind ${entry.kind} could not be settled: ${describeError(error)}`, {
        id: entry.id,
      });
    }
  }

  /** Counted only when this acknowledgement was the one that finished it: another worker may have taken it over. */
  async #finish({ id, kind }: StreamEntry): Promise<void> {
    const { call, stream, group, observer } = this.#settings;
    if (Number(await call('XACK', stream, group, id)) === 1)
      observer.count(METRIC_JOBS_COMPLETED, 1, this.#of(kind));
  }

  async #giveUp({ id, kind, fields, attempt }: StreamEntry, reason: string): Promise<void> {
    const { call, stream, group, deadStream, logger, kindField } = this.#settings;
    const about = {
      ...fields,
      [kindField]: kind,
      reason: cutText(reason, LONGEST_REASON),
      attempts: String(attempt),
      'original-id': id,
    };
    const moved = await call(
      'EVAL',
      GIVE_UP,
      '2',
      stream,
      deadStream,
      group,
      id,
      ...Object.entries(about).flat(),
    );
    if (Number(moved) !== 1) return;
    logger.warn(`a job of kind ${kind} was given up: ${reason}`, { id, attempt });
  }

  /** Says of everything that is held that its holder lives, without a delivery being counted. */
  async #renew(): Promise<void> {
    const { call, stream, group, consumer } = this.#settings;
    const held = [...this.#working.keys(), ...this.#waiting.map(({ id }) => id)];
    const own = await Promise.all(
      held.map(
        async (id) => asList(await call('XPENDING', stream, group, id, id, '1', consumer)).length === 1,
      ),
    );
    const renewed = held.filter((_, index) => own[index]);
    // This process was asleep for so long that others took them over: taking them back would have them worked twice.
    const lost = held.filter((_, index) => !own[index]);
    for (const id of lost) {
      const at = this.#waiting.findIndex((entry) => entry.id === id);
      if (at >= 0) this.#waiting.splice(at, 1);
    }
    if (renewed.length > 0) await call('XCLAIM', stream, group, consumer, '0', ...renewed, 'JUSTID');
  }

  /** Takes over what nobody has renewed, as long as there is room for it. */
  async #reclaim(): Promise<void> {
    const { call, stream, group, consumer, reclaimAfter, batch, kindField, deliveryLimit } = this.#settings;
    if (this.#stopping.signal.aborted || this.#waiting.length > 0) return;
    const idle = asList(
      await call('XPENDING', stream, group, 'IDLE', String(Math.ceil(reclaimAfter)), '-', '+', String(batch)),
    ).map(asList);
    for (const [rawId, , , deliveries] of idle) {
      const id = String(rawId);
      if (this.#working.has(id) || this.#stopping.signal.aborted) continue;
      const claimed = asList(
        await call('XCLAIM', stream, group, consumer, String(Math.ceil(reclaimAfter)), id),
      );
      const entry = entryOf(claimed[0], kindField, Number(deliveries) + 1);
      // Deleted from the stream, and Redis 7 has dropped it from the list; or another worker was faster.
      if (entry === undefined) continue;
      if (entry.attempt > deliveryLimit) {
        await this.#giveUp({ ...entry, attempt: deliveryLimit }, 'it was delivered, and nobody finished it');
      } else this.#waiting.push(entry);
    }
    // Not by waking the loop, which may be in a blocking read.
    this.#startWaiting();
  }

  #every(ms: number, work: () => Promise<void>): void {
    const { clock, logger } = this.#settings;
    const again = (): void => {
      const timer = clock.after(ms, () => {
        this.#timers.delete(timer);
        work()
          .catch((error: unknown) =>
            logger.warn(`the worker could not look after its jobs: ${describeError(error)}`),
          )
          .finally(() => {
            if (!this.#abandoned.signal.aborted) again();
          });
      });
      this.#timers.add(timer);
    };
    again();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#settings.clock.after(ms, resolve);
      this.#timers.add(timer);
    });
  }

  #of(kind: string): Labels {
    let labels = this.#labelsOf.get(kind);
    if (labels === undefined) {
      labels = Object.freeze({ kind, ...this.#settings.labels });
      this.#labelsOf.set(kind, labels);
    }
    return labels;
  }
}

/** `[[stream, entries]]`, or `{ stream: entries }` on RESP3. */
function entriesOf(reply: unknown): readonly unknown[] {
  if (reply === null || reply === undefined) return [];
  if (Array.isArray(reply)) return asList(asList(reply[0])[1]);
  const [entries] = reply instanceof Map ? reply.values() : Object.values(reply);
  return asList(entries);
}
