const LAST_SEQUENCE = 2n ** 64n - 1n;

/** When an entry was added, in milliseconds since the epoch by the server's clock: the first part of its id. */
export function timeOf(id: string): number {
  return Number(id.split('-', 1)[0]);
}

/** Below 0 where `a` is older than `b`, 0 where they are the same. */
export function compareIds(a: string, b: string): number {
  if (a === b) return 0;
  const byTime = timeOf(a) - timeOf(b);
  if (byTime !== 0) return byTime;
  return sequenceOf(a) < sequenceOf(b) ? -1 : 1;
}

/** The smallest id that is greater. */
export function idAfter(id: string): string {
  const sequence = sequenceOf(id);
  return sequence === LAST_SEQUENCE ? `${timeOf(id) + 1}-0` : `${timeOf(id)}-${sequence + 1n}`;
}

function sequenceOf(id: string): bigint {
  return BigInt(id.slice(id.indexOf('-') + 1));
}
