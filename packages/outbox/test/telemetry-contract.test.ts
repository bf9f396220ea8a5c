import { readFileSync } from 'node:fs';
import { Metrics } from '@acemq/observe';
import { manualClock } from '@acemq/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { MemoryOutboxStore, OutboxRelay, record } from '../src/index.ts';
import { heldPublisher, recorder, SILENT } from './recorder.ts';

type Numbers = Readonly<Record<string, number>>;
interface Moment {
  readonly of: string;
  readonly when: string;
  readonly counted: Numbers;
  readonly totals: Numbers;
  readonly gauges: Numbers;
}

const fixture = JSON.parse(
  readFileSync(new URL('../../../contract-fixtures/telemetry.json', import.meta.url), 'utf8'),
) as { readonly moments: readonly Moment[] };
const moments = fixture.moments.filter(({ of }) => of === 'outbox');

/** How long after the commit the relay begins, in milliseconds, and what the broker says. */
const SCENES: Readonly<Record<string, readonly [later: number, verdict: 'confirmed' | 'unroutable']>> = {
  'a relay publishes a record that was committed an hour before': [3_600_000, 'confirmed'],
  'a relay publishes a record that was committed later, by its clock': [-5_000, 'confirmed'],
  'the broker refuses a record': [0, 'unroutable'],
};

describe('a number of the outbox moves when the contract says so, and no other does', () => {
  test.for(moments.map((moment) => [moment.when, moment] as const))('%s', async ([when, moment]) => {
    const scene = SCENES[when];
    if (scene === undefined) throw new Error(`nothing here makes it happen that ${when}`);
    const [later, verdict] = scene;
    const clock = manualClock();
    const store = new MemoryOutboxStore({ clock });
    const mq = heldPublisher();
    const metrics = new Metrics();
    const relay = new OutboxRelay(mq, store, { clock, observer: metrics, logger: SILENT });
    onTestFinished(() => relay.close());
    const orders = { routingKey: 'orders', exchange: '', payload: 1 };
    await store.add(record(recorder(), { id: 'o-1', ...orders }), { tx: undefined });
    await clock.advance(Math.max(0, later));
    const fetch = store.fetch.bind(store);
    // The store's clock decides about the age; no clock here goes back.
    vi.spyOn(store, 'fetch').mockImplementation(async (seqs) =>
      (await fetch(seqs)).map((one) => (later < 0 ? { ...one, age: later } : one)),
    );
    relay.start();
    await clock.advance(0);
    expect(mq.held).toHaveLength(1);
    mq.held[0]?.answer(verdict);
    await clock.advance(0);
    const { counts, durations, gauges } = metrics;
    const samples = [...durations].map(([key, { count }]) => [key, count] as const);
    expect(Object.fromEntries([...counts, ...samples])).toEqual(moment.counted);
    expect(Object.fromEntries([...durations].map(([key, { total }]) => [key, total]))).toEqual(moment.totals);
    expect(Object.fromEntries(gauges)).toEqual(moment.gauges);
  });

  test('every scene is one of the contract', () => {
    expect(Object.keys(SCENES).sort()).toEqual(moments.map(({ when }) => when).sort());
  });
});
