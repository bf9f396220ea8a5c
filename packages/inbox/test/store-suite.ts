import { accept, inProgress, retry } from '@acemq/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type InboxKey, type InboxStore, type InboxTimes, idempotent } from '../src/index.ts';
import { keepingLogger, messageOf } from './messages.ts';

/** A store for the suite. */
export interface Opened {
  readonly store: InboxStore;
  /** Makes time pass for this key, or for the whole store. */
  pass(key: InboxKey, milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

const claimTimeout = 300_000;
const keep = 86_400_000;

let made = 0;
const newKey = (scope = 'shipping.orders'): InboxKey => ({ scope, id: `m-${process.pid}-${made++}` });

/** What every store promises. `open` makes two stores on one table where that can be. */
export function storeSuite(open: (times: InboxTimes) => Promise<Opened>): void {
  let one: Opened;
  let store: InboxStore;

  beforeAll(async () => {
    one = await open({ claimTimeout, keep, cleanEvery: false });
    store = one.store;
  });
  afterAll(() => one.close());

  async function claimed(key: InboxKey): Promise<string> {
    const claim = await store.claim(key);
    if (claim.answer !== 'claimed') throw new Error(`the answer was ${claim.answer}`);
    return claim.owner;
  }

  describe('a claim', () => {
    it('is given once, until it is confirmed', async () => {
      const key = newKey();
      const owner = await claimed(key);
      expect(await store.claim(key)).toEqual({ answer: 'in_progress' });
      expect(await store.confirm(key, owner)).toBe(true);
      expect(await store.claim(key)).toEqual({ answer: 'duplicate' });
    });

    it('is given to one of many that ask at once', async () => {
      const key = newKey();
      const claims = await Promise.all(Array.from({ length: 20 }, () => store.claim(key)));
      expect(claims.filter(({ answer }) => answer === 'claimed')).toHaveLength(1);
      expect(claims.filter(({ answer }) => answer === 'in_progress')).toHaveLength(19);
    });

    it('is given again once it was released', async () => {
      const key = newKey();
      expect(await store.release(key, await claimed(key))).toBe(true);
      await claimed(key);
    });

    it('of the same id in another scope is another', async () => {
      const key = newKey();
      await claimed(key);
      await claimed({ ...key, scope: 'billing.orders' });
    });

    it.each([
      ['case', 'a', 'A'],
      ['a space at the end', 'b', 'b '],
      ['an accent', 'e', 'é'],
      ['a sharp s', 'ss', 'ß'],
      ['where the scope ends', 'c', 'cc'],
    ])('tells ids apart by %s', async (_what, first, second) => {
      const { scope, id } = newKey();
      await claimed({ scope, id: id + first });
      await claimed({ scope, id: id + second });
    });

    it('may have any text of up to 255 bytes', async () => {
      const key = {
        scope: `'; drop table x; -- ${'\u{1F600}'.repeat(50)}`,
        id: `"\\%_?$1 ${made++}`.padEnd(255, 'x'),
      };
      await store.confirm(key, await claimed(key));
      expect(await store.claim(key)).toEqual({ answer: 'duplicate' });
    });

    it('that timed out is given to one of those that ask', async () => {
      const key = newKey();
      await claimed(key);
      await one.pass(key, claimTimeout - 5_000);
      expect(await store.claim(key)).toEqual({ answer: 'in_progress' });
      await one.pass(key, 5_000);
      const claims = await Promise.all(Array.from({ length: 10 }, () => store.claim(key)));
      expect(claims.filter(({ answer }) => answer === 'claimed')).toHaveLength(1);
    });

    it('that another has taken is neither confirmed nor released by the first', async () => {
      const key = newKey();
      const first = await claimed(key);
      await one.pass(key, claimTimeout);
      const second = await claimed(key);
      expect(second).not.toBe(first);
      expect(await store.confirm(key, first)).toBe(false);
      expect(await store.release(key, first)).toBe(false);
      expect(await store.claim(key)).toEqual({ answer: 'in_progress' });
      expect(await store.confirm(key, second)).toBe(true);
    });

    it('that timed out and nobody has taken is still confirmed', async () => {
      const key = newKey();
      const owner = await claimed(key);
      await one.pass(key, claimTimeout + 1);
      expect(await store.confirm(key, owner)).toBe(true);
      expect(await store.claim(key)).toEqual({ answer: 'duplicate' });
    });

    it('whose row is gone is confirmed all the same, since the work was done', async () => {
      const key = newKey();
      const owner = await claimed(key);
      await store.release(key, owner);
      expect(await store.confirm(key, owner)).toBe(true);
      expect(await store.claim(key)).toEqual({ answer: 'duplicate' });
    });
  });

  describe('a confirmation', () => {
    it('is not released by who made it', async () => {
      const key = newKey();
      const owner = await claimed(key);
      await store.confirm(key, owner);
      expect(await store.release(key, owner)).toBe(false);
      expect(await store.claim(key)).toEqual({ answer: 'duplicate' });
    });

    it('is kept as long as was said, and no longer', async () => {
      const key = newKey();
      await store.confirm(key, await claimed(key));
      await one.pass(key, keep - 5_000);
      expect(await store.claim(key)).toEqual({ answer: 'duplicate' });
      await one.pass(key, 5_000);
      await claimed(key);
    });
  });

  it('runs a handler once for each message', async () => {
    let runs = 0;
    const handler = idempotent(
      () => {
        runs += 1;
        return runs === 1 ? retry(new Error('not yet')) : accept();
      },
      store,
      { logger: keepingLogger() },
    );
    const message = messageOf({}, { id: newKey().id });
    expect(await handler(message)).toMatchObject({ decision: 'retry' });
    expect(await handler(message)).toBe(accept());
    expect(await handler(message)).toBe(accept());
    expect(runs).toBe(2);
    const { id } = newKey();
    const other = await store.claim({ scope: message.queue, id });
    expect(other.answer).toBe('claimed');
    expect(await handler(messageOf({}, { id }))).toBe(inProgress());
  });

  it('closes twice', async () => {
    const another = await open({});
    await another.store.close();
    await another.store.close();
    await another.close();
  });
}
