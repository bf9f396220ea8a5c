import { memoryBroker } from '@acemq/testing';
import { describe, expect, test } from 'vitest';
import { faultsOf } from '../src/account.ts';
import { ran, THREE_HUNDRED } from './running.ts';

test('300 runs on the in-memory broker: some end early, some are dead letters, and each is accounted for', async () => {
  const broker = memoryBroker();
  const { code, out, err } = await ran(broker);
  expect(err).toBe('');
  expect(out).toMatch(
    /^300 runs of onboarding-[\da-f]{8} \(validate, enrich, store\),\non the in-memory broker\n/,
  );
  expect(out).toContain(THREE_HUNDRED);
  expect(code).toBe(0);
  expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(broker.queues).toEqual([]);
});

test('a broker that cannot be reached is said in one line', async () => {
  const { code, out, err } = await ran('amqp://guest:guest@127.0.0.1:1');
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(/^pipeline: ConnectError: .*\n$/);
  expect(err).not.toContain('guest:guest');
});

describe('an account that does not add up says so', () => {
  const none = {
    begun: new Set<string>(),
    completed: new Set<string>(),
    ended: new Set<string>(),
    dead: new Map(),
    retried: 0,
  };
  test.each([
    [{ begun: new Set(['a']) }, '1 runs have come to no end'],
    [{ ended: new Set(['a']) }, '1 runs have ended that were never begun'],
    [
      { begun: new Set(['a']), completed: new Set(['a']), dead: new Map([['a', 'why']]) },
      '1 runs have come to two ends',
    ],
  ])('%#', (changes, fault) => {
    expect(faultsOf({ ...none, ...changes })).toEqual([fault]);
  });
});
