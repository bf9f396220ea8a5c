import { checkOptions, type Interceptable, type Logger, OUTCOME_ACKED } from '@acemq/core';
import {
  guardObserver,
  type Labels,
  METRIC_JOBS_COMPLETED,
  NullObserver,
  type Observer,
} from '@acemq/observe';
import { claimLabels, constantLabels } from './constant-labels.ts';

/** What `ConsumedJobs` is given. */
export interface ConsumedJobsOptions {
  /** The connection whose consumers are counted. */
  readonly connection: Pick<Interceptable, 'interceptConsume'>;
  /** Is told `jobs_completed_total`. Nobody by default. */
  readonly observer?: Observer;
  /** As those of the exporter on the same observer. */
  readonly labels?: Labels;
  readonly logger?: Pick<Logger, 'warn'>;
}

interface Consumed {
  completed: number;
  /** When the message that came last on its first attempt was published, in milliseconds since the epoch. */
  firstSeen: number | undefined;
  readonly labels: Labels;
}

/**
 * What the consumers of one connection complete, by queue: the messages that they accepted, and not those that they gave back
 * or gave up, which RabbitMQ's own count of acknowledgements cannot tell apart.
 */
export class ConsumedJobs {
  readonly #observer: Observer;
  readonly #labels: Labels;
  readonly #byQueue: Map<string, Consumed> = new Map();
  readonly #remove: () => void;

  /** @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for an option that is unknown or cannot be used. */
  constructor(options: ConsumedJobsOptions) {
    checkOptions(options, ['connection', 'observer', 'labels', 'logger'], 'ConsumedJobs');
    const observer = options.observer ?? new NullObserver();
    this.#labels = constantLabels(options.labels);
    this.#observer = guardObserver(observer, options.logger ?? console);
    if (options.observer !== undefined)
      claimLabels(observer, 'the count of consumed jobs', this.#labels, true);
    this.#remove = options.connection.interceptConsume((context, next) => {
      const consumed = this.#of(context.queue);
      const { attempt, firstSeen } = context.envelope;
      if (attempt === 1) consumed.firstSeen = firstSeen;
      context.whenSettled(({ outcome }) => {
        if (outcome !== OUTCOME_ACKED) return;
        consumed.completed += 1;
        this.#observer.count(METRIC_JOBS_COMPLETED, 1, consumed.labels);
      });
      return next();
    });
  }

  /** How many messages of a queue were accepted here; `undefined` where none has come yet. */
  completed(queue: string): number | undefined {
    return this.#byQueue.get(queue)?.completed;
  }

  /**
   * When the message that came last on its first attempt was published, in milliseconds since the epoch; `undefined` where
   * none has come yet.
   */
  latestFirstSeen(queue: string): number | undefined {
    return this.#byQueue.get(queue)?.firstSeen;
  }

  /** Counts no more. */
  close(): void {
    this.#remove();
  }

  #of(queue: string): Consumed {
    let consumed = this.#byQueue.get(queue);
    if (consumed === undefined) {
      const labels = Object.freeze({ kind: queue, ...this.#labels });
      consumed = { completed: 0, firstSeen: undefined, labels };
      this.#byQueue.set(queue, consumed);
    }
    return consumed;
  }
}
