import { describe, expect, test } from 'vitest';
import { ALL_LANES, destinationHash, laneOf, maskOf } from '../src/destination-hash.ts';
import { type OutboxRecord, record } from '../src/record.ts';
import type { OutboxStore, OwedQuery } from '../src/store.ts';
import { recorder } from './recorder.ts';

/** One store, empty, and how a test writes to it. */
export interface StoreUnderTest<Tx, Connection> {
  readonly store: OutboxStore<Tx, Connection>;
  /** Runs `work` in a transaction of the application's, and commits or rolls back. */
  inTransaction(work: (tx: Tx & Connection) => Promise<unknown>, end?: 'commit' | 'rollback'): Promise<void>;
  /** Makes what was published that much older, by the store's clock. */
  age(ms: number): Promise<void>;
}

const ALL: OwedQuery = { after: 0, lanes: ALL_LANES, limit: 100 };

function made(id: string, routingKey = 'orders', payload: unknown = { id }): OutboxRecord {
  return record(recorder(), { id, routingKey, payload });
}

/** What every store must do. */
export function storeSuite<Tx, Connection>(open: () => Promise<StoreUnderTest<Tx, Connection>>): void {
  async function withRecords(...ids: string[]): Promise<StoreUnderTest<Tx, Connection>> {
    const setting = await open();
    await setting.inTransaction(async (tx) => {
      for (const id of ids) await setting.store.add(made(id), { tx });
    });
    return setting;
  }

  async function ownedBy(store: OutboxStore<Tx, Connection>, relay = 'a'): Promise<void> {
    expect((await store.lease(relay, 60_000)).lanes.length).toBe(64);
  }

  async function idsOwed(store: OutboxStore<Tx, Connection>): Promise<string[]> {
    const keys = await store.owed(ALL);
    return (await store.fetch(keys.map(({ seq }) => seq))).map(({ id }) => id);
  }

  describe('what is added', () => {
    test('is there when its transaction has committed, byte for byte', async () => {
      const { store, inTransaction } = await open();
      const body = new Uint8Array([0, 255, 128, 13, 10]);
      const headers = {
        text: 'naïve ✓',
        bytes: new Uint8Array([0, 200]),
        when: new Date(86_400_000),
        large: 2n ** 60n,
        list: [1, 'two', null, { $bytes: 'no' }],
        __proto__x: true,
      };
      const one = record(recorder(), { exchange: 'shop', routingKey: 'a.b', payload: body, headers });
      await inTransaction((tx) => store.add(one, { tx }));
      const [key] = await store.owed(ALL);
      expect(key).toMatchObject({ size: 5, destination: destinationHash('shop', 'a.b') });
      const [found] = await store.fetch([key?.seq ?? 0]);
      expect(found).toMatchObject({ id: one.id, exchange: 'shop', routingKey: 'a.b', attempts: 0 });
      expect(new Uint8Array(found?.body ?? [])).toEqual(body);
      expect({ ...found?.headers }).toMatchObject(headers);
      expect(found?.headers?.['x-acemq-id']).toBe(one.id);
    });

    test('was never there when its transaction is rolled back', async () => {
      const { store, inTransaction } = await open();
      await inTransaction((tx) => store.add(made('a'), { tx }), 'rollback');
      expect(await store.pendingCount()).toBe(0);
    });

    test('is there once, as it was first, when its id is added twice', async () => {
      const { store, inTransaction } = await open();
      await inTransaction(async (tx) => {
        await store.add(made('a', 'orders', 1), { tx });
        await store.add(made('a', 'orders', 2), { tx });
        await store.add(made('a '), { tx });
        await store.add(made('A'), { tx });
      });
      await inTransaction((tx) => store.add(made('a', 'orders', 3), { tx }));
      expect(await idsOwed(store)).toEqual(['a', 'a ', 'A']);
      const [first] = await store.owed(ALL);
      const [found] = await store.fetch([first?.seq ?? 0]);
      expect(Buffer.from(found?.body ?? []).toString()).toBe('1');
    });

    test('is refused above the limit, with both numbers', async () => {
      const { store, inTransaction } = await open();
      const large = made('a', 'orders', new Uint8Array(store.maxBody + 1));
      await inTransaction(async (tx) => {
        await expect(store.add(large, { tx })).rejects.toThrow(/has \d+ bytes; .* allows \d+/);
        await store.add(made('b'), { tx });
      });
      expect(await idsOwed(store)).toEqual(['b']);
    });
  });

  describe('what is owed', () => {
    test('comes in the order of writing, from behind a place, up to another, so many', async () => {
      const { store } = await withRecords('a', 'b', 'c', 'd');
      const keys = await store.owed(ALL);
      const [a, b, , d] = keys.map(({ seq }) => seq) as [number, number, number, number];
      expect(keys.map(({ seq }) => seq)).toEqual([...keys.map(({ seq }) => seq)].sort((x, y) => x - y));
      expect((await store.owed({ ...ALL, after: a, upTo: d, limit: 2 })).map(({ seq }) => seq)).toEqual([
        b,
        keys[2]?.seq,
      ]);
      expect(await store.owed({ ...ALL, after: d })).toEqual([]);
    });

    test('can be asked for by lane, and with or without destinations', async () => {
      const { store, inTransaction } = await open();
      const names = Array.from({ length: 40 }, (_, index) => `key-${index}`);
      await inTransaction(async (tx) => {
        for (const name of names) await store.add(made(name, name), { tx });
      });
      for (const lanes of [[0], [63], [1, 5, 40], Array.from({ length: 32 }, (_, lane) => lane + 32)]) {
        const keys = await store.owed({ ...ALL, lanes: maskOf(lanes) });
        const expected = names
          .map((name) => destinationHash('', name))
          .filter((one) => lanes.includes(laneOf(one)));
        expect(keys.map(({ destination }) => destination)).toEqual(expected);
      }
      const only = destinationHash('', 'key-7');
      expect((await store.owed({ ...ALL, only })).length).toBe(1);
      expect((await store.owed({ ...ALL, without: [only, destinationHash('', 'key-8')] })).length).toBe(38);
    });

    test('is counted, with its age, by destination', async () => {
      const { store, inTransaction } = await withRecords('a', 'b');
      expect(await (await open()).store.oldestAge()).toBeUndefined();
      await inTransaction((tx) => store.add(made('c', 'mails'), { tx }));
      expect(await store.pendingCount()).toBe(3);
      expect(await store.oldestAge()).toBeGreaterThanOrEqual(0);
      const owed = [...(await store.owedByDestination())].sort((x, y) => x.count - y.count);
      expect(owed).toMatchObject([
        { exchange: '', routingKey: 'mails', count: 1 },
        { exchange: '', routingKey: 'orders', count: 2 },
      ]);
    });
  });

  describe('what is marked', () => {
    test('is owed no more, by whoever has its lane and by nobody else', async () => {
      const { store } = await withRecords('a', 'b', 'c');
      const seqs = (await store.owed(ALL)).map(({ seq }) => seq);
      await ownedBy(store);
      expect(await store.published('b', seqs)).toBe(0);
      expect(await store.published('a', seqs.slice(0, 2))).toBe(2);
      expect(await store.published('a', seqs)).toBe(1);
      expect(await store.fetch(seqs)).toEqual([]);
      expect(await store.pendingCount()).toBe(0);
    });

    test('is removed once it is old enough, and what is owed or retired never is', async () => {
      const { store, age } = await withRecords('a', 'b', 'c', 'd');
      const seqs = (await store.owed(ALL)).map(({ seq }) => seq);
      await ownedBy(store);
      await store.published('a', seqs.slice(0, 2));
      await store.refused('a', [{ seq: seqs[2] ?? 0, reason: 'no', retire: true }], []);
      expect(await store.removePublished(60_000, 1000)).toBe(0);
      await age(120_000);
      expect(await store.removePublished(60_000, 1)).toBe(1);
      expect(await store.removePublished(60_000, 1000)).toBe(1);
      expect(await store.removePublished(60_000, 1000)).toBe(0);
      expect(await store.pendingCount()).toBe(2);
    });

    test('as refused has an attempt less, and at last is retired until somebody releases it', async () => {
      const { store } = await withRecords('a', 'b');
      const [seq = 0] = (await store.owed(ALL)).map((one) => one.seq);
      await ownedBy(store);
      await store.refused('b', [{ seq, reason: 'not yours', retire: false }], []);
      await store.refused('a', [{ seq, reason: 'no queue', retire: false }], []);
      expect(await store.fetch([seq])).toMatchObject([{ attempts: 1 }]);
      await store.refused('a', [{ seq, reason: 'no queue at all', retire: true }], []);
      expect(await idsOwed(store)).toEqual(['b']);
      expect(await store.pendingCount()).toBe(2);
      expect(await store.retired(10)).toMatchObject([
        { id: 'a', exchange: '', routingKey: 'orders', attempts: 2, reason: 'no queue at all' },
      ]);
      expect(await store.release('b')).toBe(false);
      expect(await store.release('a')).toBe(true);
      expect(await store.fetch([seq])).toMatchObject([{ id: 'a', attempts: 0 }]);
    });
  });

  describe('a rest', () => {
    test('is kept for every relay, counted anew each time, and forgotten when it is over', async () => {
      const { store } = await withRecords('a');
      await ownedBy(store);
      const orders = { exchange: '', routingKey: 'orders' };
      await store.refused('a', [], [{ ...orders, remaining: 50_000, refusals: 1 }]);
      await store.refused('a', [], [{ ...orders, remaining: 90_000, refusals: 2 }]);
      const [rest] = await store.rests(ALL_LANES);
      expect(rest).toMatchObject({ ...orders, refusals: 2 });
      expect(rest?.remaining).toBeGreaterThan(50_000);
      const lane = laneOf(destinationHash('', 'orders'));
      expect(await store.rests(maskOf([lane]))).toHaveLength(1);
      expect(await store.rests(maskOf([(lane + 1) % 64]))).toHaveLength(0);
      await store.recovered([orders]);
      expect(await store.rests(ALL_LANES)).toEqual([]);
    });
  });

  describe('lanes', () => {
    test('are shared by the relays that are alive, and each has one owner', async () => {
      const { store } = await open();
      expect(await store.lease('a', 60_000)).toMatchObject({ relays: 1 });
      const second = await store.lease('b', 60_000);
      expect(second).toEqual({ lanes: [], relays: 2 });
      await store.giveUp('b', [1, 2]);
      await store.giveUp(
        'a',
        Array.from({ length: 32 }, (_, lane) => lane),
      );
      expect((await store.lease('b', 60_000)).lanes).toEqual(Array.from({ length: 32 }, (_, lane) => lane));
      expect((await store.lease('a', 60_000)).lanes).toHaveLength(32);
      await store.leave('b');
      expect((await store.lease('a', 60_000)).lanes).toHaveLength(64);
    });

    test('that nobody has renewed are taken over', async () => {
      const { store, age } = await open();
      await store.lease('a', 1000);
      await age(2000);
      await expect.poll(() => store.lease('b', 60_000)).toMatchObject({ relays: 1, lanes: { length: 64 } });
    });
  });

  describe('a transaction of the store', () => {
    test('commits, wakes who watches, and rolls back what throws', async () => {
      const { store } = await open();
      const changes: string[] = [];
      const stop = store.watch((change) => changes.push(change));
      expect(await store.transaction(async () => 7)).toBe(7);
      expect(changes).toEqual(['committed']);
      await expect(store.transaction(() => Promise.reject(new Error('mine')))).rejects.toThrow('mine');
      stop();
      await store.transaction(async () => 8);
      expect(changes).toEqual(['committed']);
    });
  });
}
