import { systemClock } from '@acemq/core';
import { manualClock } from '@acemq/testing';
import { expect, it, vi } from 'vitest';
import { Cleaning } from '../src/cleaning.ts';
import { deferred } from './deferred.ts';
import { keepingLogger } from './messages.ts';

const EVERY = 60_000;

it('goes on as long as whole batches are removed, then waits', async () => {
  const clock = manualClock();
  const batches = [1000, 1000, 12];
  const remove = vi.fn(async () => batches.shift() ?? 0);
  const cleaning = new Cleaning(remove, EVERY, clock, keepingLogger());
  expect(remove).not.toHaveBeenCalled();
  await clock.advance(EVERY);
  expect(remove).toHaveBeenCalledTimes(3);
  await clock.advance(EVERY);
  expect(remove).toHaveBeenCalledTimes(4);
  await cleaning.close();
});

it('goes on after a failure, and says it once an outage', async () => {
  const clock = manualClock();
  const logger = keepingLogger();
  let down = true;
  const remove = vi.fn(async () => {
    if (down) throw new Error('connection refused');
    return 0;
  });
  const cleaning = new Cleaning(remove, EVERY, clock, logger);
  await clock.advance(3 * EVERY);
  expect(remove.mock.calls.length).toBeGreaterThanOrEqual(3);
  expect(logger.lines).toHaveLength(1);
  down = false;
  await clock.advance(EVERY);
  down = true;
  await clock.advance(EVERY);
  expect(logger.lines).toHaveLength(2);
  await cleaning.close();
});

it('ends with the pass that runs, and removes nothing after', async () => {
  const clock = manualClock();
  const go = deferred();
  const remove = vi.fn(async () => {
    await go.promise;
    return 1000;
  });
  const cleaning = new Cleaning(remove, EVERY, clock, keepingLogger());
  await clock.advance(EVERY);
  let closed = false;
  const closing = cleaning.close().then(() => {
    closed = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(closed).toBe(false);
  go.resolve();
  await closing;
  await clock.advance(10 * EVERY);
  expect(remove).toHaveBeenCalledTimes(1);
  expect(clock.timers).toBe(0);
});

it('does not keep the process alive', async () => {
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const before = timers();
  const cleaning = new Cleaning(async () => 0, EVERY, systemClock, keepingLogger());
  expect(timers()).toBe(before);
  await cleaning.close();
});

it('does nothing where it is turned off', async () => {
  const clock = manualClock();
  const remove = vi.fn(async () => 0);
  const cleaning = new Cleaning(remove, false, clock, keepingLogger());
  await clock.advance(10 * EVERY);
  expect(remove).not.toHaveBeenCalled();
  await cleaning.close();
});
