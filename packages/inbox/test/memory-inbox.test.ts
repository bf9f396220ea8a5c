import { ConfigurationError } from '@acemq/core';
import { manualClock } from '@acemq/testing';
import { describe, expect, it } from 'vitest';
import { memoryInbox } from '../src/index.ts';
import { storeSuite } from './store-suite.ts';

storeSuite(async (times) => {
  const clock = manualClock();
  const store = memoryInbox({ ...times, clock });
  return {
    store,
    pass: async (_key, milliseconds) => void (await clock.advance(milliseconds)),
    close: () => store.close(),
  };
});

describe('the options of a store', () => {
  it.each([
    [{ claimTimeout: 999 }, 'claimTimeout must be at least 1s'],
    [{ keep: 0 }, 'keep must be at least 1s'],
    [{ cleanEvery: '10' }, 'cleanEvery must be'],
    [{ table: 'x' }, 'memoryInbox has no option "table"'],
  ])('%j is refused', (options, words) => {
    expect(() => memoryInbox(options as never)).toThrow(ConfigurationError);
    expect(() => memoryInbox(options as never)).toThrow(words);
  });
});
