import { connect } from '@acemq/amqp';
import { topology } from '@acemq/core';
import { memoryBroker } from '@acemq/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type OutboxRecord, record } from '../src/record.ts';
import { OutboxRelay } from '../src/relay.ts';
import type { OutboxStore } from '../src/store.ts';
import { PATIENCE } from './on-broker.ts';
import { SILENT } from './recorder.ts';

/** What a relay does on every store. */
export function relaySuite<Tx, Connection>(
  open: () => Promise<{
    /** Two stores on the same tables, as two processes have them. */
    readonly stores: readonly [OutboxStore<Tx, Connection>, OutboxStore<Tx, Connection>];
    inTransaction(work: (tx: Tx) => Promise<unknown>): Promise<void>;
  }>,
): void {
  test('two relays share the lanes and publish each record once, each destination in order', async () => {
    const { stores, inTransaction } = await open();
    const broker = memoryBroker();
    const mq = await connect(broker, { logger: SILENT });
    onTestFinished(() => mq.close({ timeout: 0 }).then(() => undefined));
    await mq.declare(topology().exchange('shop', 'topic').queue('all').bind('all', 'shop', '#'));
    const relays = stores.map(
      (store) => new OutboxRelay(mq, store, { interval: 50, lease: '2s', logger: SILENT }),
    );
    for (const relay of relays) relay.start();
    onTestFinished(async () => {
      for (const relay of relays) await relay.close();
    });
    const written: OutboxRecord[] = [];
    const keys = Array.from({ length: 20 }, (_, index) => `key.${index}`);
    const round = async (): Promise<void> => {
      const records = keys.map((routingKey) => record(mq, { exchange: 'shop', routingKey, payload: 1 }));
      await inTransaction(async (tx) => {
        for (const one of records) await stores[0].add(one, { tx });
      });
      written.push(...records);
    };
    for (let count = 0; count < 20; count += 1) await round();
    await vi.waitFor(async () => expect(await stores[0].pendingCount()).toBe(0), PATIENCE);
    // By then each has its half, and more is published.
    await vi.waitFor(
      async () => expect((await stores[1].lease(relays[1]?.id ?? '', 2000)).lanes).toHaveLength(32),
      PATIENCE,
    );
    for (let count = 0; count < 10; count += 1) await round();
    await vi.waitFor(async () => expect(await stores[0].pendingCount()).toBe(0), PATIENCE);
    const seen = broker.messages('all').map(({ messageId }) => messageId);
    expect(seen).toHaveLength(written.length);
    const keyOf = new Map(written.map((one) => [one.id, one.routingKey]));
    for (const key of keys) {
      const ids = written.filter((one) => one.routingKey === key).map(({ id }) => id);
      expect(seen.filter((id) => keyOf.get(id ?? '') === key)).toEqual(ids);
    }
  }, 30_000);

  test('a destination that was refused rests for every relay, and is reached again', async () => {
    const { stores, inTransaction } = await open();
    const broker = memoryBroker();
    const mq = await connect(broker, { logger: SILENT });
    onTestFinished(() => mq.close({ timeout: 0 }).then(() => undefined));
    const one = record(mq, { routingKey: 'later', payload: 1 });
    await inTransaction((tx) => stores[0].add(one, { tx }));
    const first = new OutboxRelay(mq, stores[0], { logger: SILENT, rest: { first: 300, longest: 300 } });
    await expect(first.sweep()).rejects.toMatchObject({ code: 'ACEMQ_PUBLISH_UNROUTABLE' });
    await first.close();
    await mq.declare(topology().queue('later'));
    const second = new OutboxRelay(mq, stores[1], { interval: 20, logger: SILENT });
    onTestFinished(() => second.close());
    expect(await second.sweep()).toBe(0);
    second.start();
    await vi.waitFor(async () => expect(await stores[1].pendingCount()).toBe(0), PATIENCE);
    await vi.waitFor(async () => expect(await stores[1].rests(-1n)).toEqual([]), PATIENCE);
    expect(broker.depth('later')).toBe(1);
  });
}
