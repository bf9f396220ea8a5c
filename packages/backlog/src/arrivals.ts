import { ConfigurationError, type Duration, milliseconds, shown } from '@acemq/core';
import { exponentialTime } from './random.ts';

/** A stretch of a night in which jobs arrive at one rate. */
export interface ArrivalPhase {
  /** Jobs a second; 0 is a pause. */
  readonly rate: number;
  readonly for: Duration;
}

/** When jobs arrive, in seconds from the start, one after the other; `undefined` when no more do. */
export type ArrivalTimes = () => number | undefined;

/**
 * The arrivals of a profile. Evenly spaced, each job comes at the end of its share of a phase, so that a phase of `n`
 * jobs has had `n` arrivals when it ends. At random, the times between them have no memory (a Poisson process).
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for a rate or a duration that cannot be used.
 */
export function arrivalTimes(
  profile: readonly ArrivalPhase[],
  random: (() => number) | undefined,
): ArrivalTimes {
  const phases = checked(profile);
  let index = 0;
  let start = 0;
  let inPhase = 0;
  let time = 0;
  return () => {
    for (let phase = phases[index]; phase !== undefined; phase = phases[index]) {
      const end = start + phase.seconds;
      inPhase += 1;
      if (phase.rate > 0) {
        const next =
          random === undefined
            ? start + inPhase / phase.rate
            : time + exponentialTime(1 / phase.rate, random);
        // A tenth of an hour in seconds is no exact fraction; the last job of a phase belongs to it all the same.
        if (next <= end * (1 + 1e-12)) {
          time = next;
          return time;
        }
      }
      index += 1;
      inPhase = 0;
      start = end;
      time = end;
    }
    return undefined;
  };
}

/** How long a profile lasts, in seconds. */
export function lengthOf(profile: readonly ArrivalPhase[]): number {
  return checked(profile).reduce((sum, { seconds }) => sum + seconds, 0);
}

function checked(profile: readonly ArrivalPhase[]): readonly { rate: number; seconds: number }[] {
  if (!Array.isArray(profile) || profile.length === 0) {
    throw new ConfigurationError('arrivals must have at least one phase, such as { rate: 5, for: "10m" }');
  }
  return profile.map((phase: ArrivalPhase, index) => {
    const rate: unknown = phase?.rate;
    if (typeof rate !== 'number' || !Number.isFinite(rate) || rate < 0) {
      throw new ConfigurationError(
        `arrivals[${index}].rate must be a number of at least 0, not ${shown(rate)}`,
      );
    }
    return { rate, seconds: milliseconds(phase.for, `arrivals[${index}].for`, { min: 1 }) / 1000 };
  });
}
