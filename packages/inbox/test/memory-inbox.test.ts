import { ConfigurationError } from '@acemq/core';
import { manualClock } from '@acemq/testing';
import fc from 'fast-check';
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
    [{ logger: {} }, 'logger must have the methods warn; missing: warn'],
    [{ table: 'x' }, 'memoryInbox has no option "table"'],
  ])('%j is refused', (options, words) => {
    expect(() => memoryInbox(options as never)).toThrow(ConfigurationError);
    expect(() => memoryInbox(options as never)).toThrow(words);
  });
});

/** A step of somebody at work on one of three messages. */
const step = fc.record({
  act: fc.constantFrom('claim' as const, 'confirm' as const, 'release' as const, 'pass' as const),
  id: fc.constantFrom('a', 'b', 'c'),
  who: fc.nat({ max: 2 }),
});

describe('whoever does what in whatever order', () => {
  it('a message has one owner at a time, and none once it is confirmed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const clock = manualClock();
        const store = memoryInbox({ claimTimeout: 2000, keep: 60_000, cleanEvery: false, clock });
        const held = new Map<string, { readonly owner: string; readonly until: number }>();
        const owners = new Map<string, string>();
        const confirmed = new Set<string>();
        for (const { act, id, who } of steps) {
          const key = { scope: 'q', id };
          const owner = owners.get(`${who} ${id}`);
          if (act === 'pass') await clock.advance(900);
          else if (act === 'claim') {
            const claim = await store.claim(key);
            const current = held.get(id);
            const busy = current !== undefined && current.until > clock.now();
            expect(claim.answer).toBe(confirmed.has(id) ? 'duplicate' : busy ? 'in_progress' : 'claimed');
            if (claim.answer !== 'claimed') continue;
            owners.set(`${who} ${id}`, claim.owner);
            held.set(id, { owner: claim.owner, until: clock.now() + 2000 });
          } else if (owner !== undefined && act === 'release') {
            const own = held.get(id)?.owner === owner;
            if (await store.release(key, owner)) {
              expect(own && !confirmed.has(id)).toBe(true);
              held.delete(id);
            }
          } else if (owner !== undefined && (await store.confirm(key, owner))) confirmed.add(id);
        }
        await store.close();
      }),
      { numRuns: 50 },
    );
  });
});
