import { EncodeError, type HeaderTable, type Outbound } from '@acemq/core';
import { always, type TransportCase } from './case.ts';
import { holds, matches, rejected, same, thrown } from './check.ts';
import { exchangeSpec, listener, outbound, type PublishEnd, queueSpec, send, until } from './stage.ts';

/** What AMQP has no form for: refused by its name, with nothing written. */
export const ENCODING: readonly TransportCase[] = [
  always(
    'refuses by name an argument that AMQP has no form for, before it asks for anything',
    async (stage) => {
      const link = await stage.main();
      const there = await stage.queue('there');
      const queue = stage.name('q');
      const exchange = stage.name('x');
      const circle: Record<string, unknown> = {};
      circle['in'] = circle;
      const wrong: readonly (readonly [unknown, RegExp])[] = [
        [{ x: Number.NaN }, /: argument "x" is NaN: AMQP has no form for it$/],
        [{ x: () => 1 }, /: argument "x" is of type function: AMQP has no form for it$/],
        [{ x: { y: [Symbol('s')] } }, /: argument "x\.y\[0\]" is of type symbol: /],
        [{ x: 2n ** 63n }, /: argument "x" is an integer of more than 64 bits: /],
        [{ x: circle }, /: argument "x\.in\.in.*…" is nested more than 100 deep, or contains itself$/],
        [{ ['n'.repeat(256)]: 1 }, /: argument "n+…" has a name of 256 bytes; allowed: up to 255$/],
        [{ x: 'x'.repeat(70_000) }, /: the arguments take 70011 bytes; allowed: up to 65536$/],
        [null, /: the arguments are null; allowed: an object of names and values$/],
      ];
      for (const [table, words] of wrong) {
        const args = table as HeaderTable;
        const attempts = [
          [`declare queue "${queue}"`, link.declareQueue(queue, queueSpec({}, { arguments: args }))],
          [
            `declare exchange "${exchange}"`,
            link.declareExchange(exchange, exchangeSpec('direct', { arguments: args })),
          ],
          [`consume from queue "${there}"`, stage.consume(there, { arguments: args })],
        ] as const;
        for (const [what, attempt] of attempts) {
          const { message } = await rejected(what, attempt, EncodeError);
          holds(`${message} begins with ${what}`, message.startsWith(what));
          matches('the words', message, words);
        }
      }
      same('no queue', await link.checkQueue(queue), undefined);
      same('no exchange', await link.checkExchange(exchange), false);
      same('no consumer', await link.checkQueue(there), { messages: 0, consumers: 0 });
    },
  ),

  always('refuses a name, key or tag of more than 255 bytes, before it asks for anything', async (stage) => {
    const link = await stage.main();
    const queue = await stage.queue('q');
    const long = 'é'.repeat(128);
    const wrong = [
      ['the name of the queue', () => link.declareQueue(long, queueSpec())],
      ['the name of the queue', () => link.checkQueue(long)],
      ['the name of the queue', () => link.deleteQueue(long)],
      ['the name of the queue', () => link.pull(long)],
      ['the name of the queue', () => link.bind(long, 'amq.topic', 'k')],
      ['the name of the queue', () => stage.consume(long)],
      ['the name of the exchange', () => link.declareExchange(long, exchangeSpec('direct'))],
      ['the name of the exchange', () => link.checkExchange(long)],
      ['the name of the exchange', () => link.deleteExchange(long)],
      ['the name of the exchange', () => link.bind(queue, long, 'k')],
      ['the type of the exchange', () => link.declareExchange(stage.name('x'), exchangeSpec(long))],
      ['the routing key', () => link.bind(queue, 'amq.topic', long)],
      ['the consumer tag', () => stage.consume(queue, { tag: long })],
    ] as const;
    for (const [what, attempt] of wrong) {
      const error = await rejected(what, attempt(), EncodeError);
      same('the words', error.message, `${what} takes 256 bytes; allowed: up to 255 bytes of UTF-8`);
    }
    const longest = `${'é'.repeat(127)}x`;
    await link.bind(queue, 'amq.topic', longest);
    same('the longest tag', (await stage.consume(queue, { tag: longest })).subscription.tag, longest);
    const number = link.checkQueue(5 as unknown as string);
    same(
      'no text',
      (await rejected('the question', number, EncodeError)).message,
      'the name of the queue is 5; allowed: text of up to 255 bytes of UTF-8',
    );
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
];
