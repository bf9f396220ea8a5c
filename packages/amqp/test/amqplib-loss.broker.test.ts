import {
  BrokerRefusedError,
  ConnectionLostError,
  type Delivery,
  EncodeError,
  type Link,
  type Outbound,
} from '@acemq/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type AmqplibOptions, amqplibTransport } from '../src/amqplib/index.ts';
import {
  type BrokerProxy,
  basicCancel,
  channelClose,
  connectionClose,
  consumeOk,
  methodFrame,
  openProxy,
  shortText,
} from './amqplib-proxy.ts';

const QUEUE = { durable: false, autoDelete: false, exclusive: true, arguments: {} };
const CONSUME = { prefetch: 10, tag: '', exclusive: false, arguments: {} };

let proxy: BrokerProxy;
let links: Link[];
let heard: string[];
let counter = 0;

beforeEach(async () => {
  proxy = await openProxy();
  links = [];
  heard = [];
});

afterEach(async () => {
  for (const link of links) link.destroy();
  await proxy.close();
});

async function dial(heartbeat = 0, options: AmqplibOptions = {}): Promise<Link> {
  const told = heard;
  const link = await amqplibTransport(proxy.url, options).dial({
    name: 'loss test',
    endpoint: 0,
    timeout: 10_000,
    heartbeat,
    events: {
      lost: (error) => told.push(`lost: ${error.message}`),
      blocked: (reason) => told.push(`blocked: ${reason}`),
      unblocked: () => told.push('unblocked'),
    },
  });
  links.push(link);
  return link;
}

function queueName(): string {
  counter += 1;
  return `amqplib-loss.${process.pid}.${Date.now()}.${counter}`;
}

function message(): Outbound {
  return { body: new Uint8Array(10), messageId: 'id', headers: {}, persistent: false, mandatory: true };
}

async function publish(link: Link, queue: string): Promise<void> {
  const channel = await link.openPublishChannel({ closed() {} });
  await new Promise<void>((resolve, reject) => {
    channel.publish('', queue, message(), { answered: () => resolve(), cut: reject });
  });
  await channel.close();
}

describe('a link is lost', () => {
  it.each([
    [
      'the socket is reset',
      () => {
        for (const client of proxy.clients) client.resetAndDestroy();
      },
      /ECONNRESET/,
    ],
    [
      'the socket ends',
      () => {
        for (const client of proxy.clients) client.end();
      },
      /Unexpected close/,
    ],
    [
      'the broker is shut down',
      () => proxy.say(connectionClose(320, 'CONNECTION_FORCED - broker forced')),
      /320 CONNECTION_FORCED/,
    ],
    [
      'the broker finds an error',
      () => proxy.say(connectionClose(501, 'FRAME_ERROR - x')),
      /501 FRAME_ERROR/,
    ],
    [
      'what comes is no frame',
      () => proxy.say(Buffer.from('\x01\0\0\0\0\0\x01x!!', 'latin1')),
      /Invalid frame/,
    ],
    ['what comes is about no channel', () => proxy.say(channelClose(99, 404, 'x')), /unknown channel/],
  ])('when %s: what waits is cut first, it is told once, and the socket goes', async (_, cut, reason) => {
    const link = await dial();
    const queue = queueName();
    await link.declareQueue(queue, QUEUE);
    const order: string[] = [];
    const channel = await link.openPublishChannel({ closed: () => order.push('closed') });
    await link.consume(queue, CONSUME, { delivered() {}, ended: () => order.push('ended') });
    proxy.frozen = true;
    channel.publish('', queue, message(), {
      answered: () => order.push('answered'),
      cut: () => order.push('cut'),
    });
    const questions = Promise.allSettled([
      link.checkQueue(queue),
      link.pull(queue),
      link.openPublishChannel({ closed() {} }),
    ]);
    cut();
    const settled = await questions;
    for (const each of settled) expect(each).toMatchObject({ reason: expect.any(ConnectionLostError) });
    await vi.waitFor(() => expect(heard).toHaveLength(1));
    expect(heard[0]).toMatch(reason);
    expect(order.sort()).toEqual(['closed', 'cut', 'ended']);
    expect(link.open).toBe(false);
    await vi.waitFor(() => expect(proxy.clients.size).toBe(0), { timeout: 5000 });
    expect(heard).toHaveLength(1);
  });

  it('when the broker no longer answers heartbeats', async () => {
    const link = await dial(1000);
    proxy.mute = true;
    await vi.waitFor(() => expect(heard).toHaveLength(1), { timeout: 9000 });
    expect(heard[0]).toContain('Heartbeat timeout');
    expect(link.open).toBe(false);
    await vi.waitFor(() => expect(proxy.clients.size).toBe(0), { timeout: 5000 });
  }, 20_000);

  it('when one who is told throws, rather than the process', async () => {
    const link = await dial();
    const queue = queueName();
    await link.declareQueue(queue, QUEUE);
    const ends: Error[] = [];
    const events = {
      delivered() {
        throw new Error('a fault above');
      },
      ended: (error: Error) => ends.push(error),
    };
    await link.consume(queue, CONSUME, events);
    await publish(link, queue).catch(() => {});
    await vi.waitFor(() => expect(heard).toHaveLength(1));
    expect(heard[0]).toContain('a fault above');
    expect(ends).toHaveLength(1);
  });
});

describe('a publish channel', () => {
  it('tells every listener of a multiple confirm, though one throws, and the link goes', async () => {
    const link = await dial();
    const told: string[] = [];
    const channel = await link.openPublishChannel({ closed: () => told.push('closed') });
    for (let i = 0; i < 3; i += 1) {
      const answered = (): void => {
        told.push(`answered ${i}`);
        if (i === 0) throw new Error('a fault above');
      };
      channel.publish('', 'amqplib-loss.none', message(), { answered, cut: () => told.push(`cut ${i}`) });
    }
    await vi.waitFor(() => expect(heard).toHaveLength(1));
    expect(heard[0]).toContain('a fault above');
    expect(told).toHaveLength(4);
    expect(told[0]).toBe('answered 0');
    expect(told.at(-1)).toBe('closed');
  });

  it('refuses headers larger than a frame agreed on, which would cost the link', async () => {
    const link = await dial(0, { frameMax: 4096 });
    const channel = await link.openPublishChannel({ closed() {} });
    const answers: string[] = [];
    const listener = { answered: (verdict: string) => answers.push(verdict), cut: () => answers.push('cut') };
    const large = { ...message(), headers: { text: 'x'.repeat(4000) } };
    expect(() => channel.publish('', 'amqplib-loss.none', large, listener)).toThrow(EncodeError);
    const fitting = { ...message(), headers: { text: 'x'.repeat(2900) }, body: new Uint8Array(20_000) };
    channel.publish('', 'amqplib-loss.none', fitting, listener);
    await vi.waitFor(() => expect(answers).toEqual(['unroutable']));
    expect(heard).toEqual([]);
  });
});

describe('a link', () => {
  it('tells of an alarm in the words of the broker, and of its end', async () => {
    await dial();
    proxy.say(methodFrame(0, 10, 60, shortText('low on memory')));
    proxy.say(methodFrame(0, 10, 61));
    await vi.waitFor(() => expect(heard).toEqual(['blocked: low on memory', 'unblocked']));
  });

  it('closes under an alarm without waiting for the broker', async () => {
    const link = await dial();
    proxy.say(methodFrame(0, 10, 60, shortText('low on memory')));
    await vi.waitFor(() => expect(heard).toHaveLength(1));
    proxy.frozen = true;
    const started = performance.now();
    await link.close();
    expect(performance.now() - started).toBeLessThan(3000);
    await vi.waitFor(() => expect(proxy.clients.size).toBe(0));
    expect(heard).toHaveLength(1);
  });

  it('closes in bounded time when the broker no longer answers', async () => {
    const link = await dial();
    const channel = await link.openPublishChannel({ closed() {} });
    proxy.frozen = true;
    const started = performance.now();
    await Promise.all([channel.close(), link.close()]);
    expect(performance.now() - started).toBeLessThan(15_000);
    await vi.waitFor(() => expect(proxy.clients.size).toBe(0));
    expect(heard).toEqual([]);
  }, 20_000);

  it('sends the acknowledgements given just before it is closed', async () => {
    const link = await dial();
    const queue = queueName();
    const other = await dial();
    await other.declareQueue(queue, { ...QUEUE, exclusive: false });
    for (let i = 0; i < 20; i += 1) await publish(other, queue);
    const got: Delivery[] = [];
    await link.consume(queue, CONSUME, { delivered: (delivery) => got.push(delivery), ended() {} });
    const pulled: (Delivery | undefined)[] = [];
    await vi.waitFor(() => expect(got).toHaveLength(10));
    for (let i = 0; i < 3; i += 1) pulled.push(await link.pull(queue));
    for (const delivery of [...got, ...pulled]) expect(delivery?.ack()).toBe(true);
    await link.close();
    const left = await other.checkQueue(queue);
    await other.deleteQueue(queue);
    expect(left?.messages).toBe(7);
  });
});

describe('a subscription', () => {
  it('ends with the refusal when an acknowledgement comes too late, and later ones are not sent', async () => {
    const link = await dial();
    const queue = queueName();
    await link.declareQueue(queue, QUEUE);
    const got: Delivery[] = [];
    const ends: Error[] = [];
    // The first channel is the one that questions are asked on; this is the second.
    const subscription = await link.consume(queue, CONSUME, {
      delivered: (delivery) => got.push(delivery),
      ended: (error) => ends.push(error),
    });
    await publish(link, queue);
    await vi.waitFor(() => expect(got).toHaveLength(1));
    proxy.say(channelClose(2, 406, 'PRECONDITION_FAILED - delivery acknowledgement on channel 2 timed out'));
    await vi.waitFor(() => expect(ends).toHaveLength(1));
    expect(ends[0]).toBeInstanceOf(BrokerRefusedError);
    expect(ends[0]).toMatchObject({ replyCode: 406, replyText: expect.stringContaining('timed out') });
    expect(got[0]?.ack()).toBe(false);
    expect(got[0]?.nack(true)).toBe(false);
    await subscription.stop();
    await subscription.release();
    expect(ends).toHaveLength(1);
  });

  it('that the broker cancels is closed with its channel, and what is out on it comes again', async () => {
    const link = await dial();
    const queue = queueName();
    await link.declareQueue(queue, QUEUE);
    const got: Delivery[] = [];
    const told: string[] = [];
    const subscription = await link.consume(
      queue,
      { ...CONSUME, tag: 'cut' },
      {
        delivered: (delivery) => got.push(delivery),
        ended: (error) => told.push(`${error.name}, ack ${got[1]?.ack()}`),
      },
    );
    for (let i = 0; i < 3; i += 1) await publish(link, queue);
    await vi.waitFor(() => expect(got).toHaveLength(3));
    expect(got[0]?.ack()).toBe(true);
    proxy.say(basicCancel(2, 'cut'));
    await vi.waitFor(() => expect(told).toEqual(['ConnectionLostError, ack false']));
    const again: Delivery[] = [];
    await link.consume(queue, CONSUME, { delivered: (delivery) => again.push(delivery), ended() {} });
    await vi.waitFor(() => expect(again).toHaveLength(2));
    expect(again.map((delivery) => delivery.redelivered)).toEqual([true, true]);
    expect((await link.checkQueue(queue))?.consumers).toBe(1);
    await subscription.stop();
    await subscription.release();
    expect(told).toHaveLength(1);
    expect(heard).toEqual([]);
  });

  it('that the broker cancels as soon as it has begun is closed too, and its owner is told first', async () => {
    const link = await dial();
    const queue = queueName();
    await link.declareQueue(queue, QUEUE);
    await publish(link, queue);
    const told: string[] = [];
    proxy.after = { bytes: consumeOk(2, 'short'), say: basicCancel(2, 'short') };
    const subscription = await link.consume(
      queue,
      { ...CONSUME, tag: 'short' },
      { delivered: () => told.push('delivered'), ended: () => told.push('ended') },
    );
    expect(told).toEqual(['ended']);
    await subscription.release();
    await vi.waitFor(async () => {
      expect(await link.checkQueue(queue)).toEqual({ messages: 1, consumers: 0 });
    });
    expect(told).toEqual(['ended']);
    expect(heard).toEqual([]);
  });

  it('that the broker cancels leaves no channel in use, however often', async () => {
    const link = await dial(0, { channelMax: 3 });
    const queue = queueName();
    const ends: Error[] = [];
    const events = { delivered() {}, ended: (error: Error) => ends.push(error) };
    for (let i = 1; i <= 20; i += 1) {
      await link.declareQueue(queue, QUEUE);
      await link.consume(queue, CONSUME, events);
      await link.deleteQueue(queue);
      await vi.waitFor(() => expect(ends).toHaveLength(i));
    }
    expect(link.open).toBe(true);
  });
});

describe('questions', () => {
  it('by the thousand leave channels for others, and are asked as long as one channel is left', async () => {
    const link = await dial(0, { channelMax: 12 });
    const queue = queueName();
    await link.declareQueue(queue, QUEUE);
    const questions = Promise.all(Array.from({ length: 3000 }, () => link.checkQueue(queue)));
    const others = await Promise.all([1, 2, 3].map(() => link.openPublishChannel({ closed() {} })));
    expect(others.every((channel) => channel.open)).toBe(true);
    for (const answer of await questions) expect(answer).toEqual({ messages: 0, consumers: 0 });
    const narrow = await dial(0, { channelMax: 2 });
    await narrow.openPublishChannel({ closed() {} });
    const missing = `${queue}.none`;
    const answers = await Promise.all(Array.from({ length: 50 }, () => narrow.checkQueue(missing)));
    expect(answers).toEqual(Array(50).fill(undefined));
  });

  it('that wait for a channel when the link is cut are rejected before it is told', async () => {
    const link = await dial();
    proxy.frozen = true;
    const order: string[] = [];
    const questions = Array.from({ length: 3000 }, () =>
      link.checkQueue('any').catch((error: Error) => void order.push(error.name)),
    );
    const told = vi.waitFor(() => expect(heard).toHaveLength(1));
    for (const client of proxy.clients) client.resetAndDestroy();
    await told;
    expect(order).toEqual(Array(3000).fill('ConnectionLostError'));
    await Promise.all(questions);
  });
});
