import { UNKNOWN_KIND } from './kind-tally.ts';
import type { BacklogReading, BacklogSource } from './reading.ts';
import { type RedisCall, type RedisClient, redisCall } from './redis-calls.ts';
import { asList, fieldOf } from './redis-replies.ts';
import { idAfter } from './stream-id.ts';
import { PAGE, walk } from './stream-pages.ts';
import type { StreamSource } from './stream-source.ts';

interface Work {
  /** Jobs that have come since the first reading, those given up taken away. */
  arrived: number;
  /** Depth at the first reading. */
  readonly before: number;
  completed: number;
}

/**
 * A stream whose throughput nobody here counts: what has come, less what is there and what was given up, was completed. For
 * somebody who looks on from outside; a worker counts its own. Entries that come, are finished and trimmed away between two
 * readings are missing from it.
 */
export class StreamThroughput implements BacklogSource {
  readonly name: string;
  readonly #source: StreamSource;
  readonly #call: RedisCall;
  readonly #stream: string;
  readonly #deadStream: string;
  readonly #field: string;
  readonly #work: Map<string, Work> = new Map();
  #position: string | undefined;
  #deadPosition = '0-0';

  constructor(
    source: StreamSource,
    client: RedisClient,
    stream: string,
    deadStream: string,
    kindField: string,
  ) {
    this.name = source.name;
    this.#source = source;
    this.#call = redisCall(client);
    this.#stream = stream;
    this.#deadStream = deadStream;
    this.#field = kindField;
  }

  async read(signal?: AbortSignal): Promise<BacklogReading> {
    const isFirst = this.#position === undefined;
    // The one side or the other, so that what is given up meanwhile is never taken for completed: the counter could not take
    // it back.
    if (isFirst) this.#deadPosition = await this.#lastDead();
    const reading = await this.#source.read(signal);
    const dead = isFirst ? new Map<string, number>() : await this.#deadSince();
    const position = reading.position ?? '0-0';
    const arrived = isFirst
      ? new Map<string, number>()
      : await this.#countKinds(this.#stream, this.#position ?? '0-0', position);
    this.#position = position;
    const depths = new Map(reading.kinds.map(({ kind, depth }) => [kind, depth ?? 0]));
    for (const [kind, depth] of depths) {
      if (!this.#work.has(kind)) {
        this.#work.set(kind, { arrived: 0, before: isFirst ? depth : 0, completed: 0 });
      }
    }
    for (const kind of arrived.keys()) {
      if (!this.#work.has(kind)) this.#work.set(kind, { arrived: 0, before: 0, completed: 0 });
    }
    for (const [kind, work] of this.#work) {
      work.arrived += (arrived.get(kind) ?? 0) - (dead.get(kind) ?? 0);
      // What is acknowledged during a walk may appear a reading earlier or later, and a counter never falls.
      work.completed = Math.max(work.completed, work.before + work.arrived - (depths.get(kind) ?? 0));
    }
    const kinds = reading.kinds.map((kind) => ({
      ...kind,
      completed: this.#work.get(kind.kind)?.completed ?? 0,
    }));
    for (const [kind, { completed }] of this.#work) {
      if (!depths.has(kind)) kinds.push({ kind, depth: 0, oldestAge: 0, held: 0, completed });
    }
    return { ...reading, kinds };
  }

  async #lastDead(): Promise<string> {
    const [last] = asList(await this.#call('XREVRANGE', this.#deadStream, '+', '-', 'COUNT', '1'));
    const [id] = asList(last);
    return id === undefined ? this.#deadPosition : String(id);
  }

  async #deadSince(): Promise<ReadonlyMap<string, number>> {
    const from = this.#deadPosition;
    this.#deadPosition = await this.#lastDead();
    return this.#countKinds(this.#deadStream, from, this.#deadPosition);
  }

  async #countKinds(stream: string, after: string, to: string): Promise<ReadonlyMap<string, number>> {
    const kinds = new Map<string, number>();
    if (after === to) return kinds;
    await walk(
      async (from) => {
        const page = asList(await this.#call('XRANGE', stream, from, to, 'COUNT', String(PAGE)));
        let last: string | undefined;
        for (const entry of page) {
          const [id, fields] = asList(entry);
          const kind = fieldOf(fields, this.#field) || UNKNOWN_KIND;
          kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
          last = String(id);
        }
        return { entries: page.length, last };
      },
      idAfter(after),
      to,
      () => {},
    );
    return kinds;
  }
}
