import { BrokerRefusedError, ConnectionLostError, PublishError } from '@acemq/core';
import { Metrics, metricKey } from '@acemq/observe';
import { type ManualClock, manualClock } from '@acemq/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { MemoryOutboxStore } from '../src/memory-store.ts';
import { record } from '../src/record.ts';
import { OutboxRelay } from '../src/relay.ts';
import type { RelayFailure, RelayOptions } from '../src/relay-options.ts';
import { type Held, heldPublisher, recorder, SILENT } from './recorder.ts';

interface Setting {
  readonly clock: ManualClock;
  readonly store: MemoryOutboxStore;
  readonly mq: ReturnType<typeof heldPublisher>;
  readonly relay: OutboxRelay;
  readonly metrics: Metrics;
  readonly failures: RelayFailure[];
  add(id: string, routingKey?: string, exchange?: string): Promise<void>;
  /** What is out and not answered. */
  out(): Held[];
  idsOut(): (string | undefined)[];
  answerAll(): Promise<void>;
}

function setting(options: RelayOptions = {}): Setting {
  const clock = manualClock();
  const store = new MemoryOutboxStore({ clock });
  const mq = heldPublisher();
  const metrics = new Metrics();
  const failures: RelayFailure[] = [];
  const relay = new OutboxRelay(mq, store, {
    clock,
    observer: metrics,
    logger: SILENT,
    onError: (_error, where) => failures.push(where),
    ...options,
  });
  onTestFinished(async () => {
    const closing = relay.close();
    for (const one of mq.held) one.answer('unsent');
    await closing;
  });
  const answered = new Set<Held>();
  const out = (): Held[] => mq.held.filter((one) => !answered.has(one));
  return {
    clock,
    store,
    mq,
    relay,
    metrics,
    failures,
    add: (id, routingKey = 'orders', exchange = '') =>
      store.add(record(recorder(), { id, routingKey, exchange, payload: id }), { tx: undefined }),
    out: () => {
      const now = out();
      return now.map((one) => ({
        ...one,
        answer: (verdict, error) => {
          answered.add(one);
          one.answer(verdict, error);
        },
      }));
    },
    idsOut: () => out().map(({ message }) => message.messageId),
    answerAll: async () => {
      for (const one of out()) {
        answered.add(one);
        one.answer('confirmed');
      }
      await clock.advance(0);
    },
  };
}

const GONE = new ConnectionLostError('the link is gone');

describe('a relay', () => {
  test('publishes what is owed in the order of writing, mandatory and persistent, and marks it when it is confirmed', async () => {
    const { relay, add, mq, clock, store, out, answerAll } = setting();
    for (const id of ['a', 'b', 'c']) await add(id);
    relay.start();
    relay.start();
    await clock.advance(0);
    expect(mq.sent).toEqual(['a', 'b', 'c']);
    expect(out()[0]?.message).toMatchObject({
      persistent: true,
      mandatory: true,
      messageId: 'a',
      contentType: 'application/json',
      headers: { 'x-acemq-id': 'a', 'x-acemq-type': 'orders' },
    });
    expect(await store.pendingCount()).toBe(3);
    await answerAll();
    expect(await store.pendingCount()).toBe(0);
    expect(mq.sent).toEqual(['a', 'b', 'c']);
  });

  test('has at most a window of a destination out, and goes on as confirms come', async () => {
    const { relay, add, clock, idsOut, answerAll } = setting({ window: 2 });
    for (const id of ['a', 'b', 'c', 'd', 'e']) await add(id);
    await add('x', 'mails');
    relay.start();
    await clock.advance(0);
    expect(idsOut()).toEqual(['a', 'x', 'b']);
    await answerAll();
    expect(idsOut()).toEqual(['c', 'd']);
  });

  test('sends one at a time with strictOrder', async () => {
    const { relay, add, clock, idsOut, answerAll } = setting({ strictOrder: true });
    for (const id of ['a', 'b']) await add(id);
    relay.start();
    await clock.advance(0);
    expect(idsOut()).toEqual(['a']);
    await answerAll();
    expect(idsOut()).toEqual(['b']);
  });

  test('lets a destination rest after a refusal, twice as long each time, and no other', async () => {
    const { relay, add, clock, idsOut, out, answerAll, store, mq } = setting();
    for (const id of ['a', 'b']) await add(id);
    relay.start();
    await clock.advance(0);
    out()[0]?.answer('unroutable');
    out()[0]?.answer('confirmed'); // It was out already, so it may overtake.
    await clock.advance(0);
    await add('c');
    await add('x', 'mails');
    await clock.advance(900);
    expect(idsOut()).toEqual(['x']);
    await answerAll();
    await clock.advance(150);
    expect(idsOut()).toEqual(['a']); // Alone, though c waits as well.
    out()[0]?.answer('unroutable');
    await clock.advance(1900);
    expect(idsOut()).toEqual([]);
    await clock.advance(200);
    expect(idsOut()).toEqual(['a']);
    await answerAll();
    await clock.advance(1100);
    expect(mq.sent.slice(-1)).toEqual(['c']);
    await answerAll();
    expect(await store.rests(-1n)).toEqual([]);
    expect(await store.pendingCount()).toBe(0);
  });

  test('retires a record that was refused as often as allowed, and sends the rest in order', async () => {
    const { relay, add, clock, out, mq, failures } = setting({ maxAttempts: 3, window: 1 });
    for (const id of ['bad', 'b', 'c']) await add(id);
    relay.start();
    for (let step = 0; step < 200; step += 1) {
      await clock.advance(100);
      for (const one of out()) one.answer(one.message.messageId === 'bad' ? 'nacked' : 'confirmed');
    }
    expect(mq.sent).toEqual(['bad', 'bad', 'bad', 'b', 'c']);
    expect(failures.map(({ id, retired }) => [id, retired])).toEqual([
      ['bad', false],
      ['bad', false],
      ['bad', true],
    ]);
    expect(await relay.retired()).toMatchObject([
      { id: 'bad', attempts: 3, reason: expect.stringContaining('it was nacked') },
    ]);
    expect(await relay.owedByDestination()).toEqual([]);
    expect(await relay.pendingCount()).toBe(1);
    expect(await relay.release('bad')).toBe(true);
    await clock.advance(5000);
    expect(out().map(({ message }) => message.messageId)).toEqual(['bad']);
  });

  test('spends no attempt in an outage, rests as a whole, and begins again at the first that is not marked', async () => {
    const { relay, add, clock, out, idsOut, mq, store, answerAll } = setting();
    for (const id of ['a', 'b', 'c']) await add(id);
    await add('x', 'mails');
    relay.start();
    await clock.advance(0);
    for (const one of out()) one.answer('cut', GONE);
    await clock.advance(900);
    expect(idsOut()).toEqual([]);
    for (let hour = 0; hour < 3600; hour += 10) {
      for (const one of out()) one.answer('unsent', GONE);
      await clock.advance(10_000);
    }
    // One try every 30 s, and not each record every second.
    expect(mq.sent.length).toBeLessThan(4 + 3600 / 30 + 10);
    expect(await store.fetch([1, 2, 3, 4])).toMatchObject([0, 0, 0, 0].map((attempts) => ({ attempts })));
    const taken: (string | undefined)[] = [];
    for (let step = 0; step < 20; step += 1) {
      taken.push(...idsOut());
      await answerAll();
      await clock.advance(5000);
    }
    expect(taken.filter((id) => id !== 'x')).toEqual(['a', 'b', 'c']);
    expect(taken).toHaveLength(4);
    expect(await store.pendingCount()).toBe(0);
  });

  test('sends again in order what was cut off, once nothing of the destination is out', async () => {
    const { relay, add, clock, out, idsOut, mq, answerAll } = setting();
    for (const id of ['a', 'b', 'c']) await add(id);
    await add('x', 'mails');
    relay.start();
    await clock.advance(0);
    const [a, , b, c] = out();
    out()
      .find(({ message }) => message.messageId === 'x')
      ?.answer('confirmed');
    a?.answer('cut', new PublishError('no confirm', { code: 'ACEMQ_PUBLISH_TIMEOUT' }));
    await clock.advance(5000);
    expect(idsOut()).toEqual(['b', 'c']);
    b?.answer('confirmed');
    c?.answer('confirmed');
    await clock.advance(5000);
    expect(idsOut()).toEqual(['a']);
    await answerAll();
    expect(mq.sent).toEqual(['a', 'x', 'b', 'c', 'a']);
  });

  test('finds out which record it was that closed the channel of several, and blames no other', async () => {
    const { relay, add, clock, out, store } = setting({ maxAttempts: 2 });
    const refusal = new PublishError('cut off', { cause: new BrokerRefusedError(403, 'ACCESS_REFUSED') });
    for (const id of ['a', 'b']) await add(id, 'fine', 'shop');
    for (const id of ['bad', 'c']) await add(id, 'secret', 'shop');
    await add('x', 'mails');
    relay.start();
    await clock.advance(0);
    for (const one of out()) {
      if (one.exchange === 'shop') one.answer('cut', refusal);
      else one.answer('confirmed');
    }
    let most = 0;
    for (let step = 0; step < 100; step += 1) {
      await clock.advance(100);
      const onShop = out().filter(({ exchange }) => exchange === 'shop');
      if (step < 5) most = Math.max(most, onShop.length);
      for (const one of out()) {
        const isBad = one.message.messageId === 'bad';
        if (isBad && onShop.length > 1) one.answer('cut', refusal);
        else one.answer(isBad ? 'refused' : 'confirmed', refusal);
      }
    }
    expect(most).toBe(1);
    expect(await relay.retired()).toMatchObject([{ id: 'bad', attempts: 2 }]);
    expect(await store.pendingCount()).toBe(1);
    expect(store.fetch).toBeDefined();
  });

  test('waits in close() for what is out, marks it, publishes nothing after, and gives its lanes up', async () => {
    const { relay, add, clock, out, mq, store } = setting({ window: 1 });
    for (const id of ['a', 'b']) await add(id);
    relay.start();
    await clock.advance(0);
    const closing = relay.close();
    const closed = vi.fn();
    closing.then(closed, closed);
    await clock.advance(100);
    expect(closed).not.toHaveBeenCalled();
    out()[0]?.answer('confirmed');
    await closing;
    expect(mq.sent).toEqual(['a']);
    expect(await store.pendingCount()).toBe(1);
    expect(await store.lease('next', 1000)).toMatchObject({ relays: 1, lanes: { length: 64 } });
    await expect(relay.sweep()).rejects.toMatchObject({ code: 'ACEMQ_CONNECTION_CLOSED' });
    expect(() => relay.start()).toThrow(/closed/);
    expect(clock.timers).toBe(0);
  });

  test('may be closed before it was started', async () => {
    const { relay } = setting();
    await relay.close();
    await relay.close();
  });

  test('looks at its interval when nothing wakes it, and at once when something does', async () => {
    const { relay, add, clock, mq, store } = setting({ interval: '30s' });
    relay.start();
    await clock.advance(100);
    await add('a'); // In this process, so it looks soon.
    await clock.advance(5);
    expect(mq.sent).toEqual(['a']);
    await clock.advance(1000);
    await store.transaction((tx) =>
      store.add(record(recorder(), { id: 'b', routingKey: 'q', payload: 1 }), { tx }),
    );
    await clock.advance(0);
    expect(mq.sent).toEqual(['a', 'b']);
  });
});

describe('a sweep', () => {
  test('resolves to how many were published, and to 0 when nothing is owed', async () => {
    const { relay, add, clock, answerAll, store } = setting({ window: 2 });
    const first = relay.sweep();
    await clock.advance(0);
    expect(await first).toBe(0);
    for (const id of ['a', 'b', 'c']) await add(id);
    const both = [relay.sweep(), relay.sweep()];
    for (let step = 0; step < 4; step += 1) {
      await clock.advance(0);
      await answerAll();
    }
    expect(await Promise.all(both)).toEqual([3, 3]);
    expect(await store.pendingCount()).toBe(0);
  });

  test('rejects with the first failure; the record stays', async () => {
    const { relay, add, clock, out, store } = setting();
    await add('a');
    const sweep = relay.sweep();
    const failed = expect(sweep).rejects.toThrow('it was unroutable');
    await clock.advance(0);
    out()[0]?.answer('unroutable');
    await clock.advance(0);
    await failed;
    expect(await store.pendingCount()).toBe(1);
  });

  test('rejects when the store cannot be read', async () => {
    const { relay, store } = setting();
    vi.spyOn(store, 'lease').mockRejectedValueOnce(new Error('the database is away'));
    await expect(relay.sweep()).rejects.toThrow('the database is away');
  });
});

describe('the numbers', () => {
  test('count each record and time its wait from the write', async () => {
    const { relay, add, clock, metrics, answerAll } = setting();
    await add('a');
    // Seed 000: "The lag is measured from the record's own commit, not from the sweep that picked it up." and
    // "timed from the sweep, a relay that has been down for an hour reports the same handful of milliseconds".
    await clock.advance(3_600_000);
    relay.start();
    await clock.advance(0);
    await answerAll();
    const labels = { exchange: '', outcome: 'published', 'routing.key': 'orders' };
    expect([...metrics.counts]).toEqual([[metricKey('acemq.outbox.total', labels), 1]]);
    expect([...metrics.durations.keys()]).toEqual([metricKey('acemq.outbox.lag', labels)]);
    expect([...metrics.durations.values()]).toMatchObject([{ count: 1, total: 3600 }]);
  });

  // Seed 000: "A relay that is stopped … publishes nothing, so it records no lag at all and the series goes quiet", and
  // "with outcome="failed" climbing when the broker is the reason".
  test('count a failure as failed, and give it no lag', async () => {
    const { relay, add, clock, metrics, out } = setting();
    await add('a');
    relay.start();
    await clock.advance(0);
    out()[0]?.answer('unroutable');
    await clock.advance(0);
    const labels = { exchange: '', outcome: 'failed', 'routing.key': 'orders' };
    expect([...metrics.counts]).toEqual([[metricKey('acemq.outbox.total', labels), 1]]);
    expect(metrics.durations.size).toBe(0);
  });

  // Seed 000: "A commit clock ahead of the sweeping one reads as zero rather than as a negative."
  test('read a wait of less than nothing as none', async () => {
    const { relay, add, clock, metrics, store, answerAll } = setting();
    await add('a');
    const fetch = store.fetch.bind(store);
    vi.spyOn(store, 'fetch').mockImplementation(async (seqs) =>
      (await fetch(seqs)).map((one) => ({ ...one, age: -5000 })),
    );
    relay.start();
    await clock.advance(0);
    await answerAll();
    expect([...metrics.durations.values()]).toMatchObject([{ count: 1, total: 0 }]);
  });
});

describe('a logger', () => {
  test('that fails stops no relay', async () => {
    const fail = (): never => {
      throw new Error('the log is full');
    };
    const { relay, add, clock, mq, out, answerAll } = setting({
      logger: { debug: fail, info: fail, warn: fail, error: fail },
    });
    await add('a');
    relay.start();
    await clock.advance(0);
    out()[0]?.answer('unroutable');
    await clock.advance(60_000);
    await answerAll();
    expect(mq.sent).toEqual(['a', 'a']);
  });

  test('that cannot warn is refused', () => {
    expect(() => setting({ logger: {} as never })).toThrow(
      'logger must have the methods warn, error; missing: warn, error',
    );
  });
});
