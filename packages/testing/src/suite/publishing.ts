import { BrokerRefusedError, ConnectionLostError, type HeaderTable } from '@acemq/core';
import { always, type TransportCase } from './case.ts';
import { holds, isA, matches, same, thrown } from './check.ts';
import { bytes, listener, outbound, type PublishEnd, send, text, until } from './stage.ts';

/** Publishing: answers, and what is on the message. */
export const PUBLISHING: readonly TransportCase[] = [
  always('confirms a message and delivers it with every property', async (stage) => {
    const queue = await stage.queue('q');
    const end = await stage.publish('', queue, {
      body: bytes('héllo'),
      contentType: 'text/plain',
      messageId: 'id-1',
      replyTo: 'answers',
      headers: { a: 1 },
      timestamp: 1_700_000_000,
      priority: 3,
      expiration: '60000',
    });
    same('the answer', end, { verdict: 'confirmed', reason: '' });
    const delivery = await stage.pull(queue);
    same('the body', text(delivery), 'héllo');
    const { contentType, messageId, replyTo, headers, exchange, routingKey, redelivered } = delivery;
    const { timestamp, priority, expiration } = delivery;
    same(
      'the rest',
      {
        contentType,
        messageId,
        replyTo,
        headers,
        exchange,
        routingKey,
        redelivered,
        timestamp,
        priority,
        expiration,
      },
      {
        contentType: 'text/plain',
        messageId: 'id-1',
        replyTo: 'answers',
        headers: { a: 1 },
        exchange: '',
        routingKey: queue,
        redelivered: false,
        timestamp: 1_700_000_000,
        priority: 3,
        expiration: '60000',
      },
    );
  }),

  always('leaves out what the sender did not say', async (stage) => {
    const queue = await stage.queue('q');
    await stage.publish('', queue, { body: new Uint8Array(0), contentType: '', replyTo: '' });
    const { body, contentType, replyTo, headers, timestamp, priority, expiration } = await stage.pull(queue);
    same('the body', body.length, 0);
    same(
      'the rest',
      { contentType, replyTo, headers, timestamp, priority, expiration },
      {
        contentType: undefined,
        replyTo: undefined,
        headers: {},
        timestamp: undefined,
        priority: undefined,
        expiration: undefined,
      },
    );
  }),

  always('carries headers of every type that AMQP has', async (stage) => {
    const queue = await stage.queue('q');
    const headers: HeaderTable = {
      text: 'näme',
      empty: '',
      whole: 7,
      negative: -70_000,
      large: 1_700_000_000_123,
      long: 1_700_000_000_123n,
      half: 0.5,
      tiny: 5e-324,
      largest: Number.MAX_VALUE,
      lowest: -Number.MAX_VALUE,
      beyond: -(2 ** 63),
      fraction: 2 ** 50 + 0.5,
      yes: true,
      nothing: null,
      bytes: Uint8Array.of(0, 255),
      when: new Date(1_700_000_000_000),
      list: [1, 'two', [3], { four: 4 }],
      table: { nested: { deep: 'x' } },
      constructor: 'own',
      '': 'unnamed',
    };
    await stage.publish('', queue, { headers });
    same('the headers', (await stage.pull(queue)).headers, { ...headers, long: 1_700_000_000_123 });
  }),

  always(
    'answers a mandatory message that reaches no queue with the return, never with the confirm that follows',
    async (stage) => {
      const queue = await stage.queue('q');
      const none = stage.name('none');
      const channel = await (await stage.main()).openPublishChannel({ closed: () => {} });
      const ends = new Map<number, PublishEnd[]>();
      for (let index = 0; index < 200; index += 1) {
        // The same message id and key more than once: each has its own answer all the same.
        const message = outbound({ messageId: `m-${index % 3}`, mandatory: index % 5 !== 0 });
        channel.publish(
          '',
          index % 2 === 0 ? queue : none,
          message,
          listener((end) => {
            ends.set(index, [...(ends.get(index) ?? []), end]);
          }),
        );
      }
      same('answers from within publish', ends.size, 0);
      await until('every answer', () => ends.size === 200);
      for (const [index, told] of ends) {
        const expected =
          index % 2 === 0 || index % 5 === 0
            ? { verdict: 'confirmed', reason: '' }
            : { verdict: 'unroutable', reason: '312 NO_ROUTE' };
        same(`the answer to ${index}`, told, [expected]);
      }
    },
  ),

  always('nacks what a full queue refuses', async (stage) => {
    const queue = await stage.queue('q', { 'x-max-length': 1, 'x-overflow': 'reject-publish' });
    same('the first', (await stage.publish('', queue)).verdict, 'confirmed');
    same('the second', await stage.publish('', queue), { verdict: 'nacked', reason: '' });
    (await stage.pull(queue)).ack();
    await until('room again', async () => (await stage.publish('', queue)).verdict === 'confirmed');
  }),

  always(
    'closes a channel that publishes to an exchange that is not there with 404, and no other',
    async (stage) => {
      const link = await stage.main();
      const queue = await stage.queue('q');
      const none = stage.name('none');
      const closed: Error[] = [];
      const channel = await link.openPublishChannel({ closed: (error) => void closed.push(error) });
      const other = await link.openPublishChannel({ closed: (error) => void closed.push(error) });
      const ends: PublishEnd[] = [];
      for (const exchange of ['', none, '']) {
        channel.publish(
          exchange,
          queue,
          outbound(),
          listener((end) => ends.push(end)),
        );
      }
      await until('the end of the channel', () => closed.length > 0);
      same('each publish has ended', ends.length, 3);
      for (const end of ends.slice(1)) {
        same('the verdict', end.verdict, 'cut');
        if (end.verdict !== 'cut') continue;
        const error = isA('the reason', end.error, BrokerRefusedError);
        same('the code', error.replyCode, 404);
        same('the words', error.replyText, `NOT_FOUND - no exchange '${none}' in vhost '/'`);
      }
      same('told once', closed.length, 1);
      same('the channel', channel.open, false);
      thrown(
        'a publish after that',
        () =>
          channel.publish(
            '',
            queue,
            outbound(),
            listener(() => {}),
          ),
        ConnectionLostError,
      );
      holds('the link is still open', link.open);
      same('the other channel', (await send(other, '', queue)).verdict, 'confirmed');
    },
  ),

  always(
    'closes a channel with 406 for an expiration that is longer than the broker keeps',
    async (stage) => {
      const queue = await stage.queue('q');
      const end = await stage.publish('', queue, { expiration: '315360000001' });
      same('the verdict', end.verdict, 'cut');
      if (end.verdict !== 'cut') return;
      const error = isA('the reason', end.error, BrokerRefusedError);
      same('the code', error.replyCode, 406);
      matches(
        'the words',
        error.replyText,
        /invalid expiration '315360000001': \{value_too_large,315360000001\}$/,
      );
    },
  ),

  always('ends every publish once when its channel is closed', async (stage) => {
    const link = await stage.main();
    const queue = await stage.queue('q');
    const closed: Error[] = [];
    const channel = await link.openPublishChannel({ closed: (error) => void closed.push(error) });
    const ends: PublishEnd[] = [];
    for (let index = 0; index < 50; index += 1) {
      channel.publish(
        '',
        queue,
        outbound(),
        listener((end) => ends.push(end)),
      );
    }
    await channel.close();
    await channel.close();
    same('ends', ends.length, 50);
    same('the owner is not told', closed, []);
    same('open', channel.open, false);
    for (const end of ends) if (end.verdict === 'cut') isA('the reason', end.error, ConnectionLostError);
  }),
];
