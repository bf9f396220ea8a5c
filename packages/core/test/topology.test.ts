import { describe, expect, it } from 'vitest';
import type { ExchangeOptions, QueueOptions } from '../src/index.ts';
import { exponential, fixed, none, topology } from '../src/index.ts';
import { expectRefusal } from './refusal.ts';

const managed = { type: 'direct', durable: true, autoDelete: false, arguments: {} };
const classic = { durable: true, autoDelete: false, exclusive: false, arguments: {} };
const policy = exponential(6, '10s', '5m');

const onlyQueue = (options: QueueOptions): { readonly type: string; readonly spec: object } | undefined =>
  topology().queue('q', options).plan().queues[0];

describe('a queue', () => {
  it('is a durable quorum queue by default', () => {
    expect(topology().queue('orders').plan().queues).toEqual([
      { name: 'orders', type: 'quorum', spec: { ...classic, arguments: { 'x-queue-type': 'quorum' } } },
    ]);
  });

  it.each([{ exclusive: true }, { autoDelete: true }, { durable: false }])(
    'is classic with %j',
    (options) => {
      expect(onlyQueue(options)).toEqual({ name: 'q', type: 'classic', spec: { ...classic, ...options } });
    },
  );

  it('is classic on request, without an argument that says so', () => {
    expect(onlyQueue({ type: 'classic' })).toEqual({ name: 'q', type: 'classic', spec: classic });
  });

  it('is a stream on request, by option or by argument', () => {
    for (const options of [
      { type: 'stream' },
      { arguments: { 'x-queue-type': 'stream' } },
    ] as QueueOptions[]) {
      expect(onlyQueue(options)).toMatchObject({
        type: 'stream',
        spec: { arguments: { 'x-queue-type': 'stream' } },
      });
    }
  });

  it('keeps arguments of its own, in a copy', () => {
    const args: Record<string, number> = { 'x-max-length': 10 };
    const plan = topology().queue('q', { arguments: args }).plan();
    args['x-max-length'] = 20;
    expect(plan.queues[0]?.spec.arguments).toEqual({ 'x-queue-type': 'quorum', 'x-max-length': 10 });
  });

  it('with deadLetter brings its two queues, their exchange and their bindings', () => {
    const plan = topology().queue('orders.new', { deadLetter: true }).plan();
    expect(plan.exchanges).toEqual([{ name: 'acemq.dlx', spec: managed }]);
    expect(plan.queues).toEqual([
      {
        name: 'orders.new',
        type: 'quorum',
        spec: {
          ...classic,
          arguments: {
            'x-queue-type': 'quorum',
            'x-dead-letter-exchange': 'acemq.dlx',
            'x-dead-letter-routing-key': 'orders.new.dlq',
          },
        },
      },
      { name: 'orders.new.dlq', type: 'classic', spec: classic },
      { name: 'orders.new.parked', type: 'classic', spec: classic },
    ]);
    expect(plan.bindings).toEqual([
      { queue: 'orders.new.dlq', exchange: 'acemq.dlx', routingKey: 'orders.new.dlq' },
      { queue: 'orders.new.parked', exchange: 'acemq.dlx', routingKey: 'orders.new.parked' },
    ]);
  });

  it('with retry brings dead letters, rungs and the way home', () => {
    const plan = topology().queue('orders.new', { retry: policy }).plan();
    expect(plan.exchanges.map(({ name }) => name).sort()).toEqual(['acemq.dlx', 'acemq.retry']);
    expect(plan.queues.map(({ name }) => name)).toEqual([
      'orders.new',
      'orders.new.retry.40s',
      'orders.new.retry.80s',
      'orders.new.retry.160s',
      'orders.new.dlq',
      'orders.new.parked',
    ]);
    expect(plan.queues[1]?.spec.arguments).toEqual({
      'x-message-ttl': 40_000,
      'x-dead-letter-exchange': 'acemq.retry',
      'x-dead-letter-routing-key': 'orders.new',
    });
    expect(plan.bindings).toContainEqual({
      queue: 'orders.new',
      exchange: 'acemq.retry',
      routingKey: 'orders.new',
    });
  });

  it('with a retry that never waits in the broker needs no retry exchange', () => {
    const plan = topology().queue('q', { retry: none() }).plan();
    expect(plan.exchanges.map(({ name }) => name)).toEqual(['acemq.dlx']);
    expect(plan.queues).toHaveLength(3);
  });

  it('may have a retry and a dead-letter exchange of its own', () => {
    const plan = topology()
      .queue('q', {
        retry: fixed(2, '1m'),
        deadLetter: false,
        arguments: { 'x-dead-letter-exchange': 'team.dlx' },
      })
      .plan();
    expect(plan.queues.map(({ name }) => name)).toEqual(['q', 'q.retry.1m']);
    expect(plan.queues[0]?.spec.arguments).toMatchObject({ 'x-dead-letter-exchange': 'team.dlx' });
  });
});

describe('an exchange', () => {
  it('is durable and stays by default', () => {
    expect(topology().exchange('orders', 'topic').plan().exchanges).toEqual([
      { name: 'orders', spec: { type: 'topic', durable: true, autoDelete: false, arguments: {} } },
    ]);
  });

  it.each(['before', 'after'])(
    'that the library manages stays as the caller describes it, %s the queue',
    (when) => {
      const spec: ExchangeOptions = { arguments: { 'alternate-exchange': 'lost' } };
      const builder = topology();
      if (when === 'before') builder.exchange('acemq.dlx', 'direct', spec);
      builder.queue('q', { deadLetter: true });
      if (when === 'after') builder.exchange('acemq.dlx', 'direct', spec);
      expect(builder.plan().exchanges).toEqual([
        { name: 'acemq.dlx', spec: { ...managed, arguments: { 'alternate-exchange': 'lost' } } },
      ]);
    },
  );

  it.each([
    ['acemq.dlx', 'topic', {}],
    ['acemq.retry', 'direct', { durable: false }],
    ['acemq.retry', 'direct', { autoDelete: true }],
  ] as const)('%s cannot be %s with %j', (name, type, options) => {
    expectRefusal(
      () => topology().exchange(name, type, options),
      'ACEMQ_TOPOLOGY',
      name,
      'direct',
      'durable',
    );
  });
});

describe('a topology that cannot be', () => {
  const base = (): ReturnType<typeof topology> =>
    topology().exchange('e', 'topic').queue('q', { deadLetter: true });

  it.each([
    ['a blank exchange', () => base().exchange(' ', 'topic'), 'ACEMQ_CONFIGURATION', ['exchange', '" "']],
    [
      'an exchange without a type',
      () => base().exchange('x', ''),
      'ACEMQ_CONFIGURATION',
      ['type', '"x"', '""'],
    ],
    ['a blank queue', () => base().queue(''), 'ACEMQ_CONFIGURATION', ['queue', '""']],
    ['an exchange declared twice', () => base().exchange('e', 'topic'), 'ACEMQ_TOPOLOGY', ['"e"', 'twice']],
    ['a queue declared twice', () => base().queue('q'), 'ACEMQ_TOPOLOGY', ['"q"', 'twice']],
    ['a queue that came with another', () => base().queue('q.dlq'), 'ACEMQ_TOPOLOGY', ['"q.dlq"', 'twice']],
    [
      'a queue whose companions exist',
      () => base().queue('w.parked').queue('w', { deadLetter: true }),
      'ACEMQ_TOPOLOGY',
      ['"w.parked"', 'twice', '"w"'],
    ],
    [
      'a binding to the default exchange',
      () => base().bind('q', ''),
      'ACEMQ_TOPOLOGY',
      ['"q"', 'default exchange'],
    ],
    ['a binding of a blank queue', () => base().bind('', 'e'), 'ACEMQ_CONFIGURATION', ['queue', '""']],
    [
      'a routing key that is too long',
      () => base().bind('q', 'e', 'k'.repeat(256)),
      'ACEMQ_CONFIGURATION',
      ['256'],
    ],
    [
      'an exclusive quorum queue',
      () => base().queue('x', { type: 'quorum', exclusive: true }),
      'ACEMQ_TOPOLOGY',
      ['"x"'],
    ],
    [
      'a transient stream',
      () => base().queue('x', { type: 'stream', durable: false }),
      'ACEMQ_TOPOLOGY',
      ['"x"'],
    ],
    [
      'an auto-delete queue that an argument makes a quorum queue',
      () => base().queue('x', { autoDelete: true, arguments: { 'x-queue-type': 'quorum' } }),
      'ACEMQ_TOPOLOGY',
      ['"x"', 'quorum'],
    ],
    [
      'two types',
      () => base().queue('x', { type: 'classic', arguments: { 'x-queue-type': 'quorum' } }),
      'ACEMQ_TOPOLOGY',
      ['"x"', 'classic', 'quorum'],
    ],
    [
      'a type that is none',
      () => base().queue('x', { type: 'mirrored' } as never),
      'ACEMQ_CONFIGURATION',
      ['"x"', '"mirrored"', 'quorum, classic, stream'],
    ],
    [
      'a stream with dead letters',
      () => base().queue('x', { type: 'stream', deadLetter: true }),
      'ACEMQ_TOPOLOGY',
      ['"x"'],
    ],
    [
      'a stream with retries',
      () => base().queue('x', { type: 'stream', retry: policy, deadLetter: false }),
      'ACEMQ_TOPOLOGY',
      ['"x"'],
    ],
    [
      'two dead-letter exchanges',
      () => base().queue('x', { deadLetter: true, arguments: { 'x-dead-letter-exchange': 'mine' } }),
      'ACEMQ_TOPOLOGY',
      ['"x"', 'x-dead-letter-exchange', '"mine"'],
    ],
    [
      'two dead-letter keys',
      () => base().queue('x', { retry: policy, arguments: { 'x-dead-letter-routing-key': 'mine' } }),
      'ACEMQ_TOPOLOGY',
      ['"x"', 'x-dead-letter-routing-key', '"mine"'],
    ],
    [
      'a retry that is no policy',
      () => base().queue('x', { retry: 3 } as never),
      'ACEMQ_CONFIGURATION',
      ['retry', '3'],
    ],
    [
      'an option that is misspelt',
      () => base().queue('x', { deadletter: true } as never),
      'ACEMQ_CONFIGURATION',
      ['deadletter'],
    ],
    [
      'a flag that is no flag',
      () => base().queue('x', { durable: 'yes' } as never),
      'ACEMQ_CONFIGURATION',
      ['durable', '"yes"'],
    ],
    [
      'arguments that are no table',
      () => base().queue('x', { arguments: [] } as never),
      'ACEMQ_CONFIGURATION',
      ['a list'],
    ],
    [
      'a name too long for its dead letters',
      () => base().queue('x'.repeat(252), { deadLetter: true }),
      'ACEMQ_CONFIGURATION',
      ['255'],
    ],
  ] as const)('is refused for %s', (_what, work, code, words) => {
    expectRefusal(work, code, ...words);
  });

  it('is refused for a binding to what is not declared, and names each', () => {
    const builder = topology().exchange('e', 'topic').queue('q').bind('ghost', 'e', 'k').bind('q', 'nowhere');
    expectRefusal(() => builder.plan(), 'ACEMQ_TOPOLOGY', 'the queue "ghost"', 'the exchange "nowhere"');
    expect(String(builder)).toMatch(/^Topology: invalid: .*"ghost"/);
  });

  it('is left as it was by a call that was refused', () => {
    const builder = topology().queue('w.parked');
    expect(() => builder.queue('w', { retry: policy })).toThrow();
    expect(String(builder.plan())).toBe(String(topology().queue('w.parked').plan()));
  });
});

describe('a binding', () => {
  it('may be made before what it binds, has an empty key by default, and counts once', () => {
    const plan = topology()
      .bind('q', 'e')
      .bind('q', 'e')
      .bind('q', 'e', 'k')
      .exchange('e', 'fanout')
      .queue('q')
      .plan();
    expect(plan.bindings).toEqual([
      { queue: 'q', exchange: 'e', routingKey: '' },
      { queue: 'q', exchange: 'e', routingKey: 'k' },
    ]);
  });
});

describe('a topology in words', () => {
  it('counts, and has a line for each thing', () => {
    const builder = topology()
      .exchange('orders', 'topic')
      .queue('q', { deadLetter: true })
      .queue('tmp', { exclusive: true, autoDelete: true, durable: false })
      .bind('q', 'orders', 'order.*');
    expect(String(builder).split('\n')).toEqual([
      'Topology: 2 exchanges, 4 queues, 3 bindings',
      '  declare exchange orders (topic, durable)',
      '  declare exchange acemq.dlx (direct, durable)',
      '  declare queue q (quorum, durable, x-dead-letter-exchange=acemq.dlx, x-dead-letter-routing-key=q.dlq)',
      '  declare queue q.dlq (classic, durable)',
      '  declare queue q.parked (classic, durable)',
      '  declare queue tmp (classic, transient, auto-delete, exclusive)',
      '  bind q.dlq to acemq.dlx on "q.dlq"',
      '  bind q.parked to acemq.dlx on "q.parked"',
      '  bind q to orders on "order.*"',
    ]);
    expect(String(topology())).toBe('Topology: 0 exchanges, 0 queues, 0 bindings');
  });
});
