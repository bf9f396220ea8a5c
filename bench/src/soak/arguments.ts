import { randomInt } from 'node:crypto';
import { milliseconds } from '@acemq/core';
import { LARGEST_SEED } from './random.ts';

/** What a run is asked for. */
export interface SoakArguments {
  /** Milliseconds. */
  readonly duration: number;
  readonly seed: number;
}

const DEFAULT_DURATION = '2m';
/** The publishers, the consumers and the faults have all begun by then. */
const SHORTEST = 20_000;

/**
 * Reads `[duration] [--seed N]`. Default: two minutes, and a seed of chance. Throws an `Error` that says what
 * is allowed.
 */
export function readArguments(args: readonly string[]): SoakArguments {
  let duration: string | undefined;
  let seed: number | undefined;
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index] as string;
    if (argument === '--seed') {
      index += 1;
      seed = seedOf(args[index]);
    } else if (!argument.startsWith('-') && duration === undefined) {
      duration = argument;
    } else {
      throw new Error(`unknown argument '${argument}'; allowed: [duration, such as 2m] [--seed N]`);
    }
  }
  return {
    duration: milliseconds((duration ?? DEFAULT_DURATION) as '2m', 'duration', { min: SHORTEST }),
    seed: seed ?? randomInt(LARGEST_SEED),
  };
}

function seedOf(text: string | undefined): number {
  const seed = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isInteger(seed) && seed >= 0 && seed <= LARGEST_SEED) return seed;
  throw new Error(`--seed: '${text ?? ''}' is not a whole number of 0 to ${LARGEST_SEED}`);
}
