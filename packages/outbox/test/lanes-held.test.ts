import { describe, expect, test } from 'vitest';
import { LanesHeld } from '../src/lanes-held.ts';

const lanes = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

describe('the lanes of a relay', () => {
  test('may be published until a quarter of the lease is left, counted from when it was asked for', () => {
    const held = new LanesHeld(8000);
    expect(held.renewed({ lanes: lanes(0, 64), relays: 1 }, 1000, 100)).toBe(true);
    expect(held.publishUntil).toBe(7000);
    expect(held.renewAt).toBeLessThan(5000);
    expect(held.renewed({ lanes: lanes(0, 64), relays: 1 }, 4000, 100)).toBe(false);
  });

  test('are new again once the lease had lapsed: somebody may have had them', () => {
    const held = new LanesHeld(8000);
    held.renewed({ lanes: lanes(0, 64), relays: 1 }, 0, 100);
    expect(held.lapsed(7999)).toBe(false);
    expect(held.lapsed(8000)).toBe(true);
    expect(held.renewed({ lanes: lanes(0, 64), relays: 1 }, 8000, 100)).toBe(true);
  });

  test('past the share are to leave when another relay comes, and are asked for again soon by who has too few', () => {
    const [first, second] = [new LanesHeld(9000), new LanesHeld(9000)];
    first.renewed({ lanes: lanes(0, 64), relays: 2 }, 0, 100);
    expect([...first.leaving]).toEqual(lanes(32, 64));
    expect([...first.mine]).toEqual(lanes(0, 32));
    first.gaveUp();
    expect(first.leaving.size).toBe(0);
    expect(first.renewed({ lanes: lanes(0, 32), relays: 2 }, 3000, 100)).toBe(false);
    second.renewed({ lanes: [], relays: 2 }, 0, 100);
    expect(second.renewAt).toBe(100);
  });
});
