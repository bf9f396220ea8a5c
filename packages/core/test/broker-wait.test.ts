import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_BROKER_WAIT_THRESHOLD, waitsInBroker } from '../src/index.ts';

describe('waitsInBroker', () => {
  it('is true from the threshold on', () => {
    expect(DEFAULT_BROKER_WAIT_THRESHOLD).toBe(30_000);
    expect(waitsInBroker(29_999, 30_000)).toBe(false);
    expect(waitsInBroker(30_000, 30_000)).toBe(true);
  });

  it('is never true with a threshold of 0', () => {
    fc.assert(fc.property(fc.integer(), (delay) => !waitsInBroker(delay, 0)));
  });

  it('is never true for a delay of 0 or less', () => {
    fc.assert(fc.property(fc.nat(), fc.integer(), (delay, threshold) => !waitsInBroker(-delay, threshold)));
  });
});
