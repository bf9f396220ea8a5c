import {
  BrokerRefusedError,
  ConfigurationError,
  ConnectError,
  type Delivery,
  type Link,
  type LinkEvents,
  type PublishChannel,
  type PublishVerdict,
  type QueueSpec,
  UnsupportedError,
} from '@acemq/core';
import { describe, expect, test, vi } from 'vitest';
import { type MemoryBroker, type MemoryBrokerOptions, manualClock, memoryBroker } from '../src/index.ts';

const quiet: LinkEvents = { lost: () => {}, blocked: () => {}, unblocked: () => {} };

function dial(broker: MemoryBroker, name = 'test', events: Partial<LinkEvents> = {}): Promise<Link> {
  return broker.dial({ name, endpoint: 0, timeout: 1000, heartbeat: 0, events: { ...quiet, ...events } });
}

function queue(args: QueueSpec['arguments'] = {}): QueueSpec {
  return { durable: true, autoDelete: false, exclusive: false, arguments: args };
}

function publish(
  channel: PublishChannel,
  to: string,
  body = 'x',
  persistent = true,
): Promise<PublishVerdict | Error> {
  return new Promise((resolve) => {
    const message = { body: Buffer.from(body), messageId: '1', headers: {}, persistent, mandatory: true };
    channel.publish('', to, message, { answered: resolve, cut: resolve });
  });
}

async function open(
  options: MemoryBrokerOptions = {},
): Promise<{ broker: MemoryBroker; link: Link; channel: PublishChannel }> {
  const broker = memoryBroker(options);
  const link = await dial(broker);
  return { broker, link, channel: await link.openPublishChannel({ closed: () => {} }) };
}

async function consume(link: Link, name: string): Promise<{ deliveries: Delivery[]; ended: Error[] }> {
  const deliveries: Delivery[] = [];
  const ended: Error[] = [];
  await link.consume(
    name,
    { prefetch: 10, tag: '', exclusive: false, arguments: {} },
    { delivered: (delivery) => void deliveries.push(delivery), ended: (error) => void ended.push(error) },
  );
  return { deliveries, ended };
}

describe('what a memory broker shows', () => {
  test('its links, queues, exchanges, bindings and messages', async () => {
    const { broker, link, channel } = await open();
    await link.declareQueue('q', queue({ 'x-queue-type': 'quorum' }));
    await link.declareExchange('x', { type: 'topic', durable: true, autoDelete: false, arguments: {} });
    await link.bind('q', 'x', 'a.*');
    await publish(channel, 'q', 'one');
    await publish(channel, 'q', 'two');
    await link.pull('q');
    expect(broker.links).toEqual([{ name: 'test', blocked: false, consumers: 0 }]);
    expect(broker.queues).toEqual([{ name: 'q', type: 'quorum', messages: 1, unsettled: 1, consumers: 0 }]);
    expect(broker.exchanges).toContainEqual({ name: 'x', type: 'topic' });
    expect(broker.bindings).toEqual([{ queue: 'q', exchange: 'x', routingKey: 'a.*' }]);
    expect(broker.messages('q').map(({ body }) => Buffer.from(body).toString())).toEqual(['two']);
    expect([broker.depth('q'), broker.depth('none')]).toEqual([1, 0]);
  });
});

describe('a message in a memory broker', () => {
  test('keeps its bytes and headers when the sender uses its own again', async () => {
    const { broker, link, channel } = await open();
    await link.declareQueue('q', queue());
    const body = Buffer.from('before');
    const headers = { nested: { value: 'before' } };
    const answered = new Promise<unknown>((resolve) => {
      const message = { body, messageId: '1', headers, persistent: true, mandatory: true };
      channel.publish('', 'q', message, { answered: resolve, cut: resolve });
    });
    body.write('after!');
    headers.nested.value = 'after';
    await answered;
    const [found] = broker.messages('q');
    expect([Buffer.from(found?.body ?? []).toString(), found?.headers]).toEqual([
      'before',
      { nested: { value: 'before' } },
    ]);
  });

  test('gives each consumer headers of its own', async () => {
    const { link, channel } = await open();
    await link.declareExchange('x', { type: 'fanout', durable: true, autoDelete: false, arguments: {} });
    for (const name of ['one', 'two']) {
      await link.declareQueue(name, queue());
      await link.bind(name, 'x', '');
    }
    const message = {
      body: Buffer.alloc(0),
      messageId: '1',
      headers: { list: [1] },
      persistent: true,
      mandatory: true,
    };
    await new Promise((resolve) => channel.publish('x', '', message, { answered: resolve, cut: resolve }));
    const one = (await link.pull('one')) as Delivery;
    (one.headers['list'] as number[]).push(2);
    expect((await link.pull('two'))?.headers).toEqual({ list: [1] });
  });
});

describe('a quorum queue that refuses publishes', () => {
  test('does so one message late, and until it has emptied to four fifths, as RabbitMQ does', async () => {
    const { link, channel } = await open();
    await link.declareQueue(
      'q',
      queue({ 'x-queue-type': 'quorum', 'x-max-length': 5, 'x-overflow': 'reject-publish' }),
    );
    const answers: unknown[] = [];
    for (let count = 0; count < 7; count += 1) answers.push(await publish(channel, 'q'));
    expect(answers).toEqual([...Array(6).fill('confirmed'), 'nacked']);
    await link.pull('q');
    expect(await publish(channel, 'q')).toBe('nacked');
    await link.pull('q');
    expect(await publish(channel, 'q')).toBe('confirmed');
  });
});

describe('time in a memory broker', () => {
  test('expires messages when its clock says so, and not before', async () => {
    const clock = manualClock();
    const { broker, link, channel } = await open({ clock });
    await link.declareQueue('dead', queue());
    await link.declareQueue(
      'q',
      queue({
        'x-message-ttl': 3_600_000,
        'x-dead-letter-exchange': '',
        'x-dead-letter-routing-key': 'dead',
      }),
    );
    await publish(channel, 'q');
    await clock.advance(3_599_999);
    expect([broker.depth('q'), broker.depth('dead')]).toEqual([1, 0]);
    await clock.advance(1);
    expect([broker.depth('q'), broker.depth('dead')]).toEqual([0, 1]);
    const deaths = broker.messages('dead')[0]?.headers['x-death'] as { time: Date }[];
    expect(deaths[0]?.time.getTime()).toBe(clock.now());
  });

  test('deletes a queue that nobody has used for its x-expires', async () => {
    const clock = manualClock();
    const { broker, link } = await open({ clock });
    await link.declareQueue('q', queue({ 'x-expires': 1000 }));
    await clock.advance(900);
    await link.pull('q');
    await clock.advance(900);
    expect(broker.queues.length).toBe(1);
    const { ended } = await consume(link, 'q');
    await clock.advance(5000);
    expect([broker.queues.length, ended.length]).toEqual([1, 0]);
    broker.cancelConsumers('q');
    await clock.advance(999);
    expect(broker.queues.length).toBe(1);
    await clock.advance(1);
    expect([broker.queues.length, ended.length]).toEqual([0, 1]);
  });

  test('closes the channel of a consumer that keeps a delivery too long, and takes it back', async () => {
    const clock = manualClock();
    const { broker, link, channel } = await open({ clock });
    await link.declareQueue('q', queue());
    await publish(channel, 'q');
    const { deliveries, ended } = await consume(link, 'q');
    await clock.advance(1_799_999);
    expect([deliveries.length, ended.length]).toEqual([1, 0]);
    await clock.advance(1);
    expect(ended).toHaveLength(1);
    expect(ended[0]).toBeInstanceOf(BrokerRefusedError);
    expect((ended[0] as BrokerRefusedError).replyCode).toBe(406);
    expect([deliveries[0]?.ack(), broker.depth('q')]).toEqual([false, 1]);
  });

  test('passes when the test has replaced the global timers', async () => {
    vi.useFakeTimers();
    try {
      const { link } = await open({ clock: manualClock() });
      await link.declareQueue('q', queue());
      expect(await link.checkQueue('q')).toEqual({ messages: 0, consumers: 0 });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('the controls of a memory broker', () => {
  test('nack the next publishes, of one queue if one is named', async () => {
    const { broker, link, channel } = await open();
    await link.declareQueue('a', queue());
    await link.declareQueue('b', queue());
    broker.nackNext(2, 'a');
    const answers: unknown[] = [];
    for (const name of ['a', 'b', 'a', 'a']) answers.push(await publish(channel, name));
    expect(answers).toEqual(['nacked', 'confirmed', 'nacked', 'confirmed']);
    expect([broker.depth('a'), broker.depth('b')]).toEqual([1, 1]);
  });

  test('cancel the consumers of a queue, and what is out on them comes again', async () => {
    const { broker, link, channel } = await open();
    await link.declareQueue('q', queue());
    await publish(channel, 'q', 'one');
    await publish(channel, 'q', 'two');
    const { deliveries, ended } = await consume(link, 'q');
    expect(deliveries[0]?.ack()).toBe(true);
    expect(broker.cancelConsumers('q')).toBe(1);
    expect(broker.cancelConsumers('none')).toBe(0);
    expect([ended.length, deliveries[1]?.ack()]).toEqual([1, false]);
    await vi.waitUntil(() => broker.depth('q') === 1);
    expect(broker.queues[0]).toMatchObject({ messages: 1, unsettled: 0, consumers: 0 });
    expect(broker.links[0]?.consumers).toBe(0);
    expect(broker.messages('q')[0]).toMatchObject({ redelivered: true });
  });

  test('cancel a consumer before its owner has heard that it is one', async () => {
    const { broker, link, channel } = await open();
    await link.declareQueue('q', queue());
    await publish(channel, 'q');
    const told: string[] = [];
    const spec = { prefetch: 10, tag: '', exclusive: false, arguments: {} };
    const consuming = link
      .consume('q', spec, {
        delivered: () => void told.push('delivered'),
        ended: () => void told.push('ended'),
      })
      .then((subscription) => {
        told.push('subscribed');
        return subscription;
      });
    await link.deleteQueue('q');
    const subscription = await consuming;
    expect(told).toEqual(['delivered', 'ended', 'subscribed']);
    await subscription.stop();
    await subscription.release();
    expect(broker.links[0]?.consumers).toBe(0);
  });

  test('cut the links that are chosen', async () => {
    const broker = memoryBroker();
    const lost: string[] = [];
    for (const name of ['a', 'b']) {
      await dial(broker, name, { lost: (error) => void lost.push(`${name}: ${error.message}`) });
    }
    expect(broker.dropLinks({ name: (name) => name === 'a', reason: 'pulled the plug' })).toBe(1);
    await vi.waitUntil(() => lost.length > 0);
    expect(lost).toEqual(['a: pulled the plug']);
    expect(broker.links.map(({ name }) => name)).toEqual(['b']);
  });

  test('let a number of dials fail', async () => {
    const broker = memoryBroker();
    broker.refuseDials('unreachable', 2);
    await expect(dial(broker)).rejects.toThrow(ConnectError);
    await expect(dial(broker)).rejects.toMatchObject({ refused: false });
    await expect(dial(broker)).resolves.toBeDefined();
    broker.refuseDials('credentials');
    await expect(dial(broker)).rejects.toMatchObject({ refused: true });
    broker.acceptDials();
    await expect(dial(broker)).resolves.toBeDefined();
  });

  test('stop it, which loses what is not durable, and start it again', async () => {
    const { broker, link, channel } = await open();
    await link.declareQueue('durable', queue());
    await link.declareQueue('transient', { ...queue(), durable: false });
    await link.declareQueue('quorum', queue({ 'x-queue-type': 'quorum' }));
    for (const persistent of [true, false]) {
      await publish(channel, 'durable', `${persistent}`, persistent);
      await publish(channel, 'quorum', `${persistent}`, persistent);
    }
    broker.stop();
    await expect(dial(broker)).rejects.toMatchObject({ refused: false });
    broker.start();
    await dial(broker);
    expect(broker.queues.map(({ name, messages }) => [name, messages])).toEqual([
      ['durable', 1],
      ['quorum', 2],
    ]);
  });

  test('freeze it: nothing is read, delivered or answered until it thaws', async () => {
    const clock = manualClock();
    const { broker, link, channel } = await open({ clock });
    await link.declareQueue('dead', queue());
    await link.declareQueue(
      'q',
      queue({ 'x-message-ttl': 10, 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' }),
    );
    await publish(channel, 'q');
    broker.freeze();
    const seen: string[] = [];
    void publish(channel, 'dead').then((answer) => seen.push(String(answer)));
    void dial(broker, 'patient').then(() => seen.push('dialled'));
    const late = dial(broker, 'late').catch((error: Error) => error.message);
    await clock.advance(999);
    expect([seen, broker.depth('q'), broker.depth('dead')]).toEqual([[], 1, 0]);
    broker.thaw();
    await vi.waitUntil(() => seen.length === 2);
    expect(await late).toMatchObject({ open: true });
    await clock.advance(0);
    expect([seen.sort(), broker.depth('q'), broker.depth('dead')]).toEqual([['confirmed', 'dialled'], 0, 2]);
  });

  test('let a dial to a frozen broker run out of time, and a link on it be closed', async () => {
    const clock = manualClock();
    const { broker, link } = await open({ clock });
    broker.freeze();
    const attempt = expect(dial(broker)).rejects.toThrow(/did not answer within 1000 ms/);
    await clock.advance(1000);
    await attempt;
    await link.close();
    expect(broker.links).toEqual([]);
  });

  test('refuse with 403 what the login may not do', async () => {
    const { broker, link } = await open({
      permits: ({ permission, name, link: from }) =>
        from === 'test' || !(permission === 'write' && name === ''),
    });
    await link.declareQueue('q', queue());
    const closed: Error[] = [];
    const other = await dial(broker, 'other');
    const channel = await other.openPublishChannel({ closed: (error) => void closed.push(error) });
    const answer = await publish(channel, 'q');
    expect(answer).toBeInstanceOf(BrokerRefusedError);
    expect(answer).toMatchObject({
      replyCode: 403,
      replyText: "ACCESS_REFUSED - access to exchange 'amq.default' in vhost '/' refused for user 'guest'",
    });
    expect(closed).toHaveLength(1);
    expect(await other.checkQueue('q')).toEqual({ messages: 0, consumers: 0 });
  });
});

describe('a listener that throws', () => {
  test('costs its link, and neither the broker nor another link', async () => {
    const { broker, link, channel } = await open();
    await link.declareQueue('q', queue());
    const lost: Error[] = [];
    const other = await dial(broker, 'other', { lost: (error) => void lost.push(error) });
    const spec = { prefetch: 1, tag: '', exclusive: false, arguments: {} };
    const delivered = (): void => {
      throw new Error('from a listener');
    };
    await other.consume('q', spec, { delivered, ended: () => {} });
    expect(await publish(channel, 'q')).toBe('confirmed');
    await vi.waitUntil(() => lost.length > 0);
    expect(lost[0]?.cause).toMatchObject({ message: 'from a listener' });
    expect(await link.checkQueue('q')).toEqual({ messages: 1, consumers: 0 });
    const throwing = await dial(broker, 'publisher', { lost: (error) => void lost.push(error) });
    const its = await throwing.openPublishChannel({ closed: () => {} });
    const message = { body: Buffer.alloc(0), messageId: '1', headers: {}, persistent: true, mandatory: true };
    its.publish('', 'q', message, { answered: delivered, cut: delivered });
    await vi.waitUntil(() => lost.length > 1);
    expect(await link.checkQueue('q')).toEqual({ messages: 2, consumers: 0 });
  });
});

describe('what a memory broker does not have', () => {
  const refused: readonly (readonly [string, QueueSpec['arguments']])[] = [
    ['streams', { 'x-queue-type': 'stream' }],
    ['priorities', { 'x-max-priority': 5 }],
    ['a single active consumer', { 'x-single-active-consumer': true }],
    ['dead-lettering at least once', { 'x-queue-type': 'quorum', 'x-dead-letter-strategy': 'at-least-once' }],
  ];

  test.each(refused)('it refuses: %s', async (words, args) => {
    const { broker, link } = await open();
    await expect(link.declareQueue('q', queue(args))).rejects.toThrow(UnsupportedError);
    await expect(link.declareQueue('q', queue(args))).rejects.toThrow(words);
    expect(broker.queues).toEqual([]);
  });

  test('it refuses: exchanges of a plug-in, consumer priorities and queues without a name', async () => {
    const { link } = await open();
    const exchange = { type: 'x-delayed-message', durable: true, autoDelete: false, arguments: {} };
    await expect(link.declareExchange('x', exchange)).rejects.toThrow(UnsupportedError);
    await expect(link.declareQueue('', queue())).rejects.toThrow(UnsupportedError);
    await link.declareQueue('q', queue());
    const spec = { prefetch: 1, tag: '', exclusive: false, arguments: { 'x-priority': 1 } };
    await expect(link.consume('q', spec, { delivered: () => {}, ended: () => {} })).rejects.toThrow(
      UnsupportedError,
    );
  });

  test('it refuses a count that is none', () => {
    const broker = memoryBroker();
    expect(() => broker.nackNext(0)).toThrow(/nackNext\(count\): 0/);
    expect(() => broker.refuseDials('unreachable', Number.NaN)).toThrow(/refuseDials\(why, times\): NaN/);
  });

  test('it refuses an option that it does not know, and one that means nothing', () => {
    expect(() => memoryBroker({ clok: manualClock() } as MemoryBrokerOptions)).toThrow(ConfigurationError);
    expect(() => memoryBroker({ consumerTimeout: 0 })).toThrow(/consumerTimeout: 0/);
  });
});
