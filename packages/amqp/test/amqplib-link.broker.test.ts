import type { ConsumeEvents, Delivery, Link, LinkEvents, Outbound, QueueSpec } from '@acemq/core';
import { BrokerRefusedError, ConnectionClosedError, ConnectionLostError } from '@acemq/core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { amqplibTransport } from '../src/amqplib/index.ts';
import { BROKER_URL } from './amqplib-proxy.ts';

const TRANSIENT: QueueSpec = { durable: false, autoDelete: false, exclusive: false, arguments: {} };

interface Dialled {
  readonly link: Link;
  readonly lost: Error[];
}

const links: Link[] = [];
const queues: string[] = [];
const exchanges: string[] = [];
let counter = 0;

function fresh(kind: string[], name: string): string {
  counter += 1;
  const own = `amqplib-test.${process.pid}.${Date.now()}.${counter}.${name}`;
  kind.push(own);
  return own;
}

async function dial(events: Partial<LinkEvents> = {}): Promise<Dialled> {
  const lost: Error[] = [];
  const link = await amqplibTransport(BROKER_URL).dial({
    name: 'amqplib test',
    endpoint: 0,
    timeout: 10_000,
    heartbeat: 20_000,
    events: { lost: (error) => lost.push(error), blocked() {}, unblocked() {}, ...events },
  });
  links.push(link);
  return { link, lost };
}

function message(text: string, more: Partial<Outbound> = {}): Outbound {
  return {
    body: new TextEncoder().encode(text),
    contentType: 'text/plain',
    messageId: `id-${text}`,
    headers: {},
    persistent: false,
    mandatory: true,
    ...more,
  };
}

afterEach(async () => {
  const { link } = await dial();
  for (const queue of queues.splice(0)) await link.deleteQueue(queue);
  for (const exchange of exchanges.splice(0)) await link.deleteExchange(exchange);
  await Promise.all(links.splice(0).map((each) => each.close()));
});

/** Publishes one message and says how it ended. */
async function publish(link: Link, queue: string, out: Outbound): Promise<string> {
  const channel = await link.openPublishChannel({ closed() {} });
  const answer = await new Promise<string>((resolve) => {
    channel.publish('', queue, out, {
      answered: (v, reason) => resolve(`${v} ${reason}`.trim()),
      cut: (e) => resolve(String(e)),
    });
  });
  await channel.close();
  return answer;
}

describe('questions', () => {
  it('leave the link usable after a refusal, which carries the code and the words of the broker', async () => {
    const { link } = await dial();
    const queue = fresh(queues, 'drift');
    await link.declareQueue(queue, TRANSIENT);
    await link.declareQueue(queue, TRANSIENT);
    const refused = await link
      .declareQueue(queue, { ...TRANSIENT, arguments: { 'x-message-ttl': 5 } })
      .catch((e) => e);
    expect(refused).toBeInstanceOf(BrokerRefusedError);
    expect(refused).toMatchObject({
      replyCode: 406,
      replyText: expect.stringMatching(/^PRECONDITION_FAILED - inequivalent arg 'x-message-ttl'/),
    });
    await expect(link.bind(queue, `${queue}.none`, 'k')).rejects.toMatchObject({ replyCode: 404 });
    await expect(link.pull(`${queue}.none`)).rejects.toMatchObject({ replyCode: 404 });
    await expect(link.declareQueue('amq.own', TRANSIENT)).rejects.toMatchObject({ replyCode: 403 });
    expect(await link.checkQueue(`${queue}.none`)).toBeUndefined();
    expect(await link.checkExchange(`${queue}.none`)).toBe(false);
    expect(await link.checkExchange('amq.topic')).toBe(true);
    expect(await link.deleteQueue(`${queue}.none`)).toBe(0);
    await link.deleteExchange(`${queue}.none`);
    expect(await link.checkQueue(queue)).toEqual({ messages: 0, consumers: 0 });
    expect(link.open).toBe(true);
  });

  it("reject with 405 for another connection's exclusive queue", async () => {
    const one = await dial();
    const other = await dial();
    const queue = fresh(queues, 'exclusive');
    await one.link.declareQueue(queue, { ...TRANSIENT, exclusive: true });
    await expect(other.link.checkQueue(queue)).rejects.toMatchObject({ replyCode: 405 });
    await one.link.close();
  });

  it('are refused, not cut, when the broker closes the whole connection over one', async () => {
    const { link, lost } = await dial();
    const spec = { type: 'no-such-type', durable: false, autoDelete: false, arguments: {} };
    const name = fresh(exchanges, 'typed');
    await expect(link.declareExchange(name, spec)).rejects.toMatchObject({ replyCode: 503 });
    await vi.waitFor(() => expect(lost).toHaveLength(1));
    expect(link.open).toBe(false);
  });

  it('asked at the same time are all answered', async () => {
    const { link } = await dial();
    const names = Array.from({ length: 20 }, (_, i) => fresh(queues, `many${i}`));
    await Promise.all(names.map((name) => link.declareQueue(name, TRANSIENT)));
    const found = await Promise.all(names.map((name) => link.checkQueue(name)));
    expect(found.every((state) => state?.messages === 0)).toBe(true);
  });

  it('reject with ConnectionClosedError after close', async () => {
    const { link, lost } = await dial();
    await link.close();
    await link.close();
    await expect(link.checkQueue('any')).rejects.toBeInstanceOf(ConnectionClosedError);
    await expect(link.pull('any')).rejects.toBeInstanceOf(ConnectionClosedError);
    await expect(link.openPublishChannel({ closed() {} })).rejects.toBeInstanceOf(ConnectionClosedError);
    expect(lost).toEqual([]);
  });
});

describe('destroy', () => {
  it('cuts what waits, and then tells of the loss once', async () => {
    const order: string[] = [];
    const { link } = await dial({ lost: (error) => order.push(`lost ${error.name}`) });
    const question = link.checkQueue('any').catch((error) => order.push(`question ${error.name}`));
    link.destroy();
    expect(link.open).toBe(false);
    await question;
    await vi.waitFor(() => expect(order).toHaveLength(2));
    expect(order).toEqual(['question ConnectionLostError', 'lost ConnectionLostError']);
    link.destroy();
    await link.close();
    expect(order).toHaveLength(2);
  });
});

describe('publishing', () => {
  it('answers confirmed, and unroutable with the words of the broker', async () => {
    const { link } = await dial();
    const queue = fresh(queues, 'publish');
    await link.declareQueue(queue, TRANSIENT);
    expect(await publish(link, queue, message('a'))).toBe('confirmed');
    expect(await publish(link, `${queue}.none`, message('a'))).toBe('unroutable 312 NO_ROUTE');
    expect(await publish(link, `${queue}.none`, message('a', { mandatory: false }))).toBe('confirmed');
  });

  it('answers nacked when the queue refuses the message', async () => {
    const { link } = await dial();
    const queue = fresh(queues, 'full');
    const limits = { 'x-max-length': 1, 'x-overflow': 'reject-publish' };
    await link.declareQueue(queue, { ...TRANSIENT, arguments: limits });
    expect(await publish(link, queue, message('a'))).toBe('confirmed');
    expect(await publish(link, queue, message('b'))).toBe('nacked');
  });

  it('tells each of many messages its own answer, returns and refused headers in between', async () => {
    const { link } = await dial();
    const queue = fresh(queues, 'mixed');
    await link.declareQueue(queue, TRANSIENT);
    const channel = await link.openPublishChannel({ closed() {} });
    const answers = new Map<number, string>();
    let expected = 0;
    for (let i = 0; i < 3000; i += 1) {
      const target = i % 7 === 3 ? `${queue}.none` : queue;
      const headers = i % 5 === 1 ? { bad: Number.NaN } : i % 11 === 2 ? { big: 'x'.repeat(70_000) } : { i };
      const out = message(String(i), { headers });
      const listener = {
        answered: (verdict: string) => answers.set(i, verdict),
        cut: (error: Error) => answers.set(i, String(error)),
      };
      if (i % 5 === 1 || i % 11 === 2) {
        expect(() => channel.publish('', target, out, listener)).toThrow(
          expect.objectContaining({ code: 'ACEMQ_ENCODE' }),
        );
      } else {
        channel.publish('', target, out, listener);
        expected += 1;
      }
    }
    await vi.waitFor(() => expect(answers.size).toBe(expected));
    for (const [i, verdict] of answers) expect(verdict).toBe(i % 7 === 3 ? 'unroutable' : 'confirmed');
    await channel.close();
  });

  it('cuts what is outstanding with the refusal when the broker closes the channel', async () => {
    const { link } = await dial();
    const closed: Error[] = [];
    const channel = await link.openPublishChannel({ closed: (error) => closed.push(error) });
    const cuts: Error[] = [];
    const listener = { answered() {}, cut: (error: Error) => cuts.push(error) };
    channel.publish(fresh([], 'no-exchange'), 'k', message('a'), listener);
    channel.publish(fresh([], 'no-exchange'), 'k', message('b'), listener);
    await vi.waitFor(() => expect(closed).toHaveLength(1));
    expect(cuts.map((error) => (error as BrokerRefusedError).replyCode)).toEqual([404, 404]);
    expect(closed[0]).toMatchObject({ replyCode: 404 });
    expect(channel.open).toBe(false);
    expect(() => channel.publish('', 'q', message('c'), listener)).toThrow(ConnectionLostError);
    expect(link.open).toBe(true);
    await channel.close();
    expect(cuts).toHaveLength(2);
  });

  it('cuts what is outstanding when the channel is closed, and reports nothing more', async () => {
    const { link } = await dial();
    const closed: Error[] = [];
    const channel = await link.openPublishChannel({ closed: (error) => closed.push(error) });
    const seen: string[] = [];
    channel.publish('', 'none', message('a'), {
      answered: (v) => seen.push(v),
      cut: (e) => seen.push(e.name),
    });
    await Promise.all([channel.close(), channel.close()]);
    expect(seen).toEqual(['ConnectionLostError']);
    expect(closed).toEqual([]);
  });

  it('cuts on a link that is closed or dropped, before that is told', async () => {
    for (const end of ['close', 'destroy'] as const) {
      const order: string[] = [];
      const { link } = await dial({ lost: () => order.push('lost') });
      const channel = await link.openPublishChannel({
        closed: (error) => order.push(`closed ${error.name}`),
      });
      channel.publish('', 'none', message('a'), {
        answered() {},
        cut: (error) => order.push(`cut ${error.name}`),
      });
      await link[end]();
      const closedBy = end === 'close' ? 'closed ConnectionClosedError' : 'closed ConnectionLostError';
      const expected = ['cut ConnectionLostError', closedBy, ...(end === 'close' ? [] : ['lost'])];
      await vi.waitFor(() => expect(order).toEqual(expected));
    }
  });

  it('carries bodies of any size', async () => {
    const { link } = await dial();
    const queue = fresh(queues, 'sizes');
    await link.declareQueue(queue, TRANSIENT);
    for (const size of [0, 1, 2047, 2048, 131_072, 500_000]) {
      const body = new Uint8Array(size + 2).fill(7).subarray(1, size + 1);
      expect(await publish(link, queue, message('a', { body }))).toBe('confirmed');
      const pulled = await link.pull(queue);
      expect(pulled?.body.length).toBe(size);
      expect(pulled?.body.every((byte) => byte === 7)).toBe(true);
      expect(pulled?.ack()).toBe(true);
    }
  });

  it('gives back what was written, field by field', async () => {
    const { link } = await dial();
    const queue = fresh(queues, 'fields');
    await link.declareQueue(queue, TRANSIENT);
    const headers = {
      text: 'ü',
      yes: true,
      none: null,
      gone: undefined as unknown as null,
      small: 5,
      long: 1_764_539_000_000,
      half: 0.5,
      big: 2n ** 40n,
      when: new Date(1_764_539_000_000),
      bytes: new Uint8Array([1, 2, 3]).subarray(1),
      list: ['a', 1, new Date(0)],
      table: { '!': 'timestamp', value: 'no date', inner: { when: new Date(1000) } },
      odd: { '!': 'bogus' },
      ['__proto__x']: 'x',
    };
    const out = message('a', {
      headers,
      replyTo: 'r',
      timestamp: 1_764_539_000,
      priority: 3,
      expiration: '60000',
    });
    expect(await publish(link, queue, out)).toBe('confirmed');
    const pulled = (await link.pull(queue)) as Delivery;
    expect(pulled).toMatchObject({
      contentType: 'text/plain',
      messageId: 'id-a',
      replyTo: 'r',
      exchange: '',
      routingKey: queue,
      redelivered: false,
      timestamp: 1_764_539_000,
      priority: 3,
      expiration: '60000',
    });
    const { gone: _, bytes, big, ...rest } = headers;
    expect({ ...pulled.headers, bytes: [...(pulled.headers['bytes'] as Uint8Array)] }).toEqual({
      ...rest,
      bytes: [...bytes],
      big: Number(big),
    });
    expect(pulled.nack(false)).toBe(true);
    expect(await publish(link, queue, message('b', { contentType: '', replyTo: '' }))).toBe('confirmed');
    const bare = (await link.pull(queue)) as Delivery;
    expect([bare.contentType, bare.replyTo, bare.timestamp, bare.priority, bare.expiration]).toEqual(
      Array(5).fill(undefined),
    );
    bare.ack();
  });
});

describe('consuming', () => {
  interface Heard extends ConsumeEvents {
    readonly got: Delivery[];
    readonly ends: Error[];
  }

  function listen(): Heard {
    const got: Delivery[] = [];
    const ends: Error[] = [];
    return { got, ends, delivered: (delivery) => got.push(delivery), ended: (error) => ends.push(error) };
  }

  const SPEC = { prefetch: 2, tag: '', exclusive: false, arguments: {} };

  async function filled(link: Link, count: number): Promise<string> {
    const queue = fresh(queues, 'consume');
    await link.declareQueue(queue, TRANSIENT);
    for (let i = 0; i < count; i += 1) await publish(link, queue, message(String(i)));
    return queue;
  }

  it('keeps to the prefetch, and settles each delivery once', async () => {
    const { link } = await dial();
    const queue = await filled(link, 3);
    const heard = listen();
    const subscription = await link.consume(queue, { ...SPEC, tag: 'my-tag' }, heard);
    expect(subscription.tag).toBe('my-tag');
    await vi.waitFor(() => expect(heard.got).toHaveLength(2));
    expect(heard.got[0]?.ack()).toBe(true);
    expect(heard.got[0]?.ack()).toBe(false);
    expect(heard.got[0]?.nack(true)).toBe(false);
    await vi.waitFor(() => expect(heard.got).toHaveLength(3));
    expect(heard.got[1]?.nack(true)).toBe(true);
    await vi.waitFor(() => expect(heard.got).toHaveLength(4));
    expect(heard.got[3]).toMatchObject({ messageId: 'id-1', redelivered: true });
    await subscription.release();
    expect(heard.ends).toEqual([]);
  });

  it('stops deliveries first, still settles, and gives the rest back on release', async () => {
    const { link } = await dial();
    const queue = await filled(link, 3);
    const heard = listen();
    const subscription = await link.consume(queue, SPEC, heard);
    await vi.waitFor(() => expect(heard.got).toHaveLength(2));
    await subscription.stop();
    await subscription.stop();
    expect(heard.got[0]?.ack()).toBe(true);
    expect((await link.checkQueue(queue))?.consumers).toBe(0);
    await subscription.release();
    expect(heard.got[1]?.ack()).toBe(false);
    expect((await link.checkQueue(queue))?.messages).toBe(2);
    expect(heard.got).toHaveLength(2);
    expect(heard.ends).toEqual([]);
  });

  it('is refused with the code of the broker when there is no such queue, or it is consumed exclusively', async () => {
    const { link } = await dial();
    const heard = listen();
    await expect(link.consume('none', SPEC, heard)).rejects.toMatchObject({ replyCode: 404 });
    const queue = await filled(link, 0);
    await link.consume(queue, { ...SPEC, exclusive: true }, listen());
    await expect(link.consume(queue, SPEC, heard)).rejects.toMatchObject({ replyCode: 403 });
    expect(heard.ends).toEqual([]);
  });

  it('ends when its queue is deleted, and nothing of it can be settled any more', async () => {
    const { link } = await dial();
    const queue = await filled(link, 1);
    const heard = listen();
    const subscription = await link.consume(queue, SPEC, heard);
    await vi.waitFor(() => expect(heard.got).toHaveLength(1));
    await link.deleteQueue(queue);
    await vi.waitFor(() => expect(heard.ends).toHaveLength(1));
    expect(heard.ends[0]?.message).toContain(queue);
    expect(heard.got[0]?.ack()).toBe(false);
    await subscription.stop();
    await subscription.release();
    expect(heard.ends).toHaveLength(1);
  });

  it('ends when the link is lost, and an ack on it is then not sent', async () => {
    const { link, lost } = await dial();
    const queue = await filled(link, 1);
    const heard = listen();
    const subscription = await link.consume(queue, SPEC, heard);
    await vi.waitFor(() => expect(heard.got).toHaveLength(1));
    link.destroy();
    await vi.waitFor(() => expect(lost).toHaveLength(1));
    expect(heard.ends).toHaveLength(1);
    expect(heard.ends[0]).toBeInstanceOf(ConnectionLostError);
    expect(heard.got[0]?.ack()).toBe(false);
    expect(heard.got[0]?.nack(true)).toBe(false);
    await subscription.stop();
    await subscription.release();
  });

  it('pulls from several queues, each settled where it came from, whatever another queue does', async () => {
    const { link } = await dial();
    const queue = await filled(link, 1);
    const delivery = await link.pull(queue);
    const [empty, missing] = await Promise.allSettled([link.pull(queue), link.pull(`${queue}.none`)]);
    expect(empty).toEqual({ status: 'fulfilled', value: undefined });
    expect(missing.status).toBe('rejected');
    await expect(link.pull(`${queue}.none`)).rejects.toMatchObject({ replyCode: 404 });
    expect(delivery?.ack()).toBe(true);
    expect(await link.pull(queue)).toBeUndefined();
    expect(await link.checkQueue(queue)).toEqual({ messages: 0, consumers: 0 });
  });
});
