import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ConnectionState, LINK_STATES } from '../src/index.ts';
import { backoffCeiling, backoffWait } from '../src/link/backoff.ts';
import { worseState } from '../src/states.ts';

const STATE = fc.constantFrom<ConnectionState>(...LINK_STATES);

describe('the states of a connection', () => {
  it('are five, from best to worst, and cannot be changed', () => {
    expect(LINK_STATES).toEqual(['connected', 'restoring', 'connecting', 'retrying', 'closed']);
    expect(Object.isFrozen(LINK_STATES)).toBe(true);
  });

  it('combine to the worse of two, whichever comes first', () => {
    fc.assert(
      fc.property(STATE, STATE, (a, b) => {
        const worse = worseState(a, b);
        expect(worseState(b, a)).toBe(worse);
        expect([a, b]).toContain(worse);
        expect(LINK_STATES.indexOf(worse)).toBe(Math.max(LINK_STATES.indexOf(a), LINK_STATES.indexOf(b)));
      }),
    );
  });

  it('combine to one that is connected only when both are', () => {
    for (const a of LINK_STATES) {
      for (const b of LINK_STATES) {
        expect(worseState(a, b) === 'connected').toBe(a === 'connected' && b === 'connected');
      }
    }
  });
});

const BACKOFF = fc
  .record({ initial: fc.integer({ min: 1, max: 60_000 }), factor: fc.integer({ min: 1, max: 5_000 }) })
  .map(({ initial, factor }) => ({ initial, max: initial * factor }));
const ATTEMPT = fc.integer({ min: 1, max: 100_000 });

describe('the back-off', () => {
  it('starts at 1 s and doubles to 30 s by default', () => {
    const backoff = { initial: 1_000, max: 30_000 };
    expect([1, 2, 3, 4, 5, 6, 7].map((attempt) => backoffCeiling(backoff, attempt))).toEqual([
      1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000,
    ]);
  });

  it('never shrinks, never passes its maximum and reaches it', () => {
    fc.assert(
      fc.property(BACKOFF, ATTEMPT, (backoff, attempt) => {
        const ceiling = backoffCeiling(backoff, attempt);
        expect(ceiling).toBeGreaterThanOrEqual(backoff.initial);
        expect(ceiling).toBeLessThanOrEqual(backoff.max);
        expect(backoffCeiling(backoff, attempt + 1)).toBeGreaterThanOrEqual(ceiling);
        expect(backoffCeiling(backoff, 100)).toBe(backoff.max);
      }),
    );
  });

  it('waits a whole number of milliseconds from nothing to the ceiling', () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(BACKOFF, ATTEMPT, random, (backoff, attempt, drawn) => {
        const wait = backoffWait(backoff, attempt, () => drawn);
        expect(Number.isSafeInteger(wait)).toBe(true);
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThanOrEqual(backoffCeiling(backoff, attempt));
      }),
    );
  });

  it('uses the whole range, so that clients come back one by one', () => {
    const backoff = { initial: 1_000, max: 30_000 };
    expect(backoffWait(backoff, 3, () => 0)).toBe(0);
    expect(backoffWait(backoff, 3, () => 0.5)).toBe(2_000);
    expect(backoffWait(backoff, 3, () => 0.9999)).toBe(4_000);
  });

  it('stays finite however long the outage lasts', () => {
    expect(backoffCeiling({ initial: 1, max: Number.MAX_SAFE_INTEGER }, 1_000_000)).toBe(2 ** 31);
  });
});
