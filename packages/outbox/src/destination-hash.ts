/** How many lanes there are. Each destination is in one of them, and each lane belongs to one relay at a time. */
export const LANES = 64;

/** A mask that has every lane. */
export const ALL_LANES: bigint = -1n;

const encoder = new TextEncoder();

/**
 * A number of 31 bits for an exchange and a routing key (FNV-1a over UTF-8, with a zero byte between them). It is stored
 * with the record, so it must never change.
 */
export function destinationHash(exchange: string, routingKey: string): number {
  let hash = 0x811c9dc5;
  for (const byte of encoder.encode(`${exchange}\0${routingKey}`)) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return hash >>> 1;
}

/** The lane of a destination, 0 to 63. */
export function laneOf(destination: number): number {
  return destination % LANES;
}

/** Lanes as the bits of a signed number of 64 bits, as databases have it. */
export function maskOf(lanes: Iterable<number>): bigint {
  let mask = 0n;
  for (const lane of lanes) mask |= 1n << BigInt(lane);
  return BigInt.asIntN(LANES, mask);
}
