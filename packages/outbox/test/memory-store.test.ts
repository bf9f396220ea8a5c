import { manualClock } from '@acemq/testing';
import { MemoryOutboxStore, type MemoryTransaction } from '../src/memory-store.ts';
import { storeSuite } from './store-suite.ts';

storeSuite<MemoryTransaction | undefined, MemoryTransaction>(async () => {
  const clock = manualClock();
  const store = new MemoryOutboxStore({ clock, maxBody: 1000 });
  return {
    store,
    inTransaction: async (work, end = 'commit') => {
      await store
        .transaction(async (tx) => {
          await work(tx);
          if (end === 'rollback') throw new Error('rolled back');
        })
        .catch((error: unknown) => {
          if (end === 'commit') throw error;
        });
    },
    age: (ms) => clock.advance(ms),
  };
});
