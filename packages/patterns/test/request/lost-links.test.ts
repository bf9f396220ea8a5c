import { BrokerRefusedError, topology } from '@acemq/core';
import { manualClock, memoryBroker } from '@acemq/testing';
import { expect, test, vi } from 'vitest';
import { Requester, respond } from '../../src/request/index.ts';
import { loseLinks, onMemory, PATIENCE, replyByHand, type Sum } from './setting.ts';

const consuming = (name: string): boolean => name.endsWith(' consume');
const publishing = (name: string): boolean => name.endsWith(' publish');

test('a lost link brings the reply queue back under its name, and the asks go on', async () => {
  const setting = await onMemory();
  const { mq, queue } = setting;
  await using _responder = await respond<Sum, number>(mq, queue, ({ payload: { a, b } }) => a + b);
  await using requester = await Requester.open<Sum, number>(mq, { routingKey: queue });
  const { replyQueue } = requester;
  expect(await requester.ask({ a: 1, b: 2 })).toBe(3);
  await loseLinks(setting);
  expect(requester.replyQueue).toBe(replyQueue);
  expect(await requester.ask({ a: 2, b: 2 })).toBe(4);
});

test('an ask that begins while its replies could not come in is sent when they can', async () => {
  const { mq, broker, queue } = await onMemory({ reconnect: { initial: 50, max: 50 } });
  await using _responder = await respond<Sum, number>(mq, queue, ({ payload: { a, b } }) => a + b);
  await using requester = await Requester.open<Sum, number>(mq, { routingKey: queue });
  broker.dropLinks({ name: consuming });
  expect(await Promise.all([requester.ask({ a: 1, b: 2 }), requester.ask({ a: 2, b: 2 })])).toEqual([3, 4]);
  expect(requester).toMatchObject({ answered: 2, timedOut: 0 });
});

test('and is never sent where its time is over before', async () => {
  const { mq, broker, queue } = await onMemory();
  await using requester = await Requester.open(mq, { routingKey: queue, timeout: 30 });
  broker.refuseDials('unreachable');
  broker.dropLinks({ name: consuming });
  await expect(requester.ask(1)).rejects.toMatchObject({
    code: 'ACEMQ_REQUEST_TIMEOUT',
    message: expect.stringContaining('replies do not come in at present'),
  });
  broker.acceptDials();
  await vi.waitFor(() => expect(mq.state).toBe('connected'), PATIENCE);
  await mq.publisher({ routingKey: queue }).send('after it');
  expect(broker.depth(queue)).toBe(1);
});

test('nor where it waits for a connection to publish on', async () => {
  const { mq, broker, queue } = await onMemory();
  await using requester = await Requester.open(mq, { routingKey: queue, timeout: 30 });
  broker.refuseDials('unreachable');
  broker.dropLinks({ name: publishing });
  await expect(requester.ask(1)).rejects.toMatchObject({
    code: 'ACEMQ_REQUEST_TIMEOUT',
    message: expect.stringContaining('the broker has not confirmed the request yet'),
  });
  broker.acceptDials();
  await vi.waitFor(() => expect(mq.state).toBe('connected'), PATIENCE);
  await mq.publisher({ routingKey: queue }).send('after it');
  expect(broker.depth(queue)).toBe(1);
});

test('an ask that waits when the link is lost gets a reply that comes after it', async () => {
  const setting = await onMemory();
  const { mq, broker, queue } = setting;
  await using requester = await Requester.open<number, string>(mq, { routingKey: queue });
  const answer = requester.ask(1);
  await vi.waitFor(() => expect(broker.depth(queue)).toBe(1), PATIENCE);
  const correlationId = broker.messages(queue)[0]?.messageId as string;
  await loseLinks(setting);
  await replyByHand(mq, { address: requester.replyQueue, correlationId }, 'after the restore');
  expect(await answer).toBe('after the restore');
});

test('a reply queue that is deleted under it is declared again by the next ask', async () => {
  const setting = await onMemory();
  const { mq, broker, queue } = setting;
  await using _responder = await respond(mq, queue, () => 'yes');
  await using requester = await Requester.open(mq, { routingKey: queue });
  const { replyQueue } = requester;
  // As an operator would: the connection forgets it, too.
  await mq.deleteQueue(replyQueue);
  await vi.waitFor(() => expect(mq.consumers.some(({ running }) => !running)).toBe(true), PATIENCE);
  expect(await requester.ask(1)).toBe('yes');
  expect(requester.replyQueue).toBe(replyQueue);
  expect(broker.queues.map(({ name }) => name)).toContain(replyQueue);
  expect(mq.consumers).toHaveLength(2);
  // And is restored from then on.
  await loseLinks(setting);
  expect(await requester.ask(2)).toBe('yes');
});

test('one with a name that is not declared and gone is waited for', async () => {
  const { mq, broker, queue } = await onMemory();
  const named = topology().queue('answers', { type: 'classic' });
  await mq.declare(named);
  await using _responder = await respond(mq, queue, () => 'yes');
  await using requester = await Requester.open(mq, {
    routingKey: queue,
    replyQueue: 'answers',
    declare: false,
  });
  await mq.deleteQueue('answers');
  await vi.waitFor(() => expect(mq.consumers.some(({ running }) => !running)).toBe(true), PATIENCE);
  const answer = requester.ask(1);
  await expect(requester.ask(2, { timeout: 20 })).rejects.toMatchObject({ code: 'ACEMQ_REQUEST_TIMEOUT' });
  await mq.declare(named);
  expect(await answer).toBe('yes');
  expect(broker.depth(queue)).toBe(0);
});

test('a broker that still has the old connection is asked again, and the ask waits meanwhile', async () => {
  const broker = memoryBroker();
  const { mq, queue } = await onMemory({}, broker);
  await using _responder = await respond(mq, queue, () => 'yes');
  await using requester = await Requester.open(mq, { routingKey: queue });
  // RabbitMQ's words for an exclusive queue of a connection that it has not missed yet.
  let refusals = 3;
  const dial = broker.dial.bind(broker);
  broker.dial = async (request) => {
    const link = await dial(request);
    const declareQueue = link.declareQueue.bind(link);
    link.declareQueue = async (name, spec) => {
      if (name === requester.replyQueue && refusals > 0) {
        refusals -= 1;
        throw new BrokerRefusedError(
          405,
          `RESOURCE_LOCKED - cannot obtain exclusive access to locked queue '${name}'`,
        );
      }
      await declareQueue(name, spec);
    };
    return link;
  };
  broker.dropLinks({ name: consuming });
  expect(await requester.ask(1)).toBe('yes');
  expect(refusals).toBe(0);
});

test('a requester closed while its asks wait for its queue leaves nothing behind', async () => {
  const { mq, broker, queue } = await onMemory();
  const requester = await Requester.open(mq, { routingKey: queue });
  broker.refuseDials('unreachable');
  broker.dropLinks({ name: consuming });
  const answer = requester.ask(1);
  answer.catch(() => {});
  await requester.close();
  await expect(answer).rejects.toMatchObject({ code: 'ACEMQ_REQUEST_TIMEOUT' });
  broker.acceptDials();
  await vi.waitFor(() => expect(mq.state).toBe('connected'), PATIENCE);
  await vi.waitFor(() => {
    expect(broker.queues.map(({ name }) => name)).toEqual([queue]);
    expect(mq.consumers).toEqual([]);
  }, PATIENCE);
});

test('the connection closed while an ask waits for its queue rejects it', async () => {
  const { mq, broker, queue } = await onMemory();
  const requester = await Requester.open(mq, { routingKey: queue });
  broker.refuseDials('unreachable');
  broker.dropLinks({ name: consuming });
  const answer = requester.ask(1);
  answer.catch(() => {});
  await mq.close({ timeout: 0 });
  await expect(answer).rejects.toMatchObject({
    code: expect.stringMatching(/^ACEMQ_(CONNECTION_CLOSED|REQUEST_TIMEOUT)$/),
  });
  expect(requester.outstanding).toBe(0);
});

test('a broker that stops with asks outstanding has them end at their deadline', async () => {
  const clock = manualClock();
  const broker = memoryBroker({ clock });
  const { mq, queue } = await onMemory({}, broker);
  const requester = await Requester.open(mq, { routingKey: queue });
  const answer = requester.ask(1);
  answer.catch(() => {});
  await clock.advance(10);
  broker.stop();
  await clock.advance(29_000);
  expect(requester.outstanding).toBe(1);
  await clock.advance(1_000);
  await expect(answer).rejects.toMatchObject({ code: 'ACEMQ_REQUEST_TIMEOUT' });
});
