import { ConfigurationError, checkOptions, type Duration, milliseconds } from '@acemq/core';
import { checkedCheckName, type HealthCheck } from './health-check.ts';
import type { HealthReport } from './health-report.ts';

/** What has a health of its own to ask for: a connection of `@acemq/amqp`, for one. */
export interface HealthSource {
  /** Resolves within `timeout` milliseconds. */
  health(options: { readonly timeout: number }): Promise<HealthReport>;
}

/** Options of {@link BrokerHealth}. */
export interface BrokerHealthOptions {
  /** What its report stands under. Default: `broker`. */
  readonly label?: string | undefined;
  /**
   * How long the broker has for its answer, at least 1 ms. Default 3 s: below the 5 s of {@link aggregateHealth}, so that a
   * broker that is silent is described by the check that looked, which also knows when the silence is an alarm.
   */
  readonly timeout?: Duration | undefined;
}

/** Milliseconds. */
const DEFAULT_TIMEOUT = 3_000;

/** A connection as a check. What the connection reports is passed on as it is: a blocked broker stays `up`. */
export class BrokerHealth implements HealthCheck {
  readonly name: string;
  readonly #connection: HealthSource;
  readonly #timeout: number;

  /**
   * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for a connection without `health`, a label that is empty, a time-out
   * below 1 ms or that is none, an option that nobody reads.
   */
  constructor(connection: HealthSource, options: BrokerHealthOptions = {}) {
    checkOptions(options, ['label', 'timeout'], 'BrokerHealth');
    if (!hasHealth(connection)) {
      // The value itself may be a URL with a password in it.
      throw new ConfigurationError(
        `BrokerHealth must be given a connection, not of type ${typeof connection}`,
      );
    }
    this.name = checkedCheckName(options.label ?? 'broker', 'label');
    this.#connection = connection;
    this.#timeout = brokerTimeoutOf(options.timeout);
  }

  check(): Promise<HealthReport> {
    return this.#connection.health({ timeout: this.#timeout });
  }
}

/** The milliseconds that a connection is given. Throws `ConfigurationError`. */
export function brokerTimeoutOf(timeout: Duration = DEFAULT_TIMEOUT): number {
  return milliseconds(timeout, 'timeout', { min: 1 });
}

/** Whether it can be asked with `health`. */
export function hasHealth(value: unknown): value is HealthSource {
  return typeof (value as Partial<HealthSource> | null | undefined)?.health === 'function';
}
