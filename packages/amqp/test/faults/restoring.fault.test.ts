import { accept, BrokerRefusedError, TopologyError, topology } from '@acemq/core';
import { describe, expect, test, vi } from 'vitest';
import type { Connection } from '../../src/index.ts';
import {
  consumersOn,
  linkOf,
  loseAndRecover,
  openOn,
  PATIENCE,
  proxyTo,
  queueName,
  serviceOn,
  useNode,
} from './on-node.ts';

const node = useNode();

async function send(mq: Connection, queue: string, payload: unknown): Promise<void> {
  await mq.publisher({ routingKey: queue }).send(payload);
}

describe('twenty lost connections', () => {
  test('leave every queue with exactly its consumers, prefetch and tags, and what was closed stays closed', async () => {
    const proxy = await proxyTo(node());
    const service = await serviceOn(proxy.url);
    const { mq, log } = service;
    const [two, one, closed, closedLater] = [queueName(), queueName(), queueName(), queueName()];
    await mq.declare(topology().queue(two).queue(one).queue(closed).queue(closedLater));
    const handled: unknown[] = [];
    const handler = ({ payload }: { readonly payload: unknown }) => {
      handled.push(payload);
      return accept();
    };
    await mq.consume(two, handler, { tag: 'first', prefetch: 3 });
    await mq.consume(two, handler, { tag: 'second', prefetch: 7 });
    await mq.consume(one, handler);
    const gone = await mq.consume(closed, handler, { tag: 'gone' });
    await gone.close();
    const later = await mq.consume(closedLater, handler, { tag: 'later' });
    const wanted = [
      { queue: one, tag: expect.any(String), prefetch: 20 },
      { queue: two, tag: 'first', prefetch: 3 },
      { queue: two, tag: 'second', prefetch: 7 },
    ];
    let channels = 0;
    for (let round = 1; round <= 20; round += 1) {
      await loseAndRecover(service, async () => {
        if (round % 3 === 0) await node().closeConnections(`round ${round}`);
        else proxy.cut({ how: round % 3 === 1 ? 'rst' : 'fin' });
        // While the link is down: nothing can be said to the broker.
        if (round === 10) await later.close();
      });
      const left = round < 10 ? [...wanted, { queue: closedLater, tag: 'later', prefetch: 20 }] : wanted;
      // The broker may see the end of the old link after the beginning of the new one.
      await vi.waitFor(async () => {
        const found = await consumersOn(node());
        expect(found).toHaveLength(left.length);
        expect(found).toEqual(expect.arrayContaining(left));
        expect((await openOn(node())).connections).toBe(2);
      }, PATIENCE);
      await send(mq, one, round);
      // What was cut off before its acknowledgement comes a second time.
      await vi.waitFor(() => expect(new Set(handled).size).toBe(round), PATIENCE);
      if (round === 1) ({ channels } = await openOn(node()));
    }
    expect([...new Set(handled)]).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
    expect(mq.consumers).toHaveLength(3);
    expect(gone.running || later.running).toBe(false);
    // One less for the consumer that was closed on the way; a link keeps none from the one before.
    expect((await openOn(node())).channels).toBe(channels - 1);
    expect(log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('what has changed while the link was down', () => {
  test('a queue made again with other arguments is reported, everything else works, and it is declared when it can be', async () => {
    const proxy = await proxyTo(node());
    const service = await serviceOn(proxy.url);
    const { mq, log } = service;
    const other = await serviceOn(node().url, { name: 'other' });
    const [changed, kept] = [queueName(), queueName()];
    const shape = topology().queue(changed, { type: 'classic' }).queue(kept);
    await mq.declare(shape);
    const handled: unknown[] = [];
    const handler = ({ payload }: { readonly payload: unknown }) => {
      handled.push(payload);
      return accept();
    };
    const consumer = await mq.consume(changed, handler);
    await mq.consume(kept, handler);
    proxy.refuse();
    proxy.cut();
    await vi.waitFor(() => expect(mq.state).toBe('retrying'), PATIENCE);
    await other.mq.deleteQueue(changed);
    await other.mq.declare(topology().queue(changed, { type: 'classic', arguments: { 'x-max-length': 10 } }));
    await proxy.accept();
    await vi.waitFor(() => expect(mq.state).toBe('connected'), PATIENCE);
    const [refused] = mq.refusedDeclarations;
    expect(mq.refusedDeclarations).toHaveLength(1);
    expect(refused).toMatchObject({
      what: `queue ${changed}`,
      reason: expect.stringContaining("'x-max-length'"),
    });
    expect(await mq.health()).toMatchObject({
      status: 'degraded',
      detail: `the broker has refused these declarations: queue ${changed}`,
    });
    await send(mq, kept, 'to the other');
    await vi.waitFor(() => expect(handled).toEqual(['to the other']), PATIENCE);
    // It is tried again several times, and said once.
    await vi.waitFor(async () => {
      expect(await refusalsSeen(changed)).toBeGreaterThan(3);
    }, PATIENCE);
    expect(log.filter(({ level }) => level === 'error')).toHaveLength(1);
    await other.mq.deleteQueue(changed);
    await vi.waitFor(() => expect(consumer.running).toBe(true), PATIENCE);
    await vi.waitFor(async () => expect((await mq.health()).status).toBe('up'), PATIENCE);
    await send(mq, changed, 'to the changed one');
    await vi.waitFor(() => expect(handled).toEqual(['to the other', 'to the changed one']), PATIENCE);
    expect((await other.mq.plan(shape)).drift).toBe(false);
  });

  test('a dead-letter queue made again with other arguments stalls its consumer, and no other, until it is right', async () => {
    const proxy = await proxyTo(node());
    const { mq, log } = await serviceOn(proxy.url);
    const other = await serviceOn(node().url, { name: 'other' });
    const [changed, kept] = [queueName(), queueName()];
    await mq.declare(topology().queue(changed).queue(kept));
    const handled: unknown[] = [];
    const handler = ({ payload }: { readonly payload: unknown }) => {
      handled.push(payload);
      return accept();
    };
    const stalled = await mq.consume(changed, handler);
    const running = await mq.consume(kept, handler);
    proxy.refuse();
    proxy.cut();
    await vi.waitFor(() => expect(mq.state).toBe('retrying'), PATIENCE);
    await other.mq.deleteQueue(`${changed}.dlq`);
    await other.mq.declare(
      topology().queue(`${changed}.dlq`, { type: 'classic', arguments: { 'x-max-length': 10 } }),
    );
    await proxy.accept();
    await vi.waitFor(() => expect(mq.state).toBe('connected'), PATIENCE);
    expect(running.running).toBe(true);
    expect(stalled.running).toBe(false);
    expect(stalled.stalled).toBe(
      `queue ${changed}.dlq exists with x-max-length 10, and none is wanted; nothing was changed`,
    );
    expect(await mq.health()).toMatchObject({
      status: 'degraded',
      detail: `these consumers have stopped reading: ${changed}`,
    });
    await send(mq, changed, 'waits');
    await send(mq, kept, 'does not');
    await vi.waitFor(() => expect(handled).toEqual(['does not']), PATIENCE);
    await other.mq.deleteQueue(`${changed}.dlq`);
    await vi.waitFor(() => expect(handled).toEqual(['does not', 'waits']), PATIENCE);
    expect(stalled.stalled).toBeUndefined();
    expect((await mq.health()).status).toBe('up');
    expect(log.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
      'the connection to the broker was lost',
      'the connection to the broker was lost',
      'a consumer has stopped reading and will subscribe again',
    ]);
    expect(await consumersOn(node())).toHaveLength(2);
  });

  test('an exclusive queue that the broker keeps for the frozen link comes back when the broker drops that', async () => {
    const proxy = await proxyTo(node());
    const service = await serviceOn(proxy.url, { heartbeat: 1_000 });
    const { mq, events } = service;
    const [mine, shared] = [queueName(), queueName()];
    await mq.declare(topology().queue(mine, { exclusive: true }).queue(shared));
    const handled: unknown[] = [];
    const handler = ({ payload }: { readonly payload: unknown }) => {
      handled.push(payload);
      return accept();
    };
    const own = await mq.consume(mine, handler);
    const common = await mq.consume(shared, handler);
    // The client's side only: what the broker has is a link that says nothing, until its own heartbeat.
    const old = await linkOf(proxy, 'consume');
    old.freeze();
    old.cut({ side: 'client' });
    await vi.waitFor(() => expect(events.some(({ type }) => type === 'recovered')).toBe(true), PATIENCE);
    expect(mq.refusedDeclarations).toEqual([
      { what: `queue ${mine}`, reason: expect.stringContaining('405') },
    ]);
    expect(own.stalled).toContain('405');
    expect(common.running).toBe(true);
    expect(await mq.health()).toMatchObject({
      status: 'degraded',
      detail: expect.stringContaining(`these consumers have stopped reading: ${mine}`),
    });
    await send(mq, shared, 'meanwhile');
    await vi.waitFor(() => expect(handled).toEqual(['meanwhile']), PATIENCE);
    await vi.waitFor(() => expect(own.running).toBe(true), PATIENCE);
    await vi.waitFor(() => expect(mq.refusedDeclarations).toEqual([]), PATIENCE);
    await send(mq, mine, 'again');
    await vi.waitFor(() => expect(handled).toEqual(['meanwhile', 'again']), PATIENCE);
    expect((await mq.health()).status).toBe('up');
    expect(await consumersOn(node())).toHaveLength(2);
  });
});

describe('a declaration that the broker refuses with 406', () => {
  test('names the queue, the argument and both values; nothing is deleted and nothing else declared', async () => {
    const { mq } = await serviceOn(node().url);
    const [exists, after] = [queueName(), queueName()];
    await mq.declare(topology().queue(exists, { arguments: { 'x-max-length': 5 } }));
    await send(mq, exists, 'kept');
    const wanted = topology()
      .exchange(`${exists}-events`, 'topic')
      .queue(exists, { arguments: { 'x-max-length': 7 } })
      .queue(after)
      .bind(after, `${exists}-events`, '#');
    const error = await mq.declare(wanted).then(
      () => expect.unreachable('it differs'),
      (one: unknown) => one as TopologyError,
    );
    expect(error).toBeInstanceOf(TopologyError);
    expect(error.differences).toEqual([
      { kind: 'queue', name: exists, argument: 'x-max-length', wanted: '7', found: '5' },
    ]);
    expect(error.message).toContain(`queue ${exists} exists with x-max-length 5, and 7 is wanted`);
    expect(await mq.messageCount(exists)).toBe(1);
    expect(await mq.queueExists(after)).toBe(false);
    expect((await mq.plan(wanted)).items.find(({ kind }) => kind === 'exchange')?.state).toBe('create');
    expect(mq.state).toBe('connected');
  });

  test('for what a consumer declares refuses that consumer in the same words', async () => {
    const { mq } = await serviceOn(node().url);
    const queue = queueName();
    await mq.declare(topology().queue(queue).queue(`${queue}.dlq`, { durable: false }));
    const error = await mq
      .consume(queue, () => accept())
      .then(
        () => expect.unreachable('it differs'),
        (one: unknown) => one as TopologyError,
      );
    expect(error).toBeInstanceOf(TopologyError);
    expect(error.cause).toBeInstanceOf(BrokerRefusedError);
    expect(error.differences).toEqual([
      { kind: 'queue', name: `${queue}.dlq`, argument: 'durable', wanted: 'true', found: 'false' },
    ]);
    expect(await mq.queueExists(`${queue}.parked`)).toBe(false);
    expect(await consumersOn(node())).toEqual([]);
    expect(mq.consumers).toEqual([]);
  });
});

/** How often the broker has refused to declare this queue, from its own log. */
async function refusalsSeen(queue: string): Promise<number> {
  const text = await node().evaluate(`
    {ok, Log} = file:read_file(hd(rabbit:log_locations())),
    length(binary:matches(Log, <<"inequivalent arg 'x-max-length' for queue '${queue}'">>))`);
  return Number(text);
}
