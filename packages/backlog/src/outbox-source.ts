import { type Clock, ConfigurationError, checkOptions, shown, systemClock } from '@acemq/core';
import type { BacklogReading, BacklogSource } from './reading.ts';

/** What is asked of an outbox; a store of `@acemq/outbox` has it. */
export interface OutboxLike {
  /** Where records wait that are owed, those given up left out. */
  owedByDestination(): Promise<
    readonly {
      readonly exchange: string;
      readonly routingKey: string;
      readonly count: number;
      /** Milliseconds since the oldest of them was written. */
      readonly oldestAge: number;
    }[]
  >;
  /** Records that were given up, at most `limit`. */
  retired(limit: number): Promise<readonly unknown[]>;
}

/** As many as are counted: more of them are no worse news. */
const MOST_DEAD = 10_000;

/** What an `OutboxSource` reads. */
export interface OutboxSourceOptions {
  readonly outbox: OutboxLike;
  /** What it is called in logs; `outbox` by default. */
  readonly name?: string;
  readonly clock?: Pick<Clock, 'now'>;
}

/**
 * The backlog of an outbox: records that are owed, by destination (`exchange/routing key`). Those given up are its
 * dead, counted up to 10,000.
 */
export class OutboxSource implements BacklogSource {
  readonly name: string;
  readonly #outbox: OutboxLike;
  readonly #clock: Pick<Clock, 'now'>;

  /** @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for an option that is unknown or cannot be used. */
  constructor(options: OutboxSourceOptions) {
    checkOptions(options, ['outbox', 'name', 'clock'], 'OutboxSource');
    const { outbox } = options;
    for (const method of ['owedByDestination', 'retired'] as const) {
      if (typeof outbox?.[method] === 'function') continue;
      throw new ConfigurationError(`outbox must have a method ${method}, and ${shown(outbox)} has none`);
    }
    this.#outbox = outbox;
    this.#clock = options.clock ?? systemClock;
    this.name = options.name ?? 'outbox';
  }

  /** Rejects with the store's own error. */
  async read(): Promise<BacklogReading> {
    const asOf = this.#clock.now();
    const owed = await this.#outbox.owedByDestination();
    const dead = await this.#outbox.retired(MOST_DEAD);
    return {
      asOf,
      kinds: owed.map(({ exchange, routingKey, count: depth, oldestAge }) => ({
        kind: `${exchange}/${routingKey}`,
        depth,
        oldestAge: Math.max(0, oldestAge) / 1000,
      })),
      deadLength: dead.length,
    };
  }
}
