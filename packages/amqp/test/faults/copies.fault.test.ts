import {
  type Ack,
  accept,
  fixed,
  type HeaderTable,
  type Message,
  none,
  park,
  type RetryPolicy,
  reject,
  retry,
  topology,
} from '@acemq/core';
import { type ChannelModel, connect as connectRaw } from 'amqplib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Connection, ConnectOptions, Consumer } from '../../src/index.ts';
import { deferred } from '../setting.ts';
import {
  clearPolicy,
  depthOf,
  linkOf,
  loseAndRecover,
  PATIENCE,
  proxyTo,
  queueName,
  type Service,
  serviceOn,
  setPolicy,
  useNode,
} from './on-node.ts';

// Longer than any delivery is held here: what is held is not to be mistaken for a handler that hangs.
const node = useNode({ consumer_timeout: 1_800_000 });

/** One kind of copy: what asks for it, and where it is to be placed. */
interface Kind {
  readonly name: string;
  readonly policy: RetryPolicy;
  place(queue: string): string;
}

const HOME: Kind = { name: 'a retry to its own queue', policy: fixed(3, '10ms'), place: (queue) => queue };
const RUNG: Kind = {
  name: 'a retry to a rung',
  policy: fixed(3, '1s').waitInBrokerFrom('1s'),
  place: (queue) => `${queue}.retry.1s`,
};
const SET_ASIDE: Kind = { name: 'a set-aside', policy: none(), place: (queue) => `${queue}.dlq` };

const ALL = [HOME, RUNG, SET_ASIDE].map((kind) => [kind.name, kind] as const);

/** A message whose first attempt fails as soon as `fail` is called. */
interface Failing {
  readonly consumer: Consumer;
  readonly queue: string;
  readonly id: string;
  /** One entry for each run of the handler. */
  readonly runs: { readonly id: string; readonly attempt: number; readonly redelivered: boolean }[];
  fail(): void;
}

async function failing({ mq }: Service, kind: Kind): Promise<Failing> {
  await placeOne(mq);
  const queue = queueName();
  await mq.declare(topology().queue(queue, { type: 'classic', retry: kind.policy }));
  const gate = deferred();
  const runs: Failing['runs'] = [];
  const handler = async ({ envelope, redelivered }: Message): Promise<Ack> => {
    runs.push({ id: envelope.id, attempt: envelope.attempt, redelivered });
    if (envelope.attempt > 1) return accept();
    await gate.promise;
    return retry(new Error('not today'));
  };
  const consumer = await mq.consume(queue, handler, { retry: kind.policy });
  const { id } = await mq.publisher({ routingKey: queue }).send('will fail');
  await vi.waitFor(() => expect(runs).toHaveLength(1), PATIENCE);
  return { consumer, queue, id, runs, fail: () => gate.resolve() };
}

/** Places a first copy, so that the channel for copies is open and the next one is written at once. */
async function placeOne(mq: Connection): Promise<void> {
  const queue = queueName();
  await mq.declare(topology().queue(queue));
  const consumer = await mq.consume(queue, () => park('the first'));
  await mq.publisher({ routingKey: queue }).send('x');
  await vi.waitFor(async () => expect(await mq.messageCount(`${queue}.parked`)).toBe(1), PATIENCE);
  await consumer.close();
}

/** Its copy has a place nowhere: the broker still has the original, and nothing was done twice. */
async function expectHeld({ mq, metrics }: Service, kind: Kind, one: Failing): Promise<void> {
  const { consumer, queue, id, runs } = one;
  await vi.waitFor(() => expect(consumer.held).toBe(1), PATIENCE);
  expect(runs).toEqual([{ id, attempt: 1, redelivered: false }]);
  expect(consumer.inFlight).toBe(1);
  expect((await depthOf(node(), queue)).unsettled).toBe(1);
  expect((await mq.health()).parts['held']).toEqual({ [queue]: 1 });
  const outcome = kind === SET_ASIDE ? 'dead_lettered' : 'retried';
  expect(metrics.counts.get(`acemq.consume.total{outcome="${outcome}",queue="${queue}"}`)).toBe(1);
}

/** The original is settled, and every copy there is has come to its place, under the same id. */
async function expectPlaced(service: Service, kind: Kind, one: Failing): Promise<number> {
  const { consumer, queue, id, runs } = one;
  const { mq, metrics } = service;
  let copies = 0;
  if (kind === SET_ASIDE) {
    await vi.waitFor(
      async () => expect(await mq.messageCount(kind.place(queue))).toBeGreaterThan(0),
      PATIENCE,
    );
    await vi.waitFor(() => expect(consumer.inFlight).toBe(0), PATIENCE);
    copies = await mq.messageCount(kind.place(queue));
    for (let at = 0; at < copies; at += 1) {
      const copy = await mq.pull(kind.place(queue));
      expect(copy?.messageId).toBe(id);
      expect(copy?.headers['x-acemq-error']).toContain('not today');
      copy?.ack();
    }
  } else {
    await vi.waitFor(() => expect(runs.length).toBeGreaterThan(1), PATIENCE);
    await vi.waitFor(async () => {
      expect(consumer.inFlight).toBe(0);
      const rung = kind === RUNG ? await mq.messageCount(kind.place(queue)) : 0;
      expect(rung + (await mq.messageCount(queue))).toBe(0);
    }, PATIENCE);
    copies = runs.length - 1;
    expect(runs.slice(1)).toEqual(runs.slice(1).map(() => ({ id, attempt: 2, redelivered: false })));
    const retried = [...metrics.counts].filter(([key]) => key.startsWith('acemq.messages.retried.total'));
    expect(retried.map(([, count]) => count)).toEqual([1]);
  }
  expect(await depthOf(node(), queue)).toEqual({ ready: 0, unsettled: 0 });
  expect(consumer.held).toBe(0);
  expect((await mq.health()).status).toBe('up');
  return copies;
}

const PROXIED: ConnectOptions = { confirmTimeout: 400 };

describe('a copy that got no verdict', () => {
  test.each(ALL)(
    '%s under an alarm that is known is held and placed once when the alarm ends',
    async (_, kind) => {
      const service = await serviceOn(node().url);
      const { mq } = service;
      const one = await failing(service, kind);
      await node().alarm('memory');
      const sent = mq.publisher({ routingKey: `${one.queue}.parked` }).send('into the alarm');
      await vi.waitFor(() => expect(mq.blocked).toBe(true), PATIENCE);
      one.fail();
      await expectHeld(service, kind, one);
      expect(await mq.health()).toMatchObject({
        status: 'up',
        detail: expect.stringContaining('1 message is held'),
      });
      await node().clearAlarms();
      await sent;
      expect(await expectPlaced(service, kind, one)).toBe(1);
    },
  );

  test.each(ALL)(
    '%s that is written into an alarm waits there, and is placed once when the alarm ends',
    async (_, kind) => {
      const service = await serviceOn(node().url, PROXIED);
      const { mq } = service;
      const one = await failing(service, kind);
      await node().alarm('disk');
      one.fail();
      await vi.waitFor(() => expect(mq.blocked).toBe(true), PATIENCE);
      // Several times the confirm time-out: an application's message would have been given up by now.
      const probe = mq.publisher({ routingKey: one.queue }).send('refused at once');
      await expect(probe).rejects.toMatchObject({ code: 'ACEMQ_PUBLISHING_PAUSED' });
      const until = performance.now() + 1_500;
      await vi.waitFor(() => expect(performance.now()).toBeGreaterThan(until), PATIENCE);
      expect(one.runs).toHaveLength(1);
      expect((await depthOf(node(), one.queue)).unsettled).toBe(1);
      await node().clearAlarms();
      expect(await expectPlaced(service, kind, one)).toBe(1);
    },
  );

  test.each(ALL)(
    '%s that is not confirmed in time is held, and placed when the link speaks again',
    async (_, kind) => {
      const proxy = await proxyTo(node());
      const service = await serviceOn(proxy.url, PROXIED);
      const one = await failing(service, kind);
      const link = await linkOf(proxy, 'publish');
      link.freeze();
      one.fail();
      await expectHeld(service, kind, one);
      link.thaw();
      // The one that timed out was only late, and the second is the price of not knowing that.
      expect(await expectPlaced(service, kind, one)).toBeGreaterThanOrEqual(1);
    },
  );

  test.each(ALL)('%s that is cut off before it arrived is placed once, on the next link', async (_, kind) => {
    const proxy = await proxyTo(node());
    const service = await serviceOn(proxy.url);
    const one = await failing(service, kind);
    const link = await linkOf(proxy, 'publish');
    link.freeze('toBroker');
    proxy.refuse();
    one.fail();
    await vi.waitFor(() => expect(service.mq.outstanding).toBe(1), PATIENCE);
    link.cut();
    await expectHeld(service, kind, one);
    await proxy.accept();
    expect(await expectPlaced(service, kind, one)).toBe(1);
  });

  test.each(ALL)(
    '%s that is cut off after it arrived is placed again, under the same id',
    async (_, kind) => {
      const proxy = await proxyTo(node());
      const service = await serviceOn(proxy.url);
      const one = await failing(service, kind);
      const link = await linkOf(proxy, 'publish');
      link.freeze('toClient');
      one.fail();
      await vi.waitFor(async () => {
        if (kind === HOME) expect(one.runs.length).toBe(2);
        else expect(await service.mq.messageCount(kind.place(one.queue))).toBe(1);
      }, PATIENCE);
      expect((await depthOf(node(), one.queue)).unsettled).toBe(1);
      await loseAndRecover(service, () => link.cut(), ['publish']);
      if (kind !== SET_ASIDE) await vi.waitFor(() => expect(one.runs).toHaveLength(3), PATIENCE);
      expect(await expectPlaced(service, kind, one)).toBe(2);
    },
  );
});

describe('a copy that the broker judged', () => {
  test('to a rung that is not there waits here instead, and goes home', async () => {
    const service = await serviceOn(node().url);
    const one = await failing(service, RUNG);
    await service.mq.deleteQueue(RUNG.place(one.queue));
    one.fail();
    await vi.waitFor(() => expect(one.runs).toHaveLength(2), PATIENCE);
    await vi.waitFor(() => expect(one.consumer.inFlight).toBe(0), PATIENCE);
    expect(one.runs).toEqual([1, 2].map((attempt) => ({ id: one.id, attempt, redelivered: false })));
    expect(await depthOf(node(), one.queue)).toEqual({ ready: 0, unsettled: 0 });
    const { queue } = one;
    const missing = `acemq.retry.rung.missing{queue="${queue}",rung="${queue}.retry.1s"}`;
    expect(service.metrics.counts.get(missing)).toBe(1);
  });

  test('to a rung that is full waits here instead, and goes home', async () => {
    const service = await serviceOn(node().url);
    const one = await failing(service, RUNG);
    await setPolicy(node(), '[.]retry[.]', { 'max-length': 0, overflow: 'reject-publish' });
    one.fail();
    await vi.waitFor(() => expect(one.runs).toHaveLength(2), PATIENCE);
    await vi.waitFor(() => expect(one.consumer.inFlight).toBe(0), PATIENCE);
    expect(one.runs).toEqual([1, 2].map((attempt) => ({ id: one.id, attempt, redelivered: false })));
    expect(await depthOf(node(), one.queue)).toEqual({ ready: 0, unsettled: 0 });
  });

  test('to its own queue that is full gives the delivery back, again and again, until there is room', async () => {
    const service = await serviceOn(node().url);
    const { consumer, queue, id, runs, fail } = await failing(service, HOME);
    await setPolicy(node(), `^${queue}$`, { 'max-length': 0, overflow: 'reject-publish' });
    fail();
    const requeued = `acemq.messages.retried.total{queue="${queue}",where="requeued"}`;
    await vi.waitFor(() => expect(service.metrics.counts.get(requeued)).toBeGreaterThan(2), PATIENCE);
    expect(runs[1]).toEqual({ id, attempt: 1, redelivered: true });
    expect(runs.every(({ attempt }) => attempt === 1)).toBe(true);
    await clearPolicy(node());
    await vi.waitFor(() => expect(runs.at(-1)).toEqual({ id, attempt: 2, redelivered: false }), PATIENCE);
    await vi.waitFor(() => expect(consumer.inFlight).toBe(0), PATIENCE);
    expect(await depthOf(node(), queue)).toEqual({ ready: 0, unsettled: 0 });
  });

  test('to a dead-letter queue that is not there goes the way of the broker’s own dead-lettering', async () => {
    const { mq, metrics } = await serviceOn(node().url);
    const queue = queueName();
    await mq.declare(
      topology()
        .exchange('net', 'fanout')
        .queue(queue, { arguments: { 'x-dead-letter-exchange': 'net' } })
        .queue(`${queue}.net`)
        .bind(`${queue}.net`, 'net'),
    );
    await mq.consume(queue, () => reject('bad'));
    await mq.deleteQueue(`${queue}.dlq`);
    const { id } = await mq.publisher({ routingKey: queue }).send('x');
    await vi.waitFor(async () => expect(await mq.messageCount(`${queue}.net`)).toBe(1), PATIENCE);
    const caught = await mq.pull(`${queue}.net`);
    expect(caught?.messageId).toBe(id);
    caught?.ack();
    const failed = `acemq.messages.set.aside.failed{queue="${queue}",target="${queue}.dlq"}`;
    expect(metrics.counts.get(failed)).toBe(1);
  });

  test.each([
    ['dlq', () => reject('bad')],
    ['parked', () => park('odd')],
  ] as const)('to a .%s that is full is not lost', async (suffix, answer) => {
    const { mq, metrics } = await serviceOn(node().url);
    const queue = queueName();
    await mq.declare(topology().queue(queue, { deadLetter: true, type: 'classic' }));
    await setPolicy(node(), `^${queue}[.]`, { 'max-length': 0, overflow: 'reject-publish' });
    const seen: string[] = [];
    const consumer = await mq.consume(queue, ({ envelope }) => {
      seen.push(envelope.id);
      return answer();
    });
    const { id } = await mq.publisher({ routingKey: queue }).send('x');
    const failed = `acemq.messages.set.aside.failed{queue="${queue}",target="${queue}.${suffix}"}`;
    await vi.waitFor(() => expect(consumer.held).toBe(1), PATIENCE);
    expect(await mq.health()).toMatchObject({ status: 'degraded', parts: { held: { [queue]: 1 } } });
    expect(await depthOf(node(), queue)).toEqual({ ready: 0, unsettled: 1 });
    await clearPolicy(node());
    await vi.waitFor(() => expect(consumer.inFlight).toBe(0), PATIENCE);
    expect(await depthOf(node(), queue)).toEqual({ ready: 0, unsettled: 0 });
    expect(await mq.messageCount(`${queue}.${suffix}`)).toBe(1);
    expect((await mq.pull(`${queue}.${suffix}`))?.messageId).toBe(id);
    expect(seen).toEqual([id]);
    expect(metrics.counts.get(failed)).toBe(1);
  });
});

describe('a long alarm', () => {
  test('of 15 s: what fails in it runs its handler once, is counted once, is placed after it, and a delivery limit loses nothing', async () => {
    const service = await serviceOn(node().url, { confirmTimeout: 2_000 });
    const { mq, metrics } = service;
    const queue = queueName();
    await mq.declare(topology().queue(queue, { deadLetter: true, arguments: { 'x-delivery-limit': 5 } }));
    const seen: string[] = [];
    const gate = deferred();
    const consumer = await mq.consume(
      queue,
      async ({ envelope }) => {
        seen.push(envelope.id);
        await gate.promise;
        return reject(new Error('bad'));
      },
      { concurrency: 4, prefetch: 20 },
    );
    const sent = await mq
      .publisher<number>({ routingKey: queue })
      .sendAll(Array.from({ length: 30 }, (_, at) => at));
    await vi.waitFor(() => expect(seen).toHaveLength(4), PATIENCE);
    await node().alarm('memory');
    const began = performance.now();
    gate.resolve();
    // All of the prefetch end in a copy; the other ten are not delivered while those are held.
    await vi.waitFor(() => expect(seen).toHaveLength(20), PATIENCE);
    await vi.waitFor(() => expect(performance.now() - began).toBeGreaterThan(15_000), PATIENCE);
    expect(seen).toHaveLength(20);
    expect(consumer.held).toBe(20);
    expect(await mq.health()).toMatchObject({ status: 'up', parts: { blocked: true } });
    await node().clearAlarms();
    await vi.waitFor(async () => expect(await mq.messageCount(`${queue}.dlq`)).toBe(30), { timeout: 40_000 });
    await vi.waitFor(() => expect(consumer.inFlight).toBe(0), PATIENCE);
    const ids = sent.map(({ id }) => id).sort();
    expect([...seen].sort()).toEqual(ids);
    const found: (string | undefined)[] = [];
    for (let at = 0; at < 30; at += 1) {
      const copy = await mq.pull(`${queue}.dlq`);
      found.push(copy?.messageId);
      expect(copy?.headers['x-acemq-error']).toContain('bad');
      copy?.ack();
    }
    expect(found.sort()).toEqual(ids);
    expect(metrics.counts.get(`acemq.consume.total{outcome="rejected",queue="${queue}"}`)).toBe(30);
    expect(await mq.messageCount(queue)).toBe(0);
  });
});

describe('what the broker wrote on a message', () => {
  async function raw(): Promise<ChannelModel> {
    const model = await connectRaw(node().url);
    onTestFinished(() => model.close().catch(() => {}));
    return model;
  }

  test('one that expired on its source, was put back and fails climbs the rungs and comes home', async () => {
    const { mq } = await serviceOn(node().url);
    const queue = queueName();
    const policy = fixed(3, '500ms').waitInBrokerFrom('500ms');
    await mq.declare(topology().queue(queue, { retry: policy }));
    const { id } = await mq.publisher({ routingKey: queue }).send('x', { expiresAfter: '50ms' });
    const channel = await (await raw()).createConfirmChannel();
    const expired = await vi.waitFor(async () => {
      const found = await channel.get(`${queue}.dlq`, { noAck: true });
      if (found === false) throw new Error('it has not expired yet');
      return found;
    }, PATIENCE);
    expect(expired.properties.headers?.['x-death']).toMatchObject([{ queue, reason: 'expired' }]);
    // As an operator's tool does it: with every header that it has.
    const { headers, contentType, messageId } = expired.properties;
    channel.sendToQueue(queue, expired.content, { headers, contentType, messageId, persistent: true });
    await channel.waitForConfirms();
    const seen: number[] = [];
    const consumer = await mq.consume(
      queue,
      ({ envelope }) => {
        expect(envelope.id).toBe(id);
        seen.push(envelope.attempt);
        return envelope.attempt < 3 ? retry(new Error('not yet')) : accept();
      },
      { retry: policy },
    );
    await vi.waitFor(() => expect(seen).toEqual([1, 2, 3]), PATIENCE);
    await vi.waitFor(() => expect(consumer.inFlight).toBe(0), PATIENCE);
    for (const name of [queue, `${queue}.retry.500ms`, `${queue}.dlq`])
      expect(await mq.messageCount(name)).toBe(0);
  });

  test.each(ALL)('one with a CC header: %s makes no second copy for the CC queues', async (_, kind) => {
    const { mq } = await serviceOn(node().url);
    const [queue, copied] = [queueName(), queueName()];
    await mq.declare(topology().queue(queue, { retry: kind.policy }).queue(copied));
    const channel = await (await raw()).createConfirmChannel();
    const headers: HeaderTable = { CC: [copied], tenant: 'kept' };
    channel.sendToQueue(queue, Buffer.from('"x"'), {
      headers,
      messageId: 'm-1',
      contentType: 'application/json',
    });
    await channel.waitForConfirms();
    expect(await mq.messageCount(copied)).toBe(1);
    const seen: unknown[] = [];
    await mq.consume(
      queue,
      ({ envelope }) => {
        seen.push(envelope.headers['tenant']);
        return envelope.attempt === 1 ? retry(new Error('no')) : accept();
      },
      { retry: kind.policy },
    );
    await vi.waitFor(async () => {
      if (kind === SET_ASIDE) expect(await mq.messageCount(kind.place(queue))).toBe(1);
      else expect(seen).toEqual(['kept', 'kept']);
    }, PATIENCE);
    expect(await mq.messageCount(copied)).toBe(1);
  });
});
