import { AbortedError, ConfigurationError, checkOptions, shown } from '@acemq/core';
import { KindTally } from './kind-tally.ts';
import type { BacklogReading, BacklogSource } from './reading.ts';
import { type RedisCall, type RedisClient, redisCall, transaction } from './redis-calls.ts';
import { asFields, asList, asNumber } from './redis-replies.ts';
import { idAfter } from './stream-id.ts';
import { deadStreamOf, KIND_FIELD, nonEmpty } from './stream-names.ts';
import { ClientPages, ServerPages, type StreamPages, walk } from './stream-pages.ts';

/** What a `StreamSource` reads. */
export interface StreamSourceOptions {
  /**
   * A connected client of `ioredis` or `redis`. Not one that waits in a blocking command, since a reading would wait with it.
   */
  readonly client: RedisClient;
  /** The key of the stream. */
  readonly stream: string;
  /** The consumer group whose work it is. */
  readonly group: string;
  /** The field of an entry that says its kind; `kind` by default. */
  readonly kindField?: string;
  /** The key of the stream of those given up; `{stream}:dead` by default, such as `jobs:dead`. */
  readonly deadStream?: string;
  /**
   * Who counts. `client` (the default): the entries are sent, 1,000 at a time. `server`: a read-only script counts each page,
   * so that only counts are sent; it needs Redis 7 and runs on its one thread, where everybody else waits for it.
   */
  readonly count?: 'client' | 'server';
}

/** What one MULTI says. */
interface Picture {
  readonly now: number;
  readonly lastDelivered: string;
  readonly lastId: string;
  readonly pending: number;
  readonly lag: number | null;
  readonly deadLength: number;
}

/**
 * The backlog of a consumer group on a Redis stream.
 *
 * Depth is what the group has not finished: the entries that it was not given yet, and those that it was given and has not
 * acknowledged. All are counted, 1,000 at a time, because only the entries know their kinds, and because the `lag` that Redis
 * tells is `null` or wrong after entries were deleted. The age is that of the oldest id, by the server's clock.
 *
 * One MULTI takes the picture; the walk stops at the stream's last id in it, so that what arrives meanwhile belongs to the
 * next reading. What is acknowledged meanwhile is gone from this one.
 */
export class StreamSource implements BacklogSource {
  readonly name: string;
  readonly #call: RedisCall;
  readonly #stream: string;
  readonly #group: string;
  readonly #deadStream: string;
  readonly #pages: StreamPages;

  /** @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for an option that is unknown or cannot be used. */
  constructor(options: StreamSourceOptions) {
    checkOptions(options, ['client', 'stream', 'group', 'kindField', 'deadStream', 'count'], 'StreamSource');
    this.#call = redisCall(options.client);
    this.#stream = nonEmpty(options.stream, 'stream');
    this.#group = nonEmpty(options.group, 'group');
    this.#deadStream = nonEmpty(options.deadStream ?? deadStreamOf(this.#stream), 'deadStream');
    const field = nonEmpty(options.kindField ?? KIND_FIELD, 'kindField');
    const count = options.count ?? 'client';
    if (count !== 'client' && count !== 'server') {
      throw new ConfigurationError(`count must be client or server, not ${shown(count)}`);
    }
    const Pages = count === 'server' ? ServerPages : ClientPages;
    this.#pages = new Pages(this.#call, this.#stream, this.#group, field);
    this.name = `stream ${shown(this.#stream)}, group ${shown(this.#group)}`;
  }

  /**
   * Rejects with `ConfigurationError` (`ACEMQ_CONFIGURATION`) when there is no such stream or group, with `AbortedError`
   * (`ACEMQ_ABORTED`) when the signal ended it, and with the client's own error otherwise.
   */
  async read(signal?: AbortSignal): Promise<BacklogReading> {
    const check = (): void => {
      if (signal?.aborted)
        throw new AbortedError(`the reading of ${this.name} was ended`, { cause: signal.reason });
    };
    check();
    const picture = await this.#picture();
    const tally = new KindTally();
    const { lastDelivered, lastId, pending } = picture;
    await walk(
      (from, to) =>
        this.#pages.entries(from, to, (kind, count, oldest) => tally.add(kind, count, oldest, false)),
      idAfter(lastDelivered),
      lastId,
      check,
    );
    if (pending > 0) {
      // Up to the last one delivered: what was delivered since was counted among the rest.
      await walk(
        (from, to) =>
          this.#pages.pending(from, to, (kind, count, oldest) => tally.add(kind, count, oldest, true)),
        '0-0',
        lastDelivered,
        check,
      );
    }
    check();
    return {
      asOf: picture.now,
      kinds: tally.readings(picture.now),
      deadLength: picture.deadLength,
      lag: picture.lag,
      position: lastId,
    };
  }

  async #picture(): Promise<Picture> {
    const [time, groups, stream, dead] = await transaction(this.#call, [
      ['TIME'],
      ['XINFO', 'GROUPS', this.#stream],
      ['XINFO', 'STREAM', this.#stream],
      ['XLEN', this.#deadStream],
    ]).catch((error: unknown) => {
      throw this.#explained(error);
    });
    const group = asList(groups)
      .map(asFields)
      .find((fields) => String(fields.get('name')) === this.#group);
    if (group === undefined) {
      throw new ConfigurationError(
        `stream ${shown(this.#stream)} has no group ${shown(this.#group)}; a worker makes it, or XGROUP CREATE does`,
      );
    }
    const [seconds, microseconds] = asList(time);
    return {
      now: Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000),
      lastDelivered: String(group.get('last-delivered-id')),
      lastId: String(asFields(stream).get('last-generated-id')),
      pending: asNumber(group.get('pending')) ?? 0,
      lag: asNumber(group.get('lag')),
      deadLength: asNumber(dead) ?? 0,
    };
  }

  #explained(error: unknown): unknown {
    if (!(error instanceof Error) || !/no such key/i.test(error.message)) return error;
    return new ConfigurationError(`there is no stream ${shown(this.#stream)}; the first job makes it`, {
      cause: error,
    });
  }
}
