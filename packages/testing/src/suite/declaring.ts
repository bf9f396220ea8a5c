import { BrokerRefusedError } from '@acemq/core';
import { always, type TransportCase } from './case.ts';
import { holds, matches, rejected, same } from './check.ts';
import { exchangeSpec, queueSpec, until } from './stage.ts';

/** Declaring, asking, binding and deleting. */
export const DECLARING: readonly TransportCase[] = [
  always('declares the same queue and the same exchange again without changing them', async (stage) => {
    const link = await stage.main();
    const queue = await stage.queue('q', { 'x-message-ttl': 60_000 });
    const exchange = await stage.exchange('x', 'topic');
    await stage.fill(queue, 'one');
    await link.declareQueue(queue, queueSpec({ 'x-message-ttl': 60_000, 'x-queue-type': 'classic' }));
    await link.declareExchange(exchange, exchangeSpec('topic'));
    same('the queue', await link.checkQueue(queue), { messages: 1, consumers: 0 });
  }),

  always(
    'refuses with 406 a queue that exists with another argument, and names both values',
    async (stage) => {
      const link = await stage.main();
      const queue = await stage.queue('q', { 'x-message-ttl': 2000 });
      const other = await rejected(
        'another value',
        link.declareQueue(queue, queueSpec({ 'x-message-ttl': 1000 })),
        BrokerRefusedError,
      );
      same('the code', other.replyCode, 406);
      same(
        'the words',
        other.replyText,
        `PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue '${queue}' in vhost '/': received '1000' but current is '2000'`,
      );
      const none = await rejected('no value', link.declareQueue(queue, queueSpec()), BrokerRefusedError);
      matches('the words', none.replyText, /received none but current is the value '2000' of type 'short'$/);
      const more = await rejected(
        'one argument more',
        link.declareQueue(queue, queueSpec({ 'x-message-ttl': 2000, 'x-max-length': 5 })),
        BrokerRefusedError,
      );
      matches(
        'the words',
        more.replyText,
        /inequivalent arg 'x-max-length' .*: received the value '5' of type 'byte' but current is none$/,
      );
      holds('the link is still open', link.open);
    },
  ),

  always('refuses with 406 a queue that exists as another type or with another flag', async (stage) => {
    const link = await stage.main();
    const queue = await stage.queue('q');
    const type = await rejected(
      'another type',
      link.declareQueue(queue, queueSpec({ 'x-queue-type': 'quorum' })),
      BrokerRefusedError,
    );
    matches(
      'the words',
      type.replyText,
      /received the value 'quorum' of type 'longstr' but current is none$/,
    );
    const flag = await rejected(
      'another flag',
      link.declareQueue(queue, queueSpec({}, { durable: false })),
      BrokerRefusedError,
    );
    matches(
      'the words',
      flag.replyText,
      /inequivalent arg 'durable' .*: received 'false' but current is 'true'$/,
    );
  }),

  always('refuses with 406 an exchange that exists as another type', async (stage) => {
    const link = await stage.main();
    const exchange = await stage.exchange('x', 'topic');
    const error = await rejected(
      'another type',
      link.declareExchange(exchange, exchangeSpec('direct')),
      BrokerRefusedError,
    );
    same('the code', error.replyCode, 406);
    same(
      'the words',
      error.replyText,
      `PRECONDITION_FAILED - inequivalent arg 'type' for exchange '${exchange}' in vhost '/': received 'direct' but current is 'topic'`,
    );
  }),

  always(
    'refuses with 406 a quorum queue that is not durable, is exclusive, deletes itself or has priorities',
    async (stage) => {
      const link = await stage.main();
      const quorum = { 'x-queue-type': 'quorum' };
      const wrong = [
        [queueSpec(quorum, { durable: false }), /invalid property 'non-durable'/],
        [queueSpec(quorum, { exclusive: true }), /invalid property 'exclusive-owner'/],
        [queueSpec(quorum, { autoDelete: true }), /invalid property 'auto-delete'/],
        [
          queueSpec({ ...quorum, 'x-max-priority': 5 }),
          /invalid arg 'x-max-priority' .* of queue type rabbit_quorum_queue$/,
        ],
      ] as const;
      for (const [spec, words] of wrong) {
        const error = await rejected(
          'the declaration',
          link.declareQueue(stage.name('q'), spec),
          BrokerRefusedError,
        );
        same('the code', error.replyCode, 406);
        matches('the words', error.replyText, words);
      }
    },
  ),

  always('refuses with 406 an argument with a value that means nothing', async (stage) => {
    const link = await stage.main();
    const wrong = [
      [{ 'x-message-ttl': -1 }, /invalid arg 'x-message-ttl' .*: \{value_negative,-1\}$/],
      [{ 'x-message-ttl': 'soon' }, /: "expected integer, got longstr"$/],
      [{ 'x-expires': 0 }, /invalid arg 'x-expires' .*: \{value_zero,0\}$/],
      [{ 'x-overflow': 'explode' }, /invalid arg 'x-overflow' .*: invalid_overflow$/],
      [{ 'x-dead-letter-routing-key': 'k' }, /: routing_key_but_no_dlx_defined$/],
      [{ 'x-queue-type': 'heap' }, /: "unsupported queue type 'heap'"$/],
      [{ 'x-delivery-limit': 3 }, /invalid arg 'x-delivery-limit' .* of queue type rabbit_classic_queue$/],
    ] as const;
    for (const [args, words] of wrong) {
      const error = await rejected(
        JSON.stringify(args),
        link.declareQueue(stage.name('q'), queueSpec({ ...args })),
        BrokerRefusedError,
      );
      same('the code', error.replyCode, 406);
      matches('the words', error.replyText, words);
    }
  }),

  always('takes an argument that no broker knows, and does not compare it', async (stage) => {
    const link = await stage.main();
    const queue = await stage.queue('q', { 'x-nobody-knows': 1 });
    await link.declareQueue(queue, queueSpec({ 'x-nobody-knows': 2 }));
  }),

  always('answers hundreds of questions at once, refusals among them', async (stage) => {
    const link = await stage.main();
    const queue = await stage.queue('q');
    const none = stage.name('none');
    const answers = await Promise.all(
      Array.from({ length: 600 }, (_, index) => link.checkQueue(index % 3 === 0 ? none : queue)),
    );
    const found = { messages: 0, consumers: 0 };
    same(
      'the answers',
      answers,
      answers.map((_, index) => (index % 3 === 0 ? undefined : found)),
    );
    same('the next one', await link.checkQueue(queue), found);
  }),

  always('asks for a queue and an exchange without creating either', async (stage) => {
    const link = await stage.main();
    same('no queue', await link.checkQueue(stage.name('none')), undefined);
    same('no exchange', await link.checkExchange(stage.name('none')), false);
    same('still no queue', await link.checkQueue(stage.name('none')), undefined);
    const queue = await stage.queue('q');
    await stage.fill(queue, 'a', 'b', 'c');
    await stage.consume(queue, { prefetch: 2 });
    await stage.depth(queue, 1);
    same('what waits', await link.checkQueue(queue), { messages: 1, consumers: 1 });
    same('an exchange', await link.checkExchange(await stage.exchange('x', 'fanout')), true);
  }),

  always('refuses with 404 to bind to, consume from or pull from what is not there', async (stage) => {
    const link = await stage.main();
    const queue = await stage.queue('q');
    const exchange = await stage.exchange('x', 'direct');
    const none = stage.name('none');
    const wrong = [
      [() => link.bind(queue, none, 'k'), `no exchange '${none}' in vhost '/'`],
      [() => link.bind(none, exchange, 'k'), `no queue '${none}' in vhost '/'`],
      [() => stage.consume(none), `no queue '${none}' in vhost '/'`],
      [() => link.pull(none), `no queue '${none}' in vhost '/'`],
    ] as const;
    for (const [attempt, words] of wrong) {
      const error = await rejected(words, attempt(), BrokerRefusedError);
      same('the code', error.replyCode, 404);
      same('the words', error.replyText, `NOT_FOUND - ${words}`);
    }
    holds('the link is still open', link.open);
  }),

  always('refuses with 403 a reserved name and anything about the default exchange', async (stage) => {
    const link = await stage.main();
    const queue = await stage.queue('q');
    const wrong = [
      () => link.declareQueue('amq.suite', queueSpec()),
      () => link.declareExchange('amq.suite', exchangeSpec('direct')),
      () => link.bind(queue, '', 'k'),
      () => link.deleteExchange('amq.topic'),
    ];
    for (const attempt of wrong) {
      const error = await rejected('the attempt', attempt(), BrokerRefusedError);
      same('the code', error.replyCode, 403);
      matches('the words', error.replyText, /^ACCESS_REFUSED - /);
    }
    same('the link goes on', await link.checkQueue(queue), { messages: 0, consumers: 0 });
  }),

  always('keeps an exclusive queue from other links with 405, and deletes it with its own', async (stage) => {
    const owner = await stage.dial('owner');
    const link = await stage.main();
    const queue = stage.name('q');
    const spec = queueSpec({}, { exclusive: true, durable: false });
    await owner.link.declareQueue(queue, spec);
    const wrong = [
      () => link.declareQueue(queue, spec),
      () => link.checkQueue(queue),
      () => link.pull(queue),
      () => link.deleteQueue(queue),
      () => link.bind(queue, 'amq.topic', 'k'),
      () => stage.consume(queue),
    ];
    for (const attempt of wrong) {
      const error = await rejected('from another link', attempt(), BrokerRefusedError);
      same('the code', error.replyCode, 405);
      matches(
        'the words',
        error.replyText,
        /^RESOURCE_LOCKED - cannot obtain exclusive access to locked queue/,
      );
    }
    same('a publish reaches it', (await stage.publish('', queue)).verdict, 'confirmed');
    same('its own link', await owner.link.checkQueue(queue), { messages: 1, consumers: 0 });
    await owner.link.close();
    await until('the queue is gone', async () => (await link.checkQueue(queue)) === undefined);
  }),

  always('deletes a queue and says how many messages it held; what is not there is 0', async (stage) => {
    const link = await stage.main();
    const queue = await stage.queue('q');
    const exchange = await stage.exchange('x', 'fanout');
    await stage.fill(queue, 'a', 'b');
    same('held', await link.deleteQueue(queue), 2);
    same('again', await link.deleteQueue(queue), 0);
    await link.deleteExchange(exchange);
    await link.deleteExchange(exchange);
    same('the exchange', await link.checkExchange(exchange), false);
  }),

  always('deletes an auto-delete queue with its last consumer', async (stage) => {
    const link = await stage.main();
    const queue = await stage.queue('q', {}, { autoDelete: true, durable: false });
    same('before any consumer', await link.checkQueue(queue), { messages: 0, consumers: 0 });
    const consumer = await stage.consume(queue);
    await consumer.subscription.stop();
    await until('the queue is gone', async () => (await link.checkQueue(queue)) === undefined);
  }),
];
