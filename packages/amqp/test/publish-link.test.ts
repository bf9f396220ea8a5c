import {
  BrokerRefusedError,
  ConnectionLostError,
  EncodeError,
  type PublishVerdict,
  systemClock,
} from '@acemq/core';
import { type ManualClock, manualClock } from '@acemq/testing';
import { describe, expect, it, vi } from 'vitest';
import { Pending, type PublishFailure } from '../src/publishing/pending.ts';
import { PublishLink } from '../src/publishing/publish-link.ts';
import { FakeLink } from './fake-link.ts';

const TIMEOUT = 10_000;

/** A publish that writes down how it ended. */
class Probe extends Pending {
  readonly ends: (PublishVerdict | PublishFailure)[] = [];

  constructor(key: string, options: { readonly exchange?: string; readonly copy?: boolean } = {}) {
    const message = {
      body: new Uint8Array(),
      messageId: key,
      headers: {},
      persistent: true,
      mandatory: true,
    };
    super(options.exchange ?? 'x', key, message, options.copy ?? false);
  }

  judged(verdict: PublishVerdict): void {
    this.ends.push(verdict);
  }

  failed(failure: PublishFailure): void {
    this.ends.push(failure);
  }

  /** How it ended, in a word; `open` while it has not. */
  get end(): string {
    const [end, ...more] = this.ends;
    if (more.length > 0) return `ended ${this.ends.length} times`;
    return end === undefined ? 'open' : typeof end === 'string' ? end : end.kind;
  }

  get failure(): PublishFailure {
    const [end] = this.ends;
    if (typeof end !== 'object') throw new Error(`it has not failed but is ${String(end)}`);
    return end;
  }
}

interface Stage {
  readonly clock: ManualClock;
  readonly link: FakeLink;
  readonly publishing: PublishLink;
  /** Publishes one message for each key and gives back their probes. */
  send(...keys: string[]): Probe[];
  /** Lets what was promised happen. */
  rest(): Promise<void>;
}

function stage(permits = 2, opens = true, attached = true): Stage {
  const clock = manualClock();
  const link = new FakeLink(opens);
  const publishing = new PublishLink({ clock, confirmTimeout: TIMEOUT, permits });
  if (attached) publishing.attach(link.link);
  return {
    clock,
    link,
    publishing,
    send(...keys) {
      return keys.map((key) => {
        const probe = new Probe(key);
        publishing.publish(probe);
        return probe;
      });
    },
    rest: () => clock.advance(0),
  };
}

const ends = (probes: readonly Probe[]): string[] => probes.map((probe) => probe.end);

describe('permits', () => {
  it('lets as many be outstanding as there are permits, and the rest wait in order', async () => {
    const { link, publishing, send, rest } = stage(2);
    const sent = send('a', 'b', 'c', 'd', 'e');
    await rest();
    expect(link.channels[0]?.keys).toEqual(['a', 'b']);
    expect([publishing.outstanding, publishing.waiting]).toEqual([2, 3]);
    link.channels[0]?.answer();
    expect(link.channels[0]?.keys).toEqual(['a', 'b', 'c']);
    link.channels[0]?.answer('confirmed', 2);
    link.channels[0]?.answer('confirmed', 2);
    expect(link.channels[0]?.keys).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(ends(sent)).toEqual(['confirmed', 'confirmed', 'confirmed', 'confirmed', 'confirmed']);
    expect([publishing.outstanding, publishing.waiting]).toEqual([0, 0]);
  });

  it('gives a permit back for a nack, a return, a refusal to encode and a cut', async () => {
    const { link, send, rest } = stage(1);
    const [nacked, returned, unwritable, cut, last] = send('a', 'b', 'c', 'd', 'e');
    await rest();
    const channel = link.channels[0];
    channel?.answer('nacked');
    if (channel !== undefined) channel.refusal = new EncodeError('no such header');
    channel?.answer('unroutable');
    expect(ends([nacked, returned] as Probe[])).toEqual(['nacked', 'unroutable']);
    expect(unwritable?.end).toBe('unwritable');
    // `d` and `e` met the same channel, and it refused them too.
    expect(ends([cut, last] as Probe[])).toEqual(['unwritable', 'unwritable']);
    if (channel !== undefined) channel.refusal = undefined;
    const [f] = send('f');
    channel?.end(new ConnectionLostError('gone'));
    expect(f?.end).toBe('cut');
    const [g] = send('g');
    await rest();
    link.channels[1]?.answer();
    expect(g?.end).toBe('confirmed');
  });

  it('does not let a newcomer past those who wait', async () => {
    const { link, send, rest } = stage(1);
    send('a', 'b');
    await rest();
    send('c');
    link.channels[0]?.answer();
    link.channels[0]?.answer();
    link.channels[0]?.answer();
    expect(link.channels[0]?.keys).toEqual(['a', 'b', 'c']);
  });

  it('asks none for a copy, which has a channel of its own', async () => {
    const { link, publishing, send, rest } = stage(1);
    send('a', 'b');
    const copy = new Probe('copy', { exchange: '', copy: true });
    publishing.publish(copy);
    await rest();
    expect(link.channels.map((channel) => channel.keys)).toEqual([['a'], ['copy']]);
    link.channels[1]?.answer();
    expect(copy.end).toBe('confirmed');
    // The copy's end freed no permit.
    expect(link.channels[0]?.keys).toEqual(['a']);
  });

  it('publishes a copy and a message to the default exchange on different channels', async () => {
    const { link, publishing, rest } = stage();
    publishing.publish(new Probe('own', { exchange: '' }));
    publishing.publish(new Probe('copy', { exchange: '', copy: true }));
    await rest();
    expect(link.channels.map((channel) => channel.keys)).toEqual([['own'], ['copy']]);
  });

  it('says when there is room, to everybody who asked', async () => {
    const { link, publishing, send, rest } = stage(1);
    expect(publishing.hasRoom).toBe(true);
    send('a');
    await rest();
    expect(publishing.hasRoom).toBe(false);
    const asked = Promise.all([publishing.room(), publishing.room()]);
    link.channels[0]?.answer();
    expect(await asked).toEqual([undefined, undefined]);
  });

  it('tells nothing from within publish', () => {
    const { send } = stage(1);
    expect(ends(send('a', 'b'))).toEqual(['open', 'open']);
  });
});

describe('time-outs', () => {
  it('ends the wait for a confirm a time-out after the write, not after the call', async () => {
    const { clock, link, send } = stage(5, false);
    const [a] = send('a');
    await clock.advance(6_000);
    link.openNext();
    await clock.advance(TIMEOUT - 1);
    expect(a?.end).toBe('open');
    await clock.advance(1);
    expect(a?.failure).toEqual({ kind: 'timeout', reason: 'the broker did not confirm it within 10000 ms' });
  });

  it('ends the wait for a channel after one, with nothing written', async () => {
    const { clock, link, publishing, send, rest } = stage(5, false);
    const [a] = send('a');
    await clock.advance(TIMEOUT - 1);
    expect(a?.end).toBe('open');
    await clock.advance(1);
    expect(a?.failure).toEqual({ kind: 'stalled', reason: 'no channel was open for it within 10000 ms' });
    link.openNext();
    await rest();
    expect(link.channels[0]?.written).toEqual([]);
    expect(publishing.outstanding).toBe(0);
  });

  it('counts the wait for a permit from the last permit that came back', async () => {
    const { clock, link, send } = stage(1);
    const [a, b, c] = send('a', 'b', 'c');
    await clock.advance(9_000);
    link.channels[0]?.answer();
    await clock.advance(9_000);
    // `c` has waited 18 s, and something has moved all the time.
    expect(ends([a, b, c] as Probe[])).toEqual(['confirmed', 'open', 'open']);
    link.channels[0]?.answer();
    link.channels[0]?.answer();
    expect(c?.end).toBe('confirmed');
  });

  it('gives up waiting when no permit came back for the whole time-out', async () => {
    const { clock, link, publishing, send } = stage(1);
    send('a');
    await clock.advance(1_000);
    const copy = new Probe('copy', { copy: true });
    publishing.publish(copy);
    const [b] = send('b');
    await clock.advance(9_000);
    // The one that held the permit gave it back by timing out, before `b` had waited as long itself.
    expect(link.channels[0]?.keys).toEqual(['a', 'b']);
    expect(b?.end).toBe('open');
    await clock.advance(TIMEOUT);
    expect(b?.end).toBe('timeout');
  });

  it('gives up waiting for a link that stays down, with nothing written', async () => {
    const { clock, publishing, send } = stage(5, true, false);
    const sent = send('a', 'b');
    await clock.advance(TIMEOUT - 1);
    expect(ends(sent)).toEqual(['open', 'open']);
    const [late] = send('c');
    await clock.advance(1);
    expect(ends(sent)).toEqual(['stalled', 'stalled']);
    expect(sent[0]?.failure).toEqual({
      kind: 'stalled',
      reason: 'there was no connection to publish on for 10000 ms',
    });
    expect(late?.end).toBe('open');
    await clock.advance(TIMEOUT - 1);
    expect(late?.end).toBe('stalled');
    expect(publishing.waiting).toBe(0);
  });

  it('counts the wait for a link from the moment it went', async () => {
    const { clock, link, publishing, send } = stage(1, false);
    const [, b] = send('a', 'b');
    await clock.advance(8_000);
    link.lose();
    publishing.detach();
    await clock.advance(TIMEOUT - 1);
    expect(b?.end).toBe('open');
    await clock.advance(1);
    expect(b?.end).toBe('stalled');
  });

  it('tells a batch that nobody got a permit', async () => {
    const { clock, publishing, send } = stage(1, false);
    send('a');
    publishing.detach();
    const asked = publishing.room();
    await clock.advance(TIMEOUT);
    expect(await asked).toMatchObject({ kind: 'stalled' });
  });

  it('sets one timer, however many wait, and none when nothing does', async () => {
    const { clock, link, publishing, send, rest } = stage(100);
    send(...Array.from({ length: 100 }, (_, at) => `key-${at}`));
    await rest();
    expect(clock.timers).toBe(1);
    link.channels[0]?.answer('confirmed', 100);
    await clock.advance(TIMEOUT);
    expect(clock.timers).toBe(0);
    expect(publishing.outstanding).toBe(0);
  });

  it('does not end a wait whose answer is there, unread, since something else has kept the process busy', async () => {
    const link = new FakeLink();
    const publishing = new PublishLink({ clock: systemClock, confirmTimeout: 50, permits: 1 });
    publishing.attach(link.link);
    const sent = [new Probe('a'), new Probe('b')];
    for (const probe of sent) publishing.publish(probe);
    // The time-out is due before anything is read, and the answer comes with the next immediate.
    setImmediate(() => {
      const started = performance.now();
      while (performance.now() - started < 100);
      setImmediate(() => link.channels[0]?.answer());
    });
    await vi.waitFor(() => expect(sent[0]?.ends).toHaveLength(1));
    expect(ends(sent)).toEqual(['confirmed', 'open']);
    link.channels[0]?.answer();
    expect(ends(sent)).toEqual(['confirmed', 'confirmed']);
  });

  it('does not tell a late confirm to anybody', async () => {
    const { clock, link, send } = stage(1);
    const [a] = send('a');
    await clock.advance(TIMEOUT);
    expect(a?.end).toBe('timeout');
    link.channels[0]?.answer();
    expect(a?.end).toBe('timeout');
    const [b] = send('b');
    link.channels[0]?.answer();
    expect(b?.end).toBe('confirmed');
  });
});

describe('a block', () => {
  it('refuses at once what comes while it lasts', () => {
    const { publishing, send } = stage();
    publishing.block('low on memory');
    expect(send('a')[0]?.failure).toEqual({ kind: 'paused', reason: 'low on memory' });
    expect(publishing.ready).toBe(false);
  });

  it('refuses what waits for a permit, and leaves what is written to its confirm', async () => {
    const { clock, link, publishing, send, rest } = stage(1);
    const [a, b] = send('a', 'b');
    await rest();
    publishing.block('low on disk');
    expect(ends([a, b] as Probe[])).toEqual(['open', 'paused']);
    link.channels[0]?.answer();
    expect(a?.end).toBe('confirmed');
    publishing.unblock();
    const [c, d] = send('c', 'd');
    publishing.block('low on disk again');
    await clock.advance(TIMEOUT);
    expect(ends([c, d] as Probe[])).toEqual(['timeout', 'paused']);
    expect(link.channels[0]?.keys).toEqual(['a', 'c']);
  });

  it('lets a copy that is written wait as long as it lasts, and a whole time-out after it', async () => {
    const { clock, link, publishing, send, rest } = stage(3);
    const copies = ['c', 'd'].map((key) => new Probe(key, { exchange: '', copy: true }));
    for (const copy of copies) publishing.publish(copy);
    const [a] = send('a');
    await rest();
    publishing.block('low on memory');
    await clock.advance(TIMEOUT * 3 + 1);
    expect(ends([...copies, a as Probe])).toEqual(['open', 'open', 'timeout']);
    publishing.unblock();
    await clock.advance(TIMEOUT - 1);
    link.channels[0]?.answer();
    expect(ends(copies)).toEqual(['confirmed', 'open']);
    await clock.advance(1);
    expect(ends(copies)).toEqual(['confirmed', 'timeout']);
  });

  it('refuses what waits for its channel, and writes none of it later', async () => {
    const { link, publishing, send, rest } = stage(3, false);
    const sent = send('a', 'b');
    publishing.block('low on memory');
    expect(ends(sent)).toEqual(['paused', 'paused']);
    link.openNext();
    publishing.unblock();
    await rest();
    expect(link.channels[0]?.written).toEqual([]);
    const [c] = send('c');
    link.channels[0]?.answer();
    expect(c?.end).toBe('confirmed');
  });

  it('refuses what waits for a link', () => {
    const { publishing, send } = stage(1, true, false);
    const [a] = send('a');
    publishing.block('low on memory');
    expect(a?.end).toBe('paused');
  });

  it('ends the wait for room, since the publish itself will say so', async () => {
    const { publishing, send } = stage(1);
    send('a');
    const asked = publishing.room();
    publishing.block('low on memory');
    expect(await asked).toBeUndefined();
    expect(await publishing.room()).toBeUndefined();
  });

  it('is over with the link that was blocked', async () => {
    const { link, publishing, send, rest } = stage();
    publishing.block('low on memory');
    link.lose();
    publishing.detach();
    const [a] = send('a');
    expect(a?.end).toBe('open');
    const next = new FakeLink();
    publishing.attach(next.link);
    await rest();
    next.channels[0]?.answer();
    expect(a?.end).toBe('confirmed');
  });

  it('tells those who wait for readiness when it ends, once', () => {
    const { publishing } = stage();
    let told = 0;
    publishing.block('low on memory');
    publishing.whenReady(() => {
      told += 1;
    });
    publishing
      .whenReady(() => {
        told += 100;
      })
      .cancel();
    expect(told).toBe(0);
    publishing.unblock();
    publishing.block('again');
    publishing.unblock();
    expect(told).toBe(1);
  });
});

describe('an abort', () => {
  it('takes out what waits, and never writes it', async () => {
    const { link, publishing, send, rest } = stage(1);
    const [, b, c] = send('a', 'b', 'c');
    await rest();
    publishing.abort(b as Probe, 'enough');
    expect(b?.failure).toEqual({ kind: 'aborted', written: false, cause: 'enough' });
    link.channels[0]?.answer();
    expect(link.channels[0]?.keys).toEqual(['a', 'c']);
    link.channels[0]?.answer();
    expect(ends([b, c] as Probe[])).toEqual(['aborted', 'confirmed']);
  });

  it('takes out what waits for its channel, gives its permit back and never writes it', async () => {
    const { link, publishing, send, rest } = stage(1, false);
    const [a, b] = send('a', 'b');
    publishing.abort(a as Probe, 'enough');
    expect(a?.failure).toMatchObject({ written: false });
    link.openNext();
    await rest();
    expect(link.channels[0]?.keys).toEqual(['b']);
    link.channels[0]?.answer();
    expect(b?.end).toBe('confirmed');
  });

  it('says that what is written may arrive, and keeps its permit until the broker answers', async () => {
    const { link, publishing, send, rest } = stage(1);
    const [a, b] = send('a', 'b');
    await rest();
    publishing.abort(a as Probe, 'enough');
    expect(a?.ends[0]).toEqual({ kind: 'aborted', written: true, cause: 'enough' });
    expect(link.channels[0]?.keys).toEqual(['a']);
    link.channels[0]?.answer();
    expect(link.channels[0]?.keys).toEqual(['a', 'b']);
    expect(b?.end).toBe('open');
  });

  it('does nothing to what has ended', async () => {
    const { link, publishing, send, rest } = stage(1);
    const [a] = send('a');
    await rest();
    link.channels[0]?.answer();
    publishing.abort(a as Probe, 'too late');
    expect(a?.end).toBe('confirmed');
    expect(publishing.outstanding).toBe(0);
  });

  it('of the last one lets those go on who wait for everything to settle', async () => {
    const { publishing, send } = stage(1, true, false);
    const [a] = send('a');
    let settled = false;
    const all = publishing.settled().then(() => {
      settled = true;
    });
    publishing.abort(a as Probe, 'enough');
    await all;
    expect(settled).toBe(true);
  });
});

describe('a lost link', () => {
  it('cuts what was written and keeps the rest for the next link, in order', async () => {
    const { link, publishing, send, rest } = stage(2);
    const sent = send('a', 'b', 'c', 'd');
    await rest();
    link.lose();
    publishing.detach();
    expect(ends(sent)).toEqual(['cut', 'cut', 'open', 'open']);
    expect(sent[0]?.failure).toMatchObject({ kind: 'cut', others: 1 });
    const next = new FakeLink();
    publishing.attach(next.link);
    await rest();
    expect(next.channels[0]?.keys).toEqual(['c', 'd']);
    next.channels[0]?.answer('confirmed', 2);
    expect(ends(sent)).toEqual(['cut', 'cut', 'confirmed', 'confirmed']);
  });

  it('writes nothing twice: what waited for its channel is written once, on the next link', async () => {
    const { link, publishing, send, rest } = stage(3, false);
    const sent = send('a', 'b', 'c', 'd');
    link.lose();
    publishing.detach();
    await rest();
    expect(ends(sent)).toEqual(['open', 'open', 'open', 'open']);
    expect([publishing.outstanding, publishing.waiting]).toEqual([0, 4]);
    const next = new FakeLink();
    publishing.attach(next.link);
    await rest();
    next.channels[0]?.answer('confirmed', 3);
    next.channels[0]?.answer();
    expect(next.channels[0]?.keys).toEqual(['a', 'b', 'c', 'd']);
    expect(link.channels).toEqual([]);
    expect(ends(sent)).toEqual(['confirmed', 'confirmed', 'confirmed', 'confirmed']);
  });

  it('does not spin between its loss and the word of it', async () => {
    const { clock, link, publishing, send, rest } = stage(3, false);
    const sent = send('a', 'b', 'c', 'd');
    let asked = 0;
    const open = link.openPublishChannel.bind(link);
    link.openPublishChannel = (events) => {
      asked += 1;
      // Without this the test would hang for ever instead of failing.
      if (asked > 100) throw new Error('it asks a dead link for channels again and again');
      return open(events);
    };
    // The transport rejects what waited first, and says that the link is lost in a later turn.
    link.lose();
    await rest();
    expect(asked).toBeLessThan(5);
    publishing.detach();
    await clock.advance(TIMEOUT);
    expect(ends(sent)).toEqual(['stalled', 'stalled', 'stalled', 'stalled']);
  });

  it('keeps what is published between its loss and the word of it', async () => {
    const { link, publishing, send, rest } = stage(3);
    link.lose();
    const sent = send('a', 'b', 'c', 'd');
    await rest();
    publishing.detach();
    const next = new FakeLink();
    publishing.attach(next.link);
    await rest();
    expect(next.channels[0]?.keys).toEqual(['a', 'b', 'c']);
    next.channels[0]?.answer('confirmed', 3);
    next.channels[0]?.answer();
    expect(next.channels[0]?.keys).toEqual(['a', 'b', 'c', 'd']);
    expect(ends(sent)).toEqual(['confirmed', 'confirmed', 'confirmed', 'confirmed']);
  });

  it('gives every permit back', async () => {
    const { link, publishing, send, rest } = stage(2, false);
    send('a', 'b', 'c');
    link.openNext();
    await rest();
    link.lose();
    publishing.detach();
    const next = new FakeLink();
    publishing.attach(next.link);
    await rest();
    for (let count = 0; count < 3; count += 1) next.channels[0]?.answer();
    expect(publishing.outstanding).toBe(0);
    expect(publishing.hasRoom).toBe(true);
    send('d', 'e');
    expect(publishing.outstanding).toBe(2);
  });
});

describe('a channel', () => {
  it('is one for each exchange', async () => {
    const { link, publishing, rest } = stage(10);
    for (const exchange of ['x', 'y', 'x', 'y', 'z']) publishing.publish(new Probe(exchange, { exchange }));
    await rest();
    expect(link.channels.map((channel) => channel.keys)).toEqual([['x', 'x'], ['y', 'y'], ['z']]);
  });

  it('that the broker closes costs only what was on it, and says how many others there were', async () => {
    const { link, publishing, rest } = stage(10);
    const gone = new Probe('gone', { exchange: 'gone' });
    const kept = new Probe('kept', { exchange: 'kept' });
    for (const probe of [gone, kept]) publishing.publish(probe);
    await rest();
    const refusal = new BrokerRefusedError(404, 'NOT_FOUND - no exchange');
    link.channels[0]?.end(refusal);
    expect(gone.failure).toEqual({ kind: 'cut', error: refusal, others: 0 });
    expect(kept.end).toBe('open');
    link.channels[1]?.answer();
    expect(kept.end).toBe('confirmed');
    const three = ['a', 'b', 'c'].map((key) => new Probe(key, { exchange: 'gone' }));
    for (const probe of three) publishing.publish(probe);
    await rest();
    link.channels[2]?.end(refusal);
    expect(three.map((probe) => probe.failure)).toEqual([
      { kind: 'cut', error: refusal, others: 2 },
      { kind: 'cut', error: refusal, others: 2 },
      { kind: 'cut', error: refusal, others: 2 },
    ]);
  });

  it('is opened anew after the broker closed it, also before its owner was told', async () => {
    const { link, send, rest } = stage(10);
    send('a');
    await rest();
    const first = link.channels[0];
    if (first !== undefined) first.open = false;
    const [b] = send('b');
    await rest();
    expect(link.channels[1]?.keys).toEqual(['b']);
    first?.end(new ConnectionLostError('the late word of it'));
    const [c] = send('c');
    expect(link.channels[1]?.keys).toEqual(['b', 'c']);
    link.channels[1]?.answer('confirmed', 2);
    expect(ends([b, c] as Probe[])).toEqual(['confirmed', 'confirmed']);
  });

  it('that cannot be opened fails what waited for it, with nothing written', async () => {
    const { link, send, rest } = stage(10, false);
    const sent = send('a', 'b');
    link.refuseOpening(new Error('no channel is free'));
    await rest();
    expect(sent.map((probe) => probe.failure)).toEqual([
      { kind: 'stalled', reason: 'no channel could be opened: no channel is free' },
      { kind: 'stalled', reason: 'no channel could be opened: no channel is free' },
    ]);
    const [c] = send('c');
    link.openNext();
    await rest();
    link.channels[0]?.answer();
    expect(c?.end).toBe('confirmed');
  });

  it('that throws at the write has written nothing', async () => {
    const { link, send, rest } = stage(10);
    send('a');
    await rest();
    const [channel] = link.channels;
    if (channel !== undefined) channel.refusal = new ConnectionLostError('the channel is not open');
    expect(send('b')[0]?.failure).toEqual({
      kind: 'stalled',
      reason: 'the channel is not open',
    });
  });

  it('unused for longest is closed when a 65th exchange needs one', async () => {
    const { link, publishing, rest } = stage(200);
    const to = async (at: number): Promise<void> => {
      publishing.publish(new Probe('key', { exchange: `exchange-${at}` }));
      await rest();
    };
    for (let at = 0; at < 64; at += 1) await to(at);
    for (const channel of link.channels) channel.answer();
    await to(0);
    link.channels[0]?.answer();
    await to(64);
    const closed = link.channels.flatMap((channel, at) => (channel.closed ? [at] : []));
    expect(closed).toEqual([1]);
    // The exchange whose channel went gets another when it is used again.
    await to(1);
    expect(link.channels).toHaveLength(66);
    expect(link.channels.filter((channel) => !channel.closed)).toHaveLength(64);
  });

  it('with something outstanding is not closed to make room, nor is the one for copies', async () => {
    const { link, publishing, rest } = stage(200);
    publishing.publish(new Probe('copy', { copy: true }));
    await rest();
    link.channels[0]?.answer();
    for (let at = 0; at < 70; at += 1) {
      publishing.publish(new Probe('key', { exchange: `exchange-${at}` }));
      await rest();
    }
    expect(link.channels.filter((channel) => channel.closed)).toEqual([]);
    for (const channel of link.channels) channel.answer();
    publishing.publish(new Probe('key', { exchange: 'one-more' }));
    await rest();
    expect(link.channels[0]?.closed).toBe(false);
    expect(link.channels.filter((channel) => channel.closed)).toHaveLength(1);
  });
});

describe('stopping', () => {
  it('refuses what the application sends from then on, and lets the rest and copies go on', async () => {
    const { link, publishing, send, rest } = stage(1);
    const [a, b] = send('a', 'b');
    await rest();
    publishing.stop();
    expect(send('c')[0]?.end).toBe('closed');
    const copy = new Probe('copy', { copy: true });
    publishing.publish(copy);
    await rest();
    link.channels[0]?.answer();
    link.channels[0]?.answer();
    link.channels[1]?.answer();
    expect(ends([a, b, copy] as Probe[])).toEqual(['confirmed', 'confirmed', 'confirmed']);
  });

  it('ends the wait for room', async () => {
    const { publishing, send } = stage(1);
    send('a');
    const asked = publishing.room();
    publishing.stop();
    expect(await asked).toBeUndefined();
  });

  it('is settled when nothing is outstanding and nothing waits, and not before', async () => {
    const { link, publishing, send, rest } = stage(1);
    send('a', 'b');
    await rest();
    let settled = false;
    const all = publishing.settled().then(() => {
      settled = true;
    });
    link.channels[0]?.answer();
    await rest();
    expect(settled).toBe(false);
    link.channels[0]?.answer();
    await all;
    await publishing.settled();
  });
});

describe('abandoning', () => {
  it('says of what is written that it may have arrived, and of the rest that it was not written', async () => {
    const { clock, link, publishing, send, rest } = stage(2);
    const sent = send('a', 'b', 'c');
    await rest();
    publishing.abandon();
    expect(ends(sent)).toEqual(['cut', 'cut', 'closed']);
    expect(link.channels[0]?.keys).toEqual(['a', 'b']);
    expect([publishing.outstanding, publishing.waiting, clock.timers]).toEqual([0, 0, 0]);
    await publishing.settled();
  });

  it('writes nothing more, also of what waited behind a channel that was still opening', async () => {
    const { link, publishing, rest } = stage(2);
    const first = new Probe('first', { exchange: 'open' });
    publishing.publish(first);
    await rest();
    link.opens = false;
    const opening = new Probe('opening', { exchange: 'opening' });
    const waiting = new Probe('waiting', { exchange: 'open' });
    for (const probe of [opening, waiting]) publishing.publish(probe);
    publishing.abandon();
    link.openNext();
    await rest();
    expect(ends([first, opening, waiting])).toEqual(['cut', 'closed', 'closed']);
    expect(link.channels.flatMap((channel) => channel.keys)).toEqual(['first']);
  });

  it('refuses copies too from then on', () => {
    const { publishing } = stage();
    publishing.abandon();
    const copy = new Probe('copy', { copy: true });
    publishing.publish(copy);
    expect(copy.end).toBe('closed');
    expect(publishing.ready).toBe(false);
  });

  it('tells nothing a second time when the link then closes', async () => {
    const { link, publishing, send, rest } = stage(2);
    const sent = send('a', 'b');
    await rest();
    publishing.abandon();
    link.lose();
    publishing.detach();
    expect(ends(sent)).toEqual(['cut', 'cut']);
  });
});
