import {
  BrokerRefusedError,
  ConnectionLostError,
  EncodeError,
  type HeaderTable,
  type Outbound,
} from '@acemq/core';
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
    'refuses headers that cannot be encoded, writes nothing, and keeps later answers in step',
    async (stage) => {
      const queue = await stage.queue('q');
      const channel = await (await stage.main()).openPublishChannel({ closed: () => {} });
      const ends: PublishEnd[] = [];
      const publish = (to: string, headers: object): unknown =>
        channel.publish(
          '',
          to,
          outbound({ headers: headers as HeaderTable }),
          listener((end) => ends.push(end)),
        );
      const circle: unknown[] = [];
      circle.push(circle);
      const wrong: readonly (readonly [unknown, RegExp])[] = [
        [{ x: Number.NaN }, /^header "x" is NaN: AMQP has no form for it$/],
        [{ x: Number.POSITIVE_INFINITY }, /^header "x" is Infinity: /],
        [{ x: 2n ** 63n }, /^header "x" is an integer of more than 64 bits: AMQP has no form for it$/],
        [{ x: -(2n ** 63n) - 1n }, /^header "x" is an integer of more than 64 bits: /],
        [{ x: () => {} }, /^header "x" is of type function: AMQP has no form for it$/],
        [{ x: Symbol('s') }, /^header "x" is of type symbol: /],
        [{ x: new Date(Number.NaN) }, /^header "x" is a date before 1970 or none at all$/],
        [{ x: { y: [undefined] } }, /^header "x\.y\[0\]" is of type undefined: /],
        // biome-ignore lint/suspicious/noSparseArray: a hole is what is tried.
        [{ x: [, 1] }, /^header "x\[0\]" is of type undefined: /],
        [{ x: circle }, /^header "x(\[0\])+.*…" is nested more than 100 deep, or contains itself$/],
        [{ ['n'.repeat(256)]: 1 }, /^header "n+…" has a name of 256 bytes; allowed: up to 255$/],
        [{ x: 'x'.repeat(70_000) }, /^the headers take 70011 bytes; allowed: up to 65536$/],
        [null, /^the headers are null; allowed: an object of names and values$/],
        [['a'], /^the headers are a list; allowed: an object of names and values$/],
      ];
      publish(queue, {});
      for (const [headers, words] of wrong) {
        const error = thrown('the publish', () => publish(queue, headers as object), EncodeError);
        matches('the words', error.message, words);
      }
      publish(stage.name('none'), {});
      publish(queue, {});
      await until('three answers', () => ends.length === 3);
      same('the answers', ends.map((end) => end.verdict).sort(), ['confirmed', 'confirmed', 'unroutable']);
      await stage.depth(queue, 2);
    },
  ),

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
    'refuses by name a body, a property or an address that AMQP has no form for, and writes nothing',
    async (stage) => {
      const queue = await stage.queue('q');
      const closed: Error[] = [];
      const channel = await (await stage.main()).openPublishChannel({
        closed: (error) => void closed.push(error),
      });
      const long = 'é'.repeat(128);
      const tooLong = 'takes 256 bytes; allowed: up to 255 bytes of UTF-8';
      const priority = 'allowed: a whole number from 0 to 255';
      const timestamp = 'allowed: a whole number of seconds since the epoch, 0 or more';
      const expiration = 'allowed: milliseconds as text, a whole number of 0 or more such as "60000"';
      const wrong: readonly (readonly [object, string])[] = [
        [{ messageId: long }, `messageId ${tooLong}`],
        [{ messageId: 7 }, 'messageId is 7; allowed: text of up to 255 bytes of UTF-8'],
        [{ messageId: undefined }, 'messageId is undefined; allowed: text of up to 255 bytes of UTF-8'],
        [{ contentType: long }, `contentType ${tooLong}`],
        [{ contentType: null }, 'contentType is null; allowed: text of up to 255 bytes of UTF-8'],
        [{ replyTo: long }, `replyTo ${tooLong}`],
        [{ expiration: '1'.repeat(256) }, `expiration ${tooLong}`],
        [{ expiration: 'soon' }, `expiration is "soon"; ${expiration}`],
        [{ expiration: '-1' }, `expiration is "-1"; ${expiration}`],
        [{ expiration: '1.5' }, `expiration is "1.5"; ${expiration}`],
        [{ expiration: '' }, `expiration is ""; ${expiration}`],
        [{ expiration: 5 }, 'expiration is 5; allowed: text of up to 255 bytes of UTF-8'],
        [{ priority: 256 }, `priority is 256; ${priority}`],
        [{ priority: -1 }, `priority is -1; ${priority}`],
        [{ priority: 0.5 }, `priority is 0.5; ${priority}`],
        [{ priority: '1' }, `priority is "1"; ${priority}`],
        [{ timestamp: -1 }, `timestamp is -1; ${timestamp}`],
        [{ timestamp: 1.5 }, `timestamp is 1.5; ${timestamp}`],
        [{ timestamp: 2 ** 64 }, `timestamp is 18446744073709552000; ${timestamp}`],
        [{ body: 'secret' }, 'body is text; allowed: a Uint8Array'],
        [{ body: undefined }, 'body is undefined; allowed: a Uint8Array'],
        [{ body: { length: 3 } }, 'body is an object; allowed: a Uint8Array'],
        [{ body: [1, 2] }, 'body is a list; allowed: a Uint8Array'],
        [{ body: new ArrayBuffer(2) }, 'body is an object; allowed: a Uint8Array'],
      ];
      const ends: PublishEnd[] = [];
      const note = listener((end) => ends.push(end));
      for (const [more, words] of wrong) {
        const message = outbound(more as Partial<Outbound>);
        const error = thrown(words, () => channel.publish('', queue, message, note), EncodeError);
        same('the words', error.message, words);
      }
      const addresses = [
        [long, queue, `the name of the exchange ${tooLong}`],
        ['', long, `the routing key ${tooLong}`],
      ] as const;
      for (const [exchange, key, words] of addresses) {
        const error = thrown(words, () => channel.publish(exchange, key, outbound(), note), EncodeError);
        same('the words', error.message, words);
      }
      const longest = 'x'.repeat(255);
      const widest = {
        messageId: longest,
        contentType: longest,
        replyTo: longest,
        expiration: '315360000000',
      };
      const end = await send(channel, '', queue, { ...widest, priority: 255, timestamp: 2 ** 53 });
      same('the most that is allowed', end, { verdict: 'confirmed', reason: '' });
      const { messageId, contentType, replyTo } = await stage.pull(queue);
      same('as it was sent', [messageId, contentType, replyTo], [longest, longest, longest]);
      same('nothing else was written', [ends, closed], [[], []]);
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
