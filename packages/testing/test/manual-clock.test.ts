import { ConfigurationError } from '@acemq/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { manualClock } from '../src/index.ts';

describe('a manual clock', () => {
  test('stands still until it is moved', async () => {
    const clock = manualClock({ now: 1000 });
    let fired = 0;
    clock.after(10, () => {
      fired += 1;
    });
    await clock.advance(9);
    expect([clock.now(), fired, clock.timers]).toEqual([1009, 0, 1]);
    await clock.advance(1);
    expect([clock.now(), fired, clock.timers]).toEqual([1010, 1, 0]);
  });

  test('calls timers in the order of their times, each at its own time, those set on the way included', async () => {
    const clock = manualClock({ now: 0 });
    const calls: string[] = [];
    const note = (what: string): void => void calls.push(`${what}@${clock.now()}`);
    clock.after(20, () => note('b'));
    clock.after(10, () => {
      note('a');
      clock.after(5, () => note('from a'));
      clock.after(0, () => note('at once'));
    });
    clock.after(20, () => note('c'));
    clock.after(31, () => note('too late'));
    await clock.advance(30);
    expect(calls).toEqual(['a@10', 'at once@10', 'from a@15', 'b@20', 'c@20']);
    expect(clock.now()).toBe(30);
  });

  test('lets promises come to rest between one time and the next', async () => {
    const clock = manualClock({ now: 0 });
    const calls: string[] = [];
    clock.after(1, () => {
      void Promise.resolve()
        .then(() => Promise.resolve())
        .then(() => new Promise<void>((resolve) => setImmediate(resolve)))
        .then(() => calls.push(`promise@${clock.now()}`));
    });
    clock.after(2, () => calls.push('timer'));
    await clock.advance(5);
    expect(calls).toEqual(['promise@1', 'timer']);
  });

  test('does not call a timer that was cancelled, not even by another of the same time', async () => {
    const clock = manualClock();
    const calls: string[] = [];
    const timers = [clock.after(1, () => timers[1]?.cancel()), clock.after(1, () => calls.push('cancelled'))];
    await clock.advance(1);
    expect(calls).toEqual([]);
    expect(clock.timers).toBe(0);
  });

  test('moves on one after the other when it is moved twice at once', async () => {
    const clock = manualClock({ now: 0 });
    const calls: number[] = [];
    clock.after(15, () => calls.push(clock.now()));
    await Promise.all([clock.advance(10), clock.advance(10)]);
    expect([clock.now(), calls]).toEqual([20, [15]]);
  });

  test('refuses a time that is not one', async () => {
    await expect(manualClock().advance(-1)).rejects.toThrow(ConfigurationError);
    await expect(manualClock().advance(Number.NaN)).rejects.toThrow(/NaN/);
    expect(() => manualClock({ now: Number.POSITIVE_INFINITY })).toThrow(/Infinity/);
  });

  test('fires every timer that is due, once, in order of time and then of setting', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(50), { maxLength: 20 }),
        fc.array(fc.nat(30), { maxLength: 4 }),
        async (waits, steps) => {
          const clock = manualClock({ now: 0 });
          const fired: number[] = [];
          for (const [index, wait] of waits.entries()) clock.after(wait, () => fired.push(index));
          for (const step of steps) await clock.advance(step);
          const due = waits
            .map((wait, index) => ({ wait, index }))
            .filter(({ wait }) => steps.length > 0 && wait <= clock.now())
            .sort((a, b) => a.wait - b.wait || a.index - b.index);
          expect(fired).toEqual(due.map(({ index }) => index));
        },
      ),
      { numRuns: 30 },
    );
  });
});
