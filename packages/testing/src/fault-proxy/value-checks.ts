import { ConfigurationError } from '@acemq/core';
import type { CutOptions, FaultDirection } from './controls.ts';
import type { CutPoint } from './flow.ts';

const DIRECTIONS: readonly FaultDirection[] = Object.freeze(['toBroker', 'toClient']);
const HOW = ['rst', 'fin'];
const SIDES = ['client', 'broker', 'both'];

/** The directions that are meant, checked. */
export function directionsOf(
  what: string,
  direction: FaultDirection | 'both' = 'both',
): readonly FaultDirection[] {
  if (direction === 'both') return DIRECTIONS;
  return [oneDirection(what, direction, "'toBroker', 'toClient' or 'both'")];
}

function oneDirection(what: string, direction: FaultDirection, allowed: string): FaultDirection {
  if (DIRECTIONS.includes(direction)) return direction;
  throw new ConfigurationError(`${what}: direction: '${direction}' is not ${allowed}`);
}

export function checkCut(what: string, options: CutOptions): CutOptions {
  const unknown = Object.keys(options).find((name) => name !== 'how' && name !== 'side');
  if (unknown !== undefined) {
    throw new ConfigurationError(`${what}: unknown option '${unknown}'; it takes how, side`);
  }
  const { how = 'rst', side = 'both' } = options;
  if (!HOW.includes(how)) throw new ConfigurationError(`${what}: how: '${how}' is not 'rst' or 'fin'`);
  if (!SIDES.includes(side)) {
    throw new ConfigurationError(`${what}: side: '${side}' is not 'client', 'broker' or 'both'`);
  }
  return { how, side };
}

/** Where a direction is to be cut; `undefined` where it is not. */
export function cutPoint(
  what: string,
  direction: FaultDirection,
  n: number | undefined,
  options: CutOptions,
): CutPoint | undefined {
  oneDirection(what, direction, "'toBroker' or 'toClient'");
  const cut = checkCut(what, options);
  if (n === undefined) return undefined;
  if (Number.isSafeInteger(n) && n >= 1) return { at: n, cut };
  throw new ConfigurationError(`${what}: ${n} is not an integer of 1 or more, or undefined for no cut`);
}

export function checkDelay(ms: number): void {
  if (Number.isFinite(ms) && ms >= 0) return;
  throw new ConfigurationError(`delay: ${ms} is not a number of milliseconds of 0 or more`);
}

export function checkLimit(bytesPerSecond: number | undefined): void {
  if (bytesPerSecond === undefined || (Number.isFinite(bytesPerSecond) && bytesPerSecond > 0)) return;
  throw new ConfigurationError(
    `limit: ${bytesPerSecond} is not a number of bytes a second above 0, or undefined for no limit`,
  );
}
