import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../src/system-clock.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 1000 });
});

afterEach(() => {
  vi.useRealTimers();
});

test('the system clock calls once, after the time it was given', () => {
  const work = vi.fn();
  systemClock.after(50, work);
  vi.advanceTimersByTime(49);
  expect(work).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1000);
  expect(work).toHaveBeenCalledTimes(1);
  expect(systemClock.now()).toBe(2049);
});

test('the system clock does not call what was cancelled', () => {
  const work = vi.fn();
  systemClock.after(50, work).cancel();
  vi.advanceTimersByTime(1000);
  expect(work).not.toHaveBeenCalled();
});

test('the system clock waits longer than one timer of Node can', () => {
  const work = vi.fn();
  const longest = 2 ** 31 - 1;
  const timer = systemClock.after(2 * longest + 5, work);
  vi.advanceTimersByTime(2 * longest + 4);
  expect(work).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(work).toHaveBeenCalledTimes(1);
  timer.cancel();
});

test('a timer of the system clock keeps the process alive unless it is in the background', () => {
  const set = vi.spyOn(globalThis, 'setTimeout');
  systemClock.after(50, () => {});
  systemClock.after(50, () => {}, { background: true });
  expect(set.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())).toEqual([true, false]);
  set.mockRestore();
});

test('the elapsed time of the system clock goes on when the time of day is set back', () => {
  const before = systemClock.elapsed();
  vi.setSystemTime(0);
  vi.advanceTimersByTime(5);
  expect(systemClock.now()).toBe(5);
  expect(systemClock.elapsed() - before).toBe(5);
});
