import type { Sample } from './orders.ts';

/** What grows while code is compiled and buffers find their size is over by then. */
const WARM_UP = 10;
/** Fewer samples than this in a half say nothing. */
const LEAST = 5;

/** How far the medians of the second half may lie above those of the first. */
const BOUNDS: Readonly<Record<'heap' | 'rss' | 'sockets' | 'timers', number>> = Object.freeze({
  heap: 3,
  rss: 30,
  sockets: 1,
  timers: 50,
});

/** One measure in both halves of a run. */
export interface Halves {
  readonly measure: keyof typeof BOUNDS;
  readonly first: number;
  readonly second: number;
  readonly flat: boolean;
}

/**
 * Compares the second half of a run with the first, by medians: what leaks shows in every later sample, and a
 * fault that was under way in one does not count. `undefined` when the run was too short to say.
 */
export function compareHalves(samples: readonly Sample[]): readonly Halves[] | undefined {
  const warm = samples.slice(Math.min(WARM_UP, Math.floor(samples.length / 5)));
  const middle = Math.floor(warm.length / 2);
  if (middle < LEAST) return undefined;
  return (Object.keys(BOUNDS) as (keyof typeof BOUNDS)[]).map((measure) => {
    const values = warm.map((sample) => sample[measure]);
    const first = median(values.slice(0, middle));
    const second = median(values.slice(middle));
    return { measure, first, second, flat: second - first <= BOUNDS[measure] };
  });
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
