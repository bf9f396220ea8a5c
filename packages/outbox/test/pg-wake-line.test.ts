import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type PgListeningClient, PgWakeLine } from '../src/pg-wake-line.ts';

interface Setting {
  readonly client: EventEmitter;
  readonly said: unknown[][];
  readonly woken: () => number;
  readonly asleep: boolean[];
  readonly released: unknown[];
  open(notifies: boolean): Promise<PgWakeLine>;
}

function setting(): Setting {
  const client = new EventEmitter();
  const said: unknown[][] = [];
  const asleep: boolean[] = [];
  const released: unknown[] = [];
  const wake = vi.fn();
  const queries = Object.assign(client, {
    query: async () => undefined,
    release: (destroy: unknown) => void released.push(destroy),
  }) as unknown as PgListeningClient;
  return {
    client,
    said,
    asleep,
    released,
    woken: () => wake.mock.calls.length,
    open: (notifies) =>
      PgWakeLine.open({
        client: queries,
        channel: 'acemq_outbox',
        relay: 'me',
        wake,
        warn: (...words) => void said.push(words),
        asleep: async (flag) => void asleep.push(flag),
        probe: async (payload) => {
          if (notifies) client.emit('notification', { payload });
        },
      }),
  };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a connection that listens', () => {
  test('wakes its relay for what is meant for it, and for nothing else', async () => {
    const { client, woken, open, said } = setting();
    await open(true);
    await vi.advanceTimersByTimeAsync(10_000);
    client.emit('notification', { payload: 'other' });
    expect(woken()).toBe(0);
    client.emit('notification', { payload: 'me' });
    expect(woken()).toBe(1);
    expect(said).toEqual([]);
  });

  test('says so when notifications do not arrive, and asks for none from then on', async () => {
    const { open, said, asleep } = setting();
    const line = await open(false);
    await line.asleep(true);
    await vi.advanceTimersByTimeAsync(3000);
    expect(said).toEqual([[expect.stringMatching(/did not arrive: is there a proxy/)]]);
    await line.asleep(true);
    expect(asleep).toEqual([true, false]);
  });

  test('is given back to be ended when it breaks, once, and wakes the relay to open another', async () => {
    const { client, open, said, released, woken } = setting();
    const line = await open(true);
    client.emit('error', new Error('reset'));
    client.emit('error', new Error('and again'));
    await line.close();
    expect(released).toEqual([true]);
    expect(said).toHaveLength(1);
    expect(woken()).toBe(1);
  });
});
