import { describe, expect, test } from 'vitest';
import { LateCommits } from '../src/late-commits.ts';

function noted(
  late: LateCommits,
  reached: number,
  running: string[] | undefined,
  now = 0,
  unsure = false,
): number {
  late.settle(late.note(reached, running === undefined ? undefined : { running, unsure }, now));
  return late.floor;
}

describe('the place behind which nothing turns up any more', () => {
  test('is where the scan is, when nobody is writing', () => {
    const late = new LateCommits();
    expect(noted(late, 10, [])).toBe(10);
    expect(noted(late, 5, [])).toBe(10);
  });

  test('waits for those who were writing when the scan was there, and for nobody who came later', () => {
    const late = new LateCommits();
    expect(noted(late, 10, ['a', 'b'])).toBe(0);
    expect(noted(late, 20, ['b', 'c'])).toBe(0);
    expect(noted(late, 30, ['c', 'd'])).toBe(10);
    expect(noted(late, 40, ['d'])).toBe(10);
    expect(noted(late, 50, ['e'])).toBe(30);
  });

  test('does not move while there may be writers that have no name', () => {
    const late = new LateCommits();
    noted(late, 10, ['a']);
    expect(noted(late, 20, [], 0, true)).toBe(0);
    expect(noted(late, 20, [])).toBe(20);
  });

  test('follows a minute behind where the store cannot tell', () => {
    const late = new LateCommits();
    expect(noted(late, 10, undefined, 0)).toBe(0);
    expect(noted(late, 20, undefined, 30_000)).toBe(0);
    expect(noted(late, 30, undefined, 60_000)).toBe(10);
    expect(noted(late, 40, undefined, 90_000)).toBe(20);
  });

  test('is the beginning again after a restart', () => {
    const late = new LateCommits();
    noted(late, 10, []);
    late.restart();
    expect(late.floor).toBe(0);
  });
});
