import {
  type Clock,
  ConfigurationError,
  checkName,
  checkOptions,
  checkQueueName,
  deadLetterQueueName,
  parkedQueueName,
  shown,
  systemClock,
} from '@acemq/core';
import type { ConsumedJobs } from './consumed-jobs.ts';
import { ManagementApi, type QueueNumbers } from './management-api.ts';
import type { BacklogReading, BacklogSource, KindReading } from './reading.ts';

/** What a `QueueSource` reads. */
export interface QueueSourceOptions {
  /** The management API, such as `http://user:password@localhost:15672`; `guest` and `guest` where it names nobody. */
  readonly url: string;
  readonly queue: string;
  /** `/` by default. */
  readonly vhost?: string;
  /** Where this process consumes the queue: what it completes, and how old the queue can be at most. */
  readonly consumed?: ConsumedJobs;
  readonly clock?: Pick<Clock, 'now'>;
}

/**
 * The backlog of a RabbitMQ queue, through the management API.
 *
 * Depth is what is ready and what consumers hold. The age is that of the head message where the broker says it (classic queues
 * with a publisher that sets timestamps; after a retry it is the first publish). Elsewhere, where this process consumes the
 * queue, it is the most that it can be: what arrived before the latest first delivery has been delivered. Elsewhere it is not
 * known. No message is ever taken out to be looked at, which would spend its delivery limit.
 */
export class QueueSource implements BacklogSource {
  readonly name: string;
  readonly #api: ManagementApi;
  readonly #queue: string;
  readonly #family: string;
  readonly #consumed: ConsumedJobs | undefined;
  readonly #clock: Pick<Clock, 'now'>;
  #lastEmpty: number | undefined;

  /** @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for an option that is unknown or cannot be used. */
  constructor(options: QueueSourceOptions) {
    checkOptions(options, ['url', 'queue', 'vhost', 'consumed', 'clock'], 'QueueSource');
    this.#queue = checkQueueName(options.queue);
    this.#api = new ManagementApi(options.url, checkName(options.vhost ?? '/', 'virtual host'));
    this.#consumed = options.consumed;
    this.#clock = options.clock ?? systemClock;
    const quoted = this.#queue.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
    this.#family = `^${quoted}(\\.dlq|\\.parked|\\.retry\\.[0-9]+(ms|s|m|h))?$`;
    this.name = `queue ${shown(this.#queue)}`;
  }

  /**
   * Rejects with `ConfigurationError` (`ACEMQ_CONFIGURATION`) when there is no such queue or virtual host, and with
   * `ConnectError` when the API cannot be reached (`ACEMQ_CONNECT_FAILED`) or refuses the user (`ACEMQ_CONNECT_REFUSED`).
   */
  async read(signal?: AbortSignal): Promise<BacklogReading> {
    const now = this.#clock.now();
    const family = await this.#api.queues(this.#family, signal);
    const own = family.find(({ name }) => name === this.#queue);
    if (own === undefined) throw new ConfigurationError(`there is no queue ${shown(this.#queue)}`);
    const setAside = [deadLetterQueueName(this.#queue), parkedQueueName(this.#queue)];
    const dead = family.filter(({ name }) => setAside.includes(name));
    const rungs = family.filter((queue) => queue !== own && !dead.includes(queue));
    return {
      asOf: now,
      kinds: [this.#reading(own, sum(rungs), now)],
      deadLength: sum(dead),
    };
  }

  #reading(own: QueueNumbers, waitingRetry: number | null, now: number): KindReading {
    const depth = sum([own]);
    if (depth === 0) this.#lastEmpty = now;
    const completed = this.#consumed?.completed(this.#queue);
    return {
      kind: this.#queue,
      depth,
      ...this.#age(own, depth, now),
      held: own.unacknowledged ?? null,
      waitingRetry,
      ...(this.#consumed === undefined ? {} : { completed: completed ?? 0 }),
      settled: own.acknowledged ?? null,
    };
  }

  #age(
    own: QueueNumbers,
    depth: number | null,
    now: number,
  ): Pick<KindReading, 'oldestAge' | 'ageIsUpperBound'> {
    if (depth === null) return { oldestAge: null };
    if (depth === 0) return { oldestAge: 0 };
    if (own.headTimestamp !== undefined) return { oldestAge: since(own.headTimestamp, now) };
    if (this.#consumed === undefined) return { oldestAge: null };
    const firstSeen = this.#consumed.latestFirstSeen(this.#queue);
    const known = [firstSeen, this.#lastEmpty].filter((time) => time !== undefined);
    if (known.length === 0) return { oldestAge: null };
    return { oldestAge: since(Math.max(...known), now), ageIsUpperBound: true };
  }
}

function since(time: number, now: number): number {
  return Math.max(0, now - time) / 1000;
}

/** What several queues hold; `null` as soon as one of them does not say. */
function sum(queues: readonly QueueNumbers[]): number | null {
  let all = 0;
  for (const { ready, unacknowledged } of queues) {
    if (ready === undefined || unacknowledged === undefined) return null;
    all += ready + unacknowledged;
  }
  return all;
}
