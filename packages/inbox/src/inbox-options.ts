import { checkOptions, type Duration, guardLogger, type Logger, milliseconds } from '@acemq/core';

/** How long a store counts on a claim, and how long it keeps what was handled. */
export interface InboxTimes {
  /**
   * How long a claim counts, from 1 s. Longer than the slowest handler: after it, a repeat runs while the first still may.
   * A message whose consumer died is handled again only after it. 5 minutes by default.
   */
  readonly claimTimeout?: Duration | undefined;
  /**
   * How long it is known that a message was handled, from 1 s. Longer than the longest retry ladder, and than the oldest
   * message that somebody may replay. 24 hours by default.
   */
  readonly keep?: Duration | undefined;
  /** How often what is no longer kept is removed, from 1 s; `false` for never. 1 minute by default. */
  readonly cleanEvery?: Duration | false | undefined;
  /** Told when the cleaning fails. `console` by default. */
  readonly logger?: Logger | undefined;
}

/** {@link InboxTimes}, checked, in milliseconds. */
export interface CheckedTimes {
  readonly claimTimeout: number;
  readonly keep: number;
  readonly cleanEvery: number | false;
  readonly logger: Pick<Logger, 'warn'>;
}

export function checkTimes(options: InboxTimes, allowed: readonly string[], of: string): CheckedTimes {
  checkOptions(options, ['claimTimeout', 'keep', 'cleanEvery', 'logger', ...allowed], of);
  const { claimTimeout = '5m', keep = '24h', cleanEvery = '1m', logger = console } = options;
  const limits = { min: 1000 };
  return {
    claimTimeout: milliseconds(claimTimeout, 'claimTimeout', limits),
    keep: milliseconds(keep, 'keep', limits),
    cleanEvery: cleanEvery === false ? false : milliseconds(cleanEvery, 'cleanEvery', limits),
    logger: guardLogger(logger, ['warn']),
  };
}
