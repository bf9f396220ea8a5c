import { randomUUID } from 'node:crypto';
import { fixed, topology } from '@acemq/core';
import { faultProxy } from '@acemq/testing';
import { connect as connectRaw } from 'amqplib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Requester, respond } from '../../src/request/index.ts';
import { amqpUrl, deleteLater, onBroker, queueOn } from './on-broker.ts';
import { PATIENCE, replyByHand, type Sum } from './setting.ts';

const add = ({ payload: { a, b } }: { payload: Sum }): number => a + b;

describe('on RabbitMQ', () => {
  test('a thousand asks wait at once on one reply queue, and each gets its own answer', async () => {
    const mq = await onBroker();
    const queue = await queueOn(mq, 'classic');
    await using requester = await Requester.open<Sum, number>(mq, { routingKey: queue });
    const asked = Array.from({ length: 1000 }, (_, number) => requester.ask({ a: number, b: number }));
    await vi.waitFor(async () => expect(await mq.messageCount(queue)).toBe(1000), PATIENCE);
    expect(requester.outstanding).toBe(1000);
    const answering = await onBroker();
    await using responder = await respond<Sum, number>(answering, queue, add, {
      concurrency: 100,
      declare: false,
    });
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 1000 }, (_, number) => 2 * number));
    expect(requester).toMatchObject({ answered: 1000, outstanding: 0, unmatched: 0, timedOut: 0, failed: 0 });
    expect(responder).toMatchObject({ answered: 1000, failed: 0 });
  });

  test('the reply queue is exclusive while it lasts, and gone after the close', async () => {
    const mq = await onBroker();
    const queue = await queueOn(mq);
    const requester = await Requester.open(mq, { routingKey: queue });
    const { replyQueue } = requester;
    const other = await onBroker();
    await expect(other.consume(replyQueue, () => undefined as never)).rejects.toMatchObject({
      replyCode: 405,
    });
    await requester.close();
    expect(await mq.queueExists(replyQueue)).toBe(false);
  });

  test('a reply queue with a name holds the replies of a time when nobody read it', async () => {
    const mq = await onBroker();
    const queue = await queueOn(mq);
    const replyQueue = `answers-${randomUUID().slice(0, 8)}`;
    deleteLater(mq, replyQueue);
    const first = await Requester.open<Sum, number>(mq, { routingKey: queue, replyQueue });
    await using _responder = await respond<Sum, number>(mq, queue, add);
    expect(await first.ask({ a: 1, b: 2 })).toBe(3);
    await first.close();
    await replyByHand(mq, { address: replyQueue, correlationId: 'of the first' }, 1);
    await using second = await Requester.open<Sum, number>(mq, { routingKey: queue, replyQueue });
    await vi.waitFor(() => expect(second).toMatchObject({ unmatched: 1, late: 0 }), PATIENCE);
    expect(await second.ask({ a: 2, b: 2 })).toBe(4);
  });

  test('a reply that comes when the requester has gone is no fault', async () => {
    const mq = await onBroker();
    const queue = await queueOn(mq);
    const requester = await Requester.open<Sum, number>(mq, { routingKey: queue });
    const asked = requester.ask({ a: 1, b: 2 }).catch((error: Error) => error);
    await vi.waitFor(async () => expect(await mq.messageCount(queue)).toBe(1), PATIENCE);
    await requester.close();
    expect(await asked).toMatchObject({ code: 'ACEMQ_REQUEST_TIMEOUT' });
    await using responder = await respond<Sum, number>(mq, queue, add);
    await vi.waitFor(() => expect(responder.answered).toBe(1), PATIENCE);
    await responder.close();
    expect(await mq.messageCount(queue)).toBe(0);
    expect(await mq.messageCount(`${queue}.dlq`)).toBe(0);
  });

  test('a responder that fails tells its asker, and the request is dead-lettered with the reason', async () => {
    const mq = await onBroker();
    const queue = await queueOn(mq);
    await using _responder = await respond(mq, queue, () => {
      throw new RangeError('too large');
    });
    await using requester = await Requester.open(mq, { routingKey: queue });
    await expect(requester.ask(1)).rejects.toMatchObject({ type: 'RangeError', message: 'too large' });
    await vi.waitFor(async () => expect(await mq.messageCount(`${queue}.dlq`)).toBe(1), PATIENCE);
    const dead = await mq.pull(`${queue}.dlq`);
    expect(dead?.headers['x-acemq-error']).toBe('the handler rejected it: RangeError: too large');
    dead?.ack();
  });

  test('a retry through a rung keeps both addresses', async () => {
    const mq = await onBroker();
    const queue = `sums-${randomUUID().slice(0, 8)}`;
    const policy = fixed(3, '100ms').waitInBrokerFrom('100ms');
    await mq.declare(topology().queue(queue, { retry: policy }));
    deleteLater(mq, queue);
    deleteLater(mq, `${queue}.retry.100ms`);
    let runs = 0;
    mq.interceptPublish(async ({ envelope }, next) => {
      runs += envelope.type.endsWith('.reply') ? 1 : 0;
      if (runs === 1) throw new Error('not this time');
      await next();
    });
    await using responder = await respond<Sum, number>(mq, queue, add, { retry: policy });
    await using requester = await Requester.open<Sum, number>(mq, { routingKey: queue });
    expect(await requester.ask({ a: 1, b: 2 })).toBe(3);
    expect(responder.answered).toBe(1);
    expect(runs).toBe(2);
  });
});

describe('direct reply-to', () => {
  /** A client that is none of ours, whose replies come without a queue. */
  async function direct(queue: string) {
    const connection = await connectRaw(amqpUrl());
    onTestFinished(() => connection.close());
    const channel = await connection.createChannel();
    const replies: { body: string; headers: Record<string, unknown> }[] = [];
    await channel.consume(
      'amq.rabbitmq.reply-to',
      (message) => {
        if (message === null) return;
        replies.push({ body: message.content.toString(), headers: message.properties.headers ?? {} });
      },
      { noAck: true },
    );
    const ask = (payload: unknown, properties: object): void => {
      const body = Buffer.from(JSON.stringify(payload));
      channel.publish('', queue, body, { contentType: 'application/json', ...properties });
    };
    return { channel, replies, ask };
  }

  test('an asker of another client that has no queue gets its answer', async () => {
    const mq = await onBroker();
    const queue = await queueOn(mq);
    await using responder = await respond<Sum, number>(mq, queue, add);
    const { replies, ask } = await direct(queue);
    ask({ a: 1, b: 2 }, { replyTo: 'amq.rabbitmq.reply-to', messageId: 'm-1' });
    await vi.waitFor(() => expect(replies).toHaveLength(1), PATIENCE);
    expect(replies[0]?.body).toBe('3');
    expect(replies[0]?.headers).toMatchObject({
      'x-acemq-correlation': 'm-1',
      'x-acemq-causation': 'm-1',
    });
    expect(responder.answered).toBe(1);
  });

  test('also where it wrote the address into the header as it is', async () => {
    const mq = await onBroker();
    const queue = await queueOn(mq);
    await using _responder = await respond<Sum, number>(mq, queue, add);
    const { replies, ask } = await direct(queue);
    const replyTo = 'amq.rabbitmq.reply-to';
    ask({ a: 1, b: 2 }, { replyTo, headers: { 'acemq-reply-to': replyTo } });
    await vi.waitFor(() => expect(replies).toHaveLength(1), PATIENCE);
  });

  test('an asker whose channel has gone is answered into the void', async () => {
    const mq = await onBroker();
    const queue = await queueOn(mq);
    const { channel, ask } = await direct(queue);
    ask({ a: 1, b: 2 }, { replyTo: 'amq.rabbitmq.reply-to' });
    await vi.waitFor(async () => expect(await mq.messageCount(queue)).toBe(1), PATIENCE);
    await channel.close();
    await using responder = await respond<Sum, number>(mq, queue, add);
    await vi.waitFor(() => expect(responder.answered).toBe(1), PATIENCE);
    expect(mq.state).toBe('connected');
  });

  test('an address that no broker made costs nobody a connection', async () => {
    const mq = await onBroker();
    const queue = await queueOn(mq);
    const lost: string[] = [];
    mq.onState(({ type }) => lost.push(type));
    await using responder = await respond<Sum, number>(mq, queue, add);
    const { ask } = await direct(queue);
    for (const address of ['garbage', 'g2gCYQFhAg==.x', '!!!.x']) {
      ask({ a: 1, b: 2 }, { replyTo: `amq.rabbitmq.reply-to.${address}` });
    }
    await vi.waitFor(() => expect(responder.unanswerable).toBe(3), PATIENCE);
    await responder.close();
    expect(lost).toEqual([]);
    expect(await mq.messageCount(`${queue}.dlq`)).toBe(3);
  });

  test('one of another broker costs it once, and the request is dead-lettered', async () => {
    const mq = await onBroker({ retry: fixed(5, '10ms') });
    const queue = await queueOn(mq);
    let lost = 0;
    mq.onState(({ type }) => {
      if (type === 'lost') lost += 1;
    });
    await using responder = await respond<Sum, number>(mq, queue, add);
    const { ask } = await direct(queue);
    const elsewhere = Buffer.concat([
      Buffer.from([131, 88, 118, 0, 7]),
      Buffer.from('reply@1'),
      Buffer.alloc(12, 1),
    ]).toString('base64');
    ask({ a: 1, b: 2 }, { replyTo: `amq.rabbitmq.reply-to.${elsewhere}.key` });
    await vi.waitFor(async () => {
      expect(await mq.messageCount(queue)).toBe(0);
      expect(responder.answered + (await mq.messageCount(`${queue}.dlq`))).toBe(1);
    }, PATIENCE);
    // A broker that has learnt to drop it instead counts as answered.
    expect(lost).toBeLessThanOrEqual(1);
    await using requester = await Requester.open<Sum, number>(mq, { routingKey: queue });
    expect(await requester.ask({ a: 1, b: 2 })).toBe(3);
  });
});

describe('through a network that fails', () => {
  test('the consuming link cut with asks outstanding: replies sent after the restore arrive, the others time out', async () => {
    const proxy = await faultProxy(amqpUrl());
    onTestFinished(() => proxy.close());
    const answering = await onBroker();
    const queue = await queueOn(answering, 'classic');
    const mq = await onBroker({}, proxy.url);
    await using requester = await Requester.open<Sum, number>(mq, { routingKey: queue, timeout: '3s' });
    const asked = [1, 2, 3, 4].map((number) => requester.ask({ a: number, b: 0 }));
    const settled = Promise.allSettled(asked);
    await vi.waitFor(async () => expect(await answering.messageCount(queue)).toBe(4), PATIENCE);
    const recovered = new Promise<void>((resolve) => {
      mq.onState((event) => {
        if (event.type === 'recovered' && event.link === 'consume') resolve();
      });
    });
    const consuming = await vi.waitFor(() => {
      const found = proxy.connections.findLast(({ name }) => name?.endsWith(' consume'));
      if (found === undefined) throw new Error('no consuming link goes through the proxy');
      return found;
    }, PATIENCE);
    consuming.cut();
    await recovered;
    await using responder = await respond<Sum, number>(answering, queue, add);
    const outcomes = await settled;
    expect(responder.answered).toBe(4);
    for (const [index, outcome] of outcomes.entries()) {
      // The broker may take a moment to miss the old connection, whose queue then takes the replies with it.
      if (outcome.status === 'fulfilled') expect(outcome.value).toBe(index + 1);
      else expect(outcome.reason).toMatchObject({ code: 'ACEMQ_REQUEST_TIMEOUT' });
    }
    expect(await requester.ask({ a: 5, b: 5 })).toBe(10);
    expect(requester.outstanding).toBe(0);
  });

  test('a broker that has not missed the old connection refuses its queue for a while, and the asks wait', async () => {
    const proxy = await faultProxy(amqpUrl());
    onTestFinished(() => proxy.close());
    const answering = await onBroker();
    const queue = await queueOn(answering, 'classic');
    await using _responder = await respond<Sum, number>(answering, queue, add);
    const mq = await onBroker({}, proxy.url);
    await using requester = await Requester.open<Sum, number>(mq, { routingKey: queue });
    const { replyQueue } = requester;
    const consuming = await vi.waitFor(() => {
      const found = proxy.connections.findLast(({ name }) => name?.endsWith(' consume'));
      if (found === undefined) throw new Error('no consuming link goes through the proxy');
      return found;
    }, PATIENCE);
    // Only the client is told: for RabbitMQ the old connection goes on.
    consuming.cut({ side: 'client' });
    await vi.waitFor(() => expect(mq.refusedDeclarations[0]?.reason).toContain('405'), PATIENCE);
    const asked = requester.ask({ a: 1, b: 2 });
    consuming.cut();
    expect(await asked).toBe(3);
    expect(requester.replyQueue).toBe(replyQueue);
    expect(requester.timedOut).toBe(0);
  });
});
