/**
 * Grown unrounded and capped at each step, so that a long schedule cannot overflow; every entry is cut to
 * whole ms.
 */
export function growingDelays(
  count: number,
  initial: number,
  multiplier: number,
  max: number,
): readonly number[] {
  const delays: number[] = [];
  let delay = initial;
  for (let index = 0; index < count; index += 1) {
    delays.push(Math.trunc(delay));
    delay = Math.min(delay * multiplier, max);
  }
  return Object.freeze(delays);
}

/**
 * Whole milliseconds within the bounds, and at least 1: a wait of 0 would be no wait. A delay of 0 stays 0.
 */
export function jittered(delay: number, factor: number, random: () => number): number {
  if (delay === 0 || factor === 0) return delay;
  const shortest = Math.max(1, Math.ceil(delay * (1 - factor)));
  const longest = Math.floor(delay * (1 + factor));
  const wait = Math.round(delay * (1 + (random() * 2 - 1) * factor));
  return Math.min(Math.max(wait, shortest), longest);
}
