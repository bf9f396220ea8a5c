import type { Delivery, HeaderTable } from '@acemq/core';
import { always, type TransportCase } from './case.ts';
import { holds, same } from './check.ts';
import { type Stage, text, until } from './stage.ts';

const TYPES = { classic: {}, quorum: { 'x-queue-type': 'quorum' } } as const;

/** Whose time a dead letter bears; the broker's is not the test's. */
function withoutTime(headers: Readonly<Record<string, unknown>>): unknown {
  const deaths = headers['x-death'] as readonly Record<string, unknown>[];
  return {
    ...headers,
    'x-death': deaths.map(({ time, ...rest }) => {
      holds('the time of a death', time instanceof Date);
      return rest;
    }),
  };
}

/** The headers of a first death. */
function died(reason: string, queue: string, more: object = {}, also: object = {}): object {
  return {
    'x-death': [{ count: 1, reason, queue, exchange: '', 'routing-keys': [queue], ...more }],
    'x-first-death-reason': reason,
    'x-first-death-queue': queue,
    'x-first-death-exchange': '',
    ...also,
  };
}

async function pair(stage: Stage, type: object, args: HeaderTable): Promise<{ queue: string; dead: string }> {
  const dead = await stage.queue(`dead${Math.random()}`);
  const queue = await stage.queue(`q${Math.random()}`, {
    ...type,
    'x-dead-letter-exchange': '',
    'x-dead-letter-routing-key': dead,
    ...args,
  });
  return { queue, dead };
}

/** What becomes of a message that is rejected, expires, is one too many, or came back too often. */
export const DEAD_LETTERING: readonly TransportCase[] = [
  always('drops a rejected message that has no dead-letter exchange', async (stage) => {
    const queue = await stage.queue('q');
    await stage.fill(queue, 'a', 'b');
    (await stage.pull(queue)).nack(false);
    same('what is left', await stage.drain(queue), ['b']);
  }),

  always('dead-letters a rejected message with its history, and counts the second time', async (stage) => {
    for (const type of Object.values(TYPES)) {
      const { queue, dead } = await pair(stage, type, {});
      await stage.publish('', queue, { headers: { a: 1 }, expiration: '60000' });
      (await stage.pull(queue)).nack(false);
      const first = await stage.pull(dead);
      const { expiration, exchange, routingKey, redelivered } = first;
      same(
        'the dead letter',
        { expiration, exchange, routingKey, redelivered },
        { expiration: undefined, exchange: '', routingKey: dead, redelivered: false },
      );
      const history = died('rejected', queue, { 'original-expiration': '60000' }, { a: 1 });
      same('its headers', withoutTime(first.headers), history);
      await stage.publish('', queue, { headers: first.headers as HeaderTable });
      (await stage.pull(queue)).nack(false);
      const again = await stage.pull(dead);
      same(
        'the second time',
        withoutTime(again.headers),
        died('rejected', queue, { 'original-expiration': '60000', count: 2 }, { a: 1 }),
      );
    }
  }),

  always(
    'keeps the routing keys of a dead letter unless the queue names one, and then drops CC',
    async (stage) => {
      const link = await stage.main();
      const dlx = await stage.exchange('dlx', 'topic');
      const dead = await stage.queue('dead');
      await link.bind(dead, dlx, '#');
      const keeps = await stage.queue('keeps', { 'x-dead-letter-exchange': dlx });
      const names = await stage.queue('names', {
        'x-dead-letter-exchange': dlx,
        'x-dead-letter-routing-key': 'k',
      });
      const found: unknown[] = [];
      for (const queue of [keeps, names]) {
        await stage.publish('', queue, { headers: { CC: ['elsewhere'] } });
        (await stage.pull(queue)).nack(false);
        const { exchange, routingKey, headers } = await stage.pull(dead);
        const [death] = headers['x-death'] as readonly Record<string, unknown>[];
        found.push({ exchange, routingKey, cc: headers['CC'], keys: death?.['routing-keys'] });
      }
      same('the dead letters', found, [
        { exchange: dlx, routingKey: keeps, cc: ['elsewhere'], keys: [keeps, 'elsewhere'] },
        { exchange: dlx, routingKey: 'k', cc: undefined, keys: [names, 'elsewhere'] },
      ]);
    },
  ),

  always('drops a dead letter whose exchange is not there', async (stage) => {
    const queue = await stage.queue('q', { 'x-dead-letter-exchange': stage.name('none') });
    await stage.fill(queue, 'a', 'b');
    (await stage.pull(queue)).nack(false);
    same('what is left', await stage.drain(queue), ['b']);
  }),

  always('dead-letters what stays longer than the time to live of its queue or its own', async (stage) => {
    for (const type of Object.values(TYPES)) {
      const byQueue = await pair(stage, type, { 'x-message-ttl': 20 });
      await stage.publish('', byQueue.queue, { expiration: '60000' });
      const first = await stage.pull(byQueue.dead);
      same(
        'by the queue',
        withoutTime(first.headers),
        died('expired', byQueue.queue, { 'original-expiration': '60000' }),
      );
      const byItself = await pair(stage, type, { 'x-message-ttl': 60_000 });
      await stage.publish('', byItself.queue, { expiration: '20' });
      const second = await stage.pull(byItself.dead);
      same(
        'by itself',
        withoutTime(second.headers),
        died('expired', byItself.queue, { 'original-expiration': '20' }),
      );
      same('left behind', await stage.drain(byQueue.queue), []);
    }
  }),

  always(
    'lets a message expire only at the head: a short time to live waits behind a long one',
    async (stage) => {
      for (const type of Object.values(TYPES)) {
        const { queue, dead } = await pair(stage, type, {});
        await stage.publish('', queue, { body: new TextEncoder().encode('long'), expiration: '400' });
        await stage.publish('', queue, { body: new TextEncoder().encode('short'), expiration: '1' });
        const order: string[] = [];
        for (let count = 0; count < 2; count += 1) {
          const delivery = await stage.pull(dead);
          order.push(text(delivery));
          delivery.ack();
        }
        same('the order of death', order, ['long', 'short']);
      }
    },
  ),

  always('delivers a message with no time to live at all to a consumer that waits for it', async (stage) => {
    const { queue, dead } = await pair(stage, {}, { 'x-message-ttl': 0 });
    const { deliveries } = await stage.consume(queue);
    await stage.fill(queue, 'a');
    await until('the delivery', () => deliveries.length === 1);
    same('dead', await stage.drain(dead), []);
  }),

  always('does not let a message expire while it is out', async (stage) => {
    const { queue, dead } = await pair(stage, {}, {});
    await stage.publish('', queue, { body: new TextEncoder().encode('out'), expiration: '30' });
    const out = await (await stage.main()).pull(queue);
    await stage.publish('', queue, { body: new TextEncoder().encode('later'), expiration: '60' });
    const later: Delivery = await stage.pull(dead);
    same('who died', text(later), 'later');
    same('it can be settled', out?.nack(true), true);
    same('and expires as soon as it is back', text(await stage.pull(dead)), 'out');
  }),

  always('drops the head of a queue that is full', async (stage) => {
    for (const type of Object.values(TYPES)) {
      const { queue, dead } = await pair(stage, type, { 'x-max-length': 2 });
      await stage.fill(queue, 'a', 'b', 'c');
      const first = await stage.pull(dead);
      same('who died', text(first), 'a');
      same('of what', withoutTime(first.headers), died('maxlen', queue));
      same('what is left', await stage.drain(queue), ['b', 'c']);
    }
  }),

  always(
    'gives a message of a quorum queue up when it came back more often than the delivery limit',
    async (stage) => {
      const { queue, dead } = await pair(stage, TYPES.quorum, { 'x-delivery-limit': 1 });
      await stage.fill(queue, 'a');
      (await stage.pull(queue)).nack(true);
      (await stage.pull(queue)).nack(true);
      same('of what', withoutTime((await stage.pull(dead)).headers), died('delivery_limit', queue));
    },
  ),

  always(
    'drops a dead letter that would turn in a circle, but not one that somebody rejected',
    async (stage) => {
      const queue = stage.name('q');
      const link = await stage.main();
      const args = { 'x-message-ttl': 20, 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': queue };
      await link.declareQueue(queue, { durable: true, autoDelete: false, exclusive: false, arguments: args });
      await stage.fill(queue, 'circle');
      await stage.depth(queue, 0);
      same('gone', await stage.drain(queue), []);
      const home = stage.name('home');
      const wait = await stage.queue('wait', {
        'x-message-ttl': 20,
        'x-dead-letter-exchange': '',
        'x-dead-letter-routing-key': home,
      });
      const homeArgs = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': wait };
      await link.declareQueue(home, {
        durable: true,
        autoDelete: false,
        exclusive: false,
        arguments: homeArgs,
      });
      await stage.fill(home, 'retried');
      for (let turn = 0; turn < 3; turn += 1) {
        const delivery = await stage.pull(home);
        same('it came home', text(delivery), 'retried');
        delivery.nack(false);
      }
    },
  ),
];
