import { BrokerRefusedError, ConfigurationError, ConnectionLostError, type Delivery } from '@acemq/core';
import { always, given, type TransportCase } from './case.ts';
import { holds, isA, matches, rejected, same } from './check.ts';
import { type StageConsumer, text, until } from './stage.ts';

const QUORUM = { 'x-queue-type': 'quorum' } as const;

function texts(consumer: StageConsumer): string[] {
  return consumer.deliveries.map(text);
}

/** Consuming, pulling and settling. */
export const CONSUMING: readonly TransportCase[] = [
  always('delivers in the order of arrival, and never more than the prefetch at once', async (stage) => {
    const queue = await stage.queue('q');
    await stage.fill(queue, 'a', 'b', 'c', 'd', 'e');
    const consumer = await stage.consume(queue, { prefetch: 2 });
    await until('two deliveries', () => consumer.deliveries.length === 2);
    await stage.depth(queue, 3);
    same('the window', texts(consumer), ['a', 'b']);
    holds('an ack', consumer.deliveries[1]?.ack() === true);
    await until('a third delivery', () => consumer.deliveries.length === 3);
    await stage.depth(queue, 2);
    same('the window', texts(consumer), ['a', 'b', 'c']);
  }),

  always('takes turns among consumers', async (stage) => {
    const queue = await stage.queue('q');
    const consumers = [await stage.consume(queue), await stage.consume(queue), await stage.consume(queue)];
    await stage.fill(queue, '0', '1', '2', '3', '4', '5');
    await until('every delivery', () => consumers.every((consumer) => consumer.deliveries.length === 2));
    same('who got what', consumers.map(texts).sort(), [
      ['0', '3'],
      ['1', '4'],
      ['2', '5'],
    ]);
  }),

  always('settles a delivery once', async (stage) => {
    const queue = await stage.queue('q');
    await stage.fill(queue, 'a');
    const { deliveries } = await stage.consume(queue);
    await until('the delivery', () => deliveries.length === 1);
    same('the first ack', deliveries[0]?.ack(), true);
    same('the second', deliveries[0]?.ack(), false);
    same('a nack after it', deliveries[0]?.nack(true), false);
    await stage.fill(queue, 'b');
    await until('the next delivery', () => deliveries.length === 2);
  }),

  always(
    'puts a message that is given back to the head of a classic queue, marked as redelivered',
    async (stage) => {
      const queue = await stage.queue('q');
      await stage.fill(queue, 'a', 'b', 'c');
      const consumer = await stage.consume(queue, { prefetch: 1 });
      await until('the delivery', () => consumer.deliveries.length === 1);
      same('redelivered at first', consumer.deliveries[0]?.redelivered, false);
      consumer.deliveries[0]?.nack(true);
      await until('the second delivery', () => consumer.deliveries.length === 2);
      same('what came', texts(consumer), ['a', 'a']);
      same('redelivered', consumer.deliveries[1]?.redelivered, true);
    },
  ),

  always('puts what is given back in any order to its old place in a classic queue', async (stage) => {
    const queue = await stage.queue('q');
    const link = await stage.main();
    await stage.fill(queue, 'a', 'b', 'c', 'd');
    const taken = [await link.pull(queue), await link.pull(queue), await link.pull(queue)];
    for (const index of [1, 0, 2]) taken[index]?.nack(true);
    await stage.depth(queue, 4);
    same('the queue', await stage.drain(queue), ['a', 'b', 'c', 'd']);
  }),

  always('puts what is given back before the rest of a quorum queue with a delivery limit', async (stage) => {
    const queue = await stage.queue('q', { ...QUORUM, 'x-delivery-limit': 5 });
    const link = await stage.main();
    await stage.fill(queue, 'a', 'b', 'c', 'd');
    const taken = [await link.pull(queue), await link.pull(queue), await link.pull(queue)];
    for (const index of [1, 0, 2]) taken[index]?.nack(true);
    await stage.depth(queue, 4);
    same('the queue', await stage.drain(queue), ['b', 'a', 'c', 'd']);
  }),

  always(
    'puts what a consumer gives back to the end of a quorum queue without a delivery limit',
    async (stage) => {
      const queue = await stage.queue('q', QUORUM);
      await stage.fill(queue, 'a', 'b');
      (await stage.pull(queue)).nack(true);
      await stage.depth(queue, 2);
      same('the queue', await stage.drain(queue), ['b', 'a']);
    },
  ),

  always('counts in x-delivery-count how often a message of a quorum queue came back', async (stage) => {
    const queue = await stage.queue('q', QUORUM);
    const { deliveries } = await stage.consume(queue, { prefetch: 1 });
    await stage.fill(queue, 'a');
    for (const expected of [undefined, 1, 2]) {
      await until('the delivery', () => deliveries.length === 1);
      const delivery = deliveries.pop();
      same('the count', delivery?.headers['x-delivery-count'], expected);
      same('redelivered', delivery?.redelivered, expected !== undefined);
      delivery?.nack(true);
    }
  }),

  always('tells a pull of a first delivery from a quorum queue that it came back 0 times', async (stage) => {
    const queue = await stage.queue('q', QUORUM);
    await stage.publish('', queue, { headers: { 'x-delivery-count': 9 } });
    const { headers, redelivered } = await stage.pull(queue);
    same('what came', { headers, redelivered }, { headers: { 'x-delivery-count': 0 }, redelivered: false });
  }),

  always('gives no further delivery once stopped, and lets what is out be settled', async (stage) => {
    const queue = await stage.queue('q');
    await stage.fill(queue, 'a', 'b');
    const consumer = await stage.consume(queue, { prefetch: 1 });
    await until('the delivery', () => consumer.deliveries.length === 1);
    await consumer.subscription.stop();
    await consumer.subscription.stop();
    same('settled', consumer.deliveries[0]?.ack(), true);
    await consumer.subscription.release();
    same('what came', texts(consumer), ['a']);
    same('the owner is not told', consumer.ended, []);
    await stage.depth(queue, 1);
    same('what is left', await stage.drain(queue), ['b']);
  }),

  always('takes back what is unsettled when a subscription is released', async (stage) => {
    for (const args of [{}, QUORUM]) {
      const queue = await stage.queue(`q${Object.keys(args).length}`, args);
      await stage.fill(queue, 'a', 'b', 'c', 'd');
      const consumer = await stage.consume(queue, { prefetch: 3 });
      await until('the deliveries', () => consumer.deliveries.length === 3);
      consumer.deliveries[1]?.ack();
      await consumer.subscription.release();
      same('a late ack', consumer.deliveries[0]?.ack(), false);
      await stage.depth(queue, 3);
      const first = await stage.pull(queue);
      same(
        'the first again',
        { body: text(first), redelivered: first.redelivered },
        { body: 'a', redelivered: true },
      );
      first.ack();
      same('the rest', await stage.drain(queue), ['c', 'd']);
    }
  }),

  always('takes back what is unsettled when the link is closed', async (stage) => {
    const queue = await stage.queue('q');
    await stage.fill(queue, 'a');
    const other = await stage.dial('other');
    const consumer = await stage.consume(queue, {}, other.link);
    await until('the delivery', () => consumer.deliveries.length === 1);
    await other.link.close();
    same('a late ack', consumer.deliveries[0]?.ack(), false);
    const again = await stage.pull(queue);
    same('redelivered', again.redelivered, true);
  }),

  always('ends a subscription once when its queue is deleted, and goes on', async (stage) => {
    const link = await stage.main();
    const queue = await stage.queue('q');
    await stage.fill(queue, 'a');
    const consumer = await stage.consume(queue);
    await until('the delivery', () => consumer.deliveries.length === 1);
    await link.deleteQueue(queue);
    await until('the end', () => consumer.ended.length > 0);
    same('an ack after it', consumer.deliveries[0]?.ack(), false);
    await consumer.subscription.stop();
    await consumer.subscription.release();
    same('told once', consumer.ended.length, 1);
    isA('why', consumer.ended[0], ConnectionLostError);
    holds('the link is still open', link.open);
  }),

  given(
    ['cancel'],
    'takes back what is out when the broker cancels a consumer, but not what was settled before',
    async (stage) => {
      for (const args of [{}, QUORUM]) {
        const queue = await stage.queue(`q${Object.keys(args).length}`, args);
        await stage.fill(queue, 'a', 'b', 'c', 'd');
        const consumer = await stage.consume(queue, { prefetch: 3 });
        await until('the deliveries', () => consumer.deliveries.length === 3);
        same('an ack before it', consumer.deliveries[1]?.ack(), true);
        await stage.faults.cancel?.(queue);
        await until('the end', () => consumer.ended.length > 0);
        same('an ack after it', consumer.deliveries[0]?.ack(), false);
        const next = await stage.consume(queue);
        await until('the next consumer has them', () => next.deliveries.length === 3);
        same(
          'what came again',
          next.deliveries.map((delivery) => `${text(delivery)} ${delivery.redelivered}`).sort(),
          ['a true', 'c true', 'd false'],
        );
        await consumer.subscription.stop();
        await consumer.subscription.release();
        same('told once', [consumer.ended.length, next.ended.length], [1, 0]);
      }
    },
  ),

  always('refuses a prefetch out of range before it asks for anything', async (stage) => {
    const queue = await stage.queue('q');
    for (const prefetch of [0, -1, 1.5, 65_536, Number.NaN]) {
      const error = await rejected('the consumer', stage.consume(queue, { prefetch }), ConfigurationError);
      same('the words', error.message, `prefetch is ${prefetch}; allowed: a whole number from 1 to 65535`);
    }
    await stage.consume(queue, { prefetch: 65_535 });
  }),

  always('keeps an exclusive consumer of a classic queue alone with 403', async (stage) => {
    const queue = await stage.queue('q');
    await stage.consume(queue, { exclusive: true });
    const error = await rejected('a second consumer', stage.consume(queue), BrokerRefusedError);
    same('the code', error.replyCode, 403);
    matches('the words', error.replyText, /^ACCESS_REFUSED - queue '.*' in vhost '\/' in exclusive use$/);
  }),

  always('subscribes under the tag asked for, or one of the broker', async (stage) => {
    const queue = await stage.queue('q');
    same('asked for', (await stage.consume(queue, { tag: 'mine' })).subscription.tag, 'mine');
    holds('made up', (await stage.consume(queue)).subscription.tag.length > 0);
  }),

  always('pulls one message at a time, to be settled like any other', async (stage) => {
    const link = await stage.main();
    const queue = await stage.queue('q');
    same('nothing there', await link.pull(queue), undefined);
    await stage.fill(queue, 'a', 'b');
    const first = await stage.pull(queue);
    same(
      'the first',
      { body: text(first), redelivered: first.redelivered },
      { body: 'a', redelivered: false },
    );
    same('given back', first.nack(true), true);
    same('twice', first.nack(true), false);
    await stage.depth(queue, 2);
    const again = await stage.pull(queue);
    same('again', { body: text(again), redelivered: again.redelivered }, { body: 'a', redelivered: true });
    same('settled', again.ack(), true);
    await stage.depth(queue, 1);
  }),

  always('gives back at once what a reader holds, each message in its place', async (stage) => {
    const link = await stage.main();
    const queue = await stage.queue('q');
    await stage.fill(queue, 'a', 'b', 'c', 'd', 'e');
    const reader = await link.openReader(queue);
    const taken: (Delivery | undefined)[] = [];
    for (let count = 0; count < 4; count += 1) taken.push(await reader.pull());
    same('acknowledged', taken[1]?.ack(), true);
    same('open', reader.open, true);
    await reader.release();
    await reader.release();
    same('released', reader.open, false);
    same('a late ack', taken[0]?.ack(), false);
    await rejected('a pull after it', reader.pull(), ConnectionLostError);
    await stage.depth(queue, 4);
    const other = await link.openReader(queue);
    const bodies: string[] = [];
    for (let one = await other.pull(); one !== undefined; one = await other.pull()) {
      bodies.push(`${text(one)}${one.redelivered ? ' again' : ''}`);
      one.ack();
    }
    same('the rest', bodies.join(), 'a again,c again,d again,e');
    same('nothing left', await other.pull(), undefined);
    await other.release();
  }),

  always('ends a reader whose queue is not there, and nothing else', async (stage) => {
    const link = await stage.main();
    const queue = await stage.queue('q');
    const reader = await link.openReader(`${queue}-not`);
    same('a pull', (await rejected('a pull', reader.pull(), BrokerRefusedError)).replyCode, 404);
    await until('the reader has ended', () => !reader.open);
    same('the link', link.open, true);
    const other = await link.openReader(queue);
    same('another reader', await other.pull(), undefined);
    await other.release();
  }),

  always('ends a reader with its link: what it held is in the queue again', async (stage) => {
    const { link } = await stage.dial();
    const queue = await stage.queue('q');
    await stage.fill(queue, 'a', 'b');
    const reader = await link.openReader(queue);
    const first = await reader.pull();
    link.destroy();
    await until('the reader has ended', () => !reader.open);
    same('a late ack', first?.ack(), false);
    await stage.depth(queue, 2);
  }),
];
