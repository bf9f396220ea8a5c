/** Random choices that are the same for the same seed, on every machine. */
export interface Random {
  /** From 0 up to 1. */
  next(): number;
  /** A whole number, both ends included. */
  whole(least: number, most: number): number;
  /** One of these, each as likely. */
  pick<T>(choices: readonly T[]): T;
  /** The same in another order. */
  shuffled<T>(items: readonly T[]): T[];
}

/** The largest seed; the smallest is 0. */
export const LARGEST_SEED: number = 2 ** 32 - 1;

/** Mulberry32: small, and far better than a plan of faults needs. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    whole,
    pick<T>(choices: readonly T[]): T {
      return choices[whole(0, choices.length - 1)] as T;
    },
    shuffled<T>(items: readonly T[]): T[] {
      const order = items.map((item) => ({ item, key: next() }));
      return order.sort((a, b) => a.key - b.key).map(({ item }) => item);
    },
  };
}
