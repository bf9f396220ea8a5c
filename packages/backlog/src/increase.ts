/**
 * By how much a counter grew over samples. Where it falls it was started again, at 0. `undefined` where a sample does not
 * know it.
 */
export function increase<Name extends string>(
  samples: readonly Readonly<Partial<Record<Name, number | null>>>[],
  name: Name,
): number | undefined {
  let sum = 0;
  let before: number | undefined;
  for (const sample of samples) {
    const value = sample[name];
    if (typeof value !== 'number') return undefined;
    if (before !== undefined) sum += value >= before ? value - before : value;
    before = value;
  }
  return sum;
}
