import { AceMQError, type Ack, accept, ConnectError, type Message, topology } from '@acemq/core';
import { type FaultConnection, type FaultDirection, type FaultProxy, faultProxy } from '@acemq/testing';
import { type Channel, connect as connectRaw } from 'amqplib';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { type Connection, type ConnectOptions, connect, type StateEvent } from '../../src/index.ts';
import { channelClose, connectionClose, openProxy } from '../amqplib-proxy.ts';
import { keepingLogger } from '../setting.ts';
import { type FaultNode, startNode } from './node.ts';
import { muteServer, refusingServer, type StubServer } from './stubs.ts';
import { uncaughtErrors } from './uncaught.ts';

const ROLES = ['publish', 'consume'] as const;
const DIRECTIONS: readonly FaultDirection[] = ['toBroker', 'toClient'];
type Role = (typeof ROLES)[number];

let node: FaultNode;
let proxy: FaultProxy;
let admin: Channel;
let endAdmin: () => Promise<unknown>;

beforeAll(async () => {
  node = await startNode();
});

afterAll(() => node?.close());

beforeEach(async () => {
  proxy = await faultProxy(node.url);
  const model = await connectRaw(node.url);
  model.on('error', () => {});
  endAdmin = () => model.close().catch(() => {});
  admin = await model.createChannel();
});

afterEach(async () => {
  await proxy?.close();
  await endAdmin?.();
  await node.reset();
});

/** Quick to come back, and closed when the test ends. */
async function open(target: string | readonly string[], options: ConnectOptions = {}): Promise<Connection> {
  const reconnect = { initial: '1ms', max: '20ms' } as const;
  const mq = await connect(target, { name: 'faults', logger: keepingLogger(), reconnect, ...options });
  onTestFinished(async () => {
    await mq.close({ timeout: 0 });
  });
  return mq;
}

async function serve(stub: Promise<StubServer>): Promise<StubServer> {
  const server = await stub;
  onTestFinished(() => server.close());
  return server;
}

function linkOf(role: Role): FaultConnection {
  const found = proxy.connections.findLast(({ name }) => name === `faults ${role}`);
  if (found === undefined) throw new Error(`there is no link to ${role} on`);
  return found;
}

/** Does it again, as a user would, as long as the error says that this may help. */
async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      expect(error).toBeInstanceOf(AceMQError);
      expect(error).toMatchObject({ retryable: true });
      if (tries === 20) throw error;
    }
  }
}

describe('with no listener attached, a connection and its process outlive', () => {
  /** That the one who uses it sees nothing but a pause. */
  async function goesOn(mq: Connection, faults: () => unknown, again: () => boolean): Promise<void> {
    const uncaught = uncaughtErrors();
    await admin.assertQueue('orders');
    const handled: unknown[] = [];
    const consumer = await mq.consume('orders', ({ payload }) => {
      handled.push(payload);
      return accept();
    });
    const publisher = mq.publisher<string>({ routingKey: 'orders' });
    await publisher.send('before');
    await vi.waitFor(() => expect(handled).toEqual(['before']));
    faults();
    await vi.waitFor(() => expect(again()).toBe(true), { timeout: 15_000 });
    await vi.waitFor(() => expect(mq.state).toBe('connected'), { timeout: 5_000 });
    await publisher.send('after');
    await vi.waitFor(() => expect(handled).toContain('after'));
    expect(consumer.running).toBe(true);
    expect((await mq.health()).status).toBe('up');
    expect(uncaught).toEqual([]);
  }

  test.each([
    ['a reset of its sockets', () => proxy.cut()],
    ['the end of its sockets', () => proxy.cut({ how: 'fin' })],
    [
      'a missed heartbeat',
      () => {
        for (const connection of proxy.connections) connection.freeze();
      },
    ],
    ['the broker closing it', () => node.closeConnections('maintenance')],
  ])('%s', async (_, fault) => {
    const mq = await open(proxy.url, { heartbeat: '1s' });
    await goesOn(mq, fault, () => proxy.accepted === 4);
  });

  test.each([
    ['a frame that is none', Buffer.from('\x01\0\0\0\0\0\x01x!!', 'latin1')],
    ['a frame larger than any', Buffer.from('\x01\0\0\xff\xff\xff\xff', 'latin1')],
    ['a method that does not exist', Buffer.from('\x01\0\0\0\0\0\x04\0\x63\0\x63\xce', 'latin1')],
    ['a word about a channel that is not open', channelClose(99, 404, 'NOT_FOUND')],
    ['a protocol error that the broker finds', connectionClose(501, 'FRAME_ERROR - type 102')],
    ['a broker with an internal error', connectionClose(541, 'INTERNAL_ERROR')],
  ])('%s', async (_, bytes) => {
    const between = await openProxy(node.url);
    onTestFinished(() => between.close());
    const mq = await open(between.url);
    const before = [...between.clients];
    await goesOn(
      mq,
      () => between.say(bytes),
      () => before.every((client) => client.destroyed) && between.clients.size === 2,
    );
  });
});

describe('a link that is cut after each frame in turn', () => {
  interface Point {
    readonly role: Role;
    readonly direction: FaultDirection;
    readonly frame: number;
  }

  type Frames = Readonly<Record<Role, FaultConnection['frames']>>;

  function framesNow(): Frames {
    return { publish: linkOf('publish').frames, consume: linkOf('consume').frames };
  }

  /** Every frame from the first one after `from` to `to`. */
  function pointsOf(to: Frames, from?: Frames): Point[] {
    return ROLES.flatMap((role) =>
      DIRECTIONS.flatMap((direction) => {
        const first = (from?.[role][direction] ?? 0) + 1;
        const count = to[role][direction] - first + 1;
        return Array.from({ length: count }, (_, n) => ({ role, direction, frame: first + n }));
      }),
    );
  }

  /** Cuts the next link of that role at that point, and none after it. */
  function disturb(point: Point, how: 'rst' | 'fin'): () => FaultConnection | undefined {
    let disturbed: FaultConnection | undefined;
    const stop = proxy.onNamed((connection) => {
      if (connection.name !== `faults ${point.role}`) return;
      stop();
      disturbed = connection;
      connection.cutAfterFrame(point.direction, point.frame, { how });
    });
    return () => disturbed;
  }

  function howAt(index: number): 'rst' | 'fin' {
    return index % 2 === 0 ? 'rst' : 'fin';
  }

  test('while connecting: connect rejects as retryable and leaves no socket, and never resolves over a dead link', async () => {
    const uncaught = uncaughtErrors();
    const whole = await open(proxy.url);
    const frames = framesNow();
    // The handshake, and one channel that was opened to see that the broker answers.
    expect(frames.publish).toEqual({ toBroker: 4, toClient: 4 });
    expect(frames.consume).toEqual({ toBroker: 4, toClient: 4 });
    await whole.close();
    for (const point of pointsOf(frames)) {
      for (const how of ['rst', 'fin'] as const) {
        const disturbed = disturb(point, how);
        const started = performance.now();
        const outcome = await open(proxy.url).catch((error: unknown) => error);
        const words = JSON.stringify({ ...point, how });
        // Its time-out, which would have ended it too, is 10 s.
        expect(performance.now() - started, words).toBeLessThan(5_000);
        if (outcome instanceof Error) {
          expect(outcome, words).toBeInstanceOf(ConnectError);
          expect(outcome, words).toMatchObject({ code: 'ACEMQ_CONNECT_FAILED', retryable: true });
        } else {
          // The last frame was passed on, so that there was a connection, which was lost then.
          expect(point, words).toMatchObject({ direction: 'toClient', frame: 4 });
          await vi.waitFor(() => expect(disturbed()?.open, words).toBe(false));
          await insist(() => (outcome as Connection).queueExists('orders'));
          await (outcome as Connection).close();
        }
        await vi.waitFor(() => expect(proxy.connections, words).toEqual([]));
        expect(uncaught, words).toEqual([]);
      }
    }
    const mq = await open(proxy.url);
    expect((await mq.health()).status).toBe('up');
  });

  const QUEUES = ['orders', 'invoices'];
  const shop = (): ReturnType<typeof topology> =>
    topology()
      .exchange('shop', 'topic')
      .queue('orders', { type: 'classic', deadLetter: true })
      .queue('invoices', { type: 'classic', deadLetter: true })
      .bind('orders', 'shop', 'order.*')
      .bind('invoices', 'shop', 'invoice.*');

  /** Two consumers, and what they have handled. */
  class Service {
    readonly mq: Connection;
    readonly handled = new Set<string>();
    #sent = 0;

    constructor(mq: Connection) {
      this.mq = mq;
    }

    /** One of them declares nothing, so that no two ask at once and every run has the same frames. */
    async consume(): Promise<void> {
      for (const queue of QUEUES) {
        if (this.mq.consumers.some((consumer) => consumer.queue === queue)) continue;
        const handle = ({ payload }: Message<string>): Ack => {
          this.handled.add(payload);
          return accept();
        };
        await insist(() => this.mq.consume<string>(queue, handle, { declare: queue !== 'invoices' }));
      }
    }

    /** One message to each queue, confirmed and handled. */
    async roundTrip(): Promise<void> {
      const publisher = this.mq.publisher<string>({ exchange: 'shop' });
      const payloads: string[] = [];
      for (const routingKey of ['order.placed', 'invoice.sent']) {
        this.#sent += 1;
        const payload = `message ${this.#sent}`;
        payloads.push(payload);
        await insist(() => publisher.send(payload, { routingKey }));
      }
      await vi.waitFor(
        () => {
          for (const payload of payloads) expect(this.handled).toContain(payload);
        },
        { timeout: 10_000 },
      );
    }

    /** That all is as if nothing had happened. */
    async isWhole(words: string): Promise<void> {
      await this.roundTrip();
      await vi.waitFor(() => expect(this.mq.state, words).toBe('connected'));
      for (const queue of QUEUES) {
        await vi.waitFor(async () =>
          expect((await admin.checkQueue(queue)).consumerCount, `${queue}: ${words}`).toBe(1),
        );
      }
      expect(this.mq.consumers.map(({ queue, running }) => ({ queue, running }))).toEqual(
        QUEUES.map((queue) => ({ queue, running: true })),
      );
      expect(this.mq.refusedDeclarations, words).toEqual([]);
      expect(proxy.connections.map(({ name }) => name).sort(), words).toEqual([
        'faults consume',
        'faults publish',
      ]);
    }
  }

  test('while it declares, subscribes and publishes for the first time: each call rejects as retryable, and done again it is there once', async () => {
    const uncaught = uncaughtErrors();
    const start = async (): Promise<Service> => {
      const service = new Service(await open(proxy.url));
      await insist(() => service.mq.declare(shop()));
      await service.consume();
      await service.roundTrip();
      return service;
    };
    const clear = async (service: Service): Promise<void> => {
      await service.mq.close();
      for (const queue of QUEUES)
        for (const suffix of ['', '.dlq', '.parked']) await admin.deleteQueue(`${queue}${suffix}`);
    };
    // Exchanges stay, so that every run but the first one is the same.
    await clear(await start());
    const before = await open(proxy.url);
    const connected = framesNow();
    await before.close();
    await vi.waitFor(() => expect(proxy.connections).toEqual([]));
    const undisturbed = await start();
    const points = pointsOf(framesNow(), connected);
    await clear(undisturbed);
    expect(points.length).toBeGreaterThan(60);
    for (const [index, point] of points.entries()) {
      await vi.waitFor(() => expect(proxy.connections).toEqual([]));
      const words = JSON.stringify(point);
      const disturbed = disturb(point, howAt(index));
      const service = await start();
      await vi.waitFor(() => expect(disturbed()?.open, words).toBe(false), { timeout: 5_000 });
      await service.isWhole(words);
      await clear(service);
      expect(uncaught, words).toEqual([]);
    }
  });

  test('while it restores topology, consumers and a publisher: never "recovered" over it, and everything comes back', async () => {
    const uncaught = uncaughtErrors();
    const service = new Service(await open(proxy.url));
    const { mq } = service;
    await mq.declare(shop());
    await service.consume();
    await service.roundTrip();
    const newest = new Map<string | undefined, FaultConnection>();
    proxy.onNamed((connection) => newest.set(connection.name, connection));
    const recovered: { role: Role; over: FaultConnection | undefined }[] = [];
    mq.onState((event) => {
      if (event.type !== 'recovered') return;
      recovered.push({ role: event.link, over: newest.get(`faults ${event.link}`) });
    });

    const restored: Partial<Record<Role, FaultConnection['frames']>> = {};
    for (const role of ROLES) {
      linkOf(role).cut();
      await vi.waitFor(() => expect(recovered.at(-1)?.role).toBe(role));
      restored[role] = linkOf(role).frames;
    }
    await service.isWhole('undisturbed');
    const points = pointsOf(framesNow());
    expect(restored.consume?.toBroker).toBeGreaterThan(25);
    expect(points.length).toBeGreaterThan(80);

    for (const [index, point] of points.entries()) {
      const { role, direction, frame } = point;
      const words = JSON.stringify(point);
      const disturbed = disturb(point, howAt(index));
      linkOf(role).cut();
      await vi.waitFor(() => expect(disturbed(), words).toBeDefined());
      await service.roundTrip();
      await vi.waitFor(() => expect(disturbed()?.open, words).toBe(false), { timeout: 5_000 });
      await service.isWhole(words);
      const needed = restored[role]?.[direction] ?? 0;
      // What is asked last is answered by one frame more, so that a link cut after any question is not up.
      if (direction === 'toBroker' ? frame <= needed : frame < needed) {
        expect(
          recovered.map(({ over }) => over),
          words,
        ).not.toContain(disturbed());
      }
      expect(recovered.at(-1)?.over?.open, words).toBe(true);
      expect(uncaught, words).toEqual([]);
    }
  });
});

describe('a mute host', () => {
  test('times out, and the next endpoint is tried', async () => {
    const mute = await serve(muteServer());
    const started = performance.now();
    const mq = await open([mute.url, node.url], { connectTimeout: '700ms' });
    const took = performance.now() - started;
    expect(took).toBeGreaterThanOrEqual(699);
    expect(took).toBeLessThan(2_100);
    expect((await mq.health()).status).toBe('up');
    expect(mute.accepted).toBe(2);
    await vi.waitFor(() => expect(mute.open).toBe(0));
  });

  test('alone rejects at the time-out as retryable, names no password, and leaves no socket', async () => {
    const mute = await serve(muteServer());
    const started = performance.now();
    const error = await open(mute.url, { connectTimeout: '500ms' }).catch((failure: unknown) => failure);
    expect(performance.now() - started).toBeLessThan(1_500);
    expect(error).toMatchObject({ code: 'ACEMQ_CONNECT_FAILED', retryable: true });
    expect((error as Error).message).toContain('no answer within 500 ms');
    expect((error as Error).message).not.toContain('s3cret');
    await vi.waitFor(() => expect(mute.open).toBe(0));
  });

  test('is passed by when a lost connection is restored too', async () => {
    const mute = await serve(muteServer());
    const mq = await open([proxy.url, mute.url, node.url], { connectTimeout: '500ms' });
    const recovered: StateEvent[] = [];
    mq.onState((event) => {
      if (event.type === 'recovered') recovered.push(event);
    });
    proxy.refuse();
    proxy.cut();
    await vi.waitFor(() => expect(recovered).toHaveLength(2), { timeout: 10_000 });
    for (const event of recovered) expect(event).toMatchObject({ attempts: 2 });
    expect(mute.accepted).toBe(2);
    expect((await mq.health()).status).toBe('up');
    await vi.waitFor(() => expect(mute.open).toBe(0));
  });
});

describe('a refusal', () => {
  const LOGIN = { user: 'clerk', password: 's3cret', vhost: 'shop' };

  beforeEach(async () => {
    await node.addVhost('shop');
    await node.addUser('clerk', 's3cret', {}, 'shop');
  });

  afterEach(async () => {
    await node.deleteUser('clerk');
    await node.addVhost('shop'); // Two of the tests have taken it away.
    await node.deleteVhost('shop');
  });

  function through(): string {
    const url = new URL(node.urlFor(LOGIN));
    url.port = String(proxy.port);
    return url.href;
  }

  const clearPermissions = (): Promise<unknown> =>
    node.evaluate('rabbit_auth_backend_internal:clear_permissions(<<"clerk">>, <<"shop">>, <<"test">>)');

  const REFUSALS = [
    {
      name: 'of the password',
      refuse: () =>
        node.evaluate('rabbit_auth_backend_internal:change_password(<<"clerk">>, <<"other">>, <<"test">>)'),
      words: /403 ACCESS_REFUSED/,
      allow: () => node.addUser('clerk', 's3cret', {}, 'shop'),
    },
    {
      name: 'since the vhost is not there',
      refuse: () => node.deleteVhost('shop'),
      words: /530 NOT_ALLOWED - .*vhost/,
      allow: async () => {
        await node.addVhost('shop');
        await node.addUser('clerk', 's3cret', {}, 'shop');
      },
    },
    {
      name: 'since the user may not use the vhost',
      refuse: clearPermissions,
      words: /530 NOT_ALLOWED - .*access to vhost/,
      allow: () => node.addUser('clerk', 's3cret', {}, 'shop'),
    },
  ];

  test.each(REFUSALS)(
    '$name rejects at once from connect, in the words of the broker, and no other endpoint is tried',
    async ({ refuse, words }) => {
      await refuse();
      const started = performance.now();
      const error = await open([through(), node.url], { connectTimeout: '30s' }).catch(
        (failure: unknown) => failure,
      );
      expect(performance.now() - started).toBeLessThan(10_000);
      expect(error).toBeInstanceOf(ConnectError);
      expect(error).toMatchObject({ code: 'ACEMQ_CONNECT_REFUSED', refused: true, retryable: false });
      expect((error as Error).message).toMatch(words);
      expect((error as Error).message).not.toContain('s3cret');
      await vi.waitFor(() => expect(proxy.connections).toEqual([]));
    },
  );

  test.each(REFUSALS)(
    '$name later is reported, tried again with back-off, and over as soon as it is lifted',
    async ({ refuse, words, allow }) => {
      vi.spyOn(Math, 'random').mockReturnValue(0.5);
      onTestFinished(() => void vi.restoreAllMocks());
      const logger = keepingLogger();
      const mq = await open(through(), { logger, reconnect: { initial: '100ms', max: '2s' } });
      const told: { readonly event: StateEvent; readonly at: number }[] = [];
      mq.onState((event) => told.push({ event, at: performance.now() }));
      const retrying = (link: Role): { attempt: number; delay: number; reason: string; at: number }[] =>
        told.flatMap(({ event, at }) =>
          event.type === 'retrying' && event.link === link ? [{ ...event, at }] : [],
        );
      await refuse();
      proxy.cut();
      await vi.waitFor(
        () => {
          for (const role of ROLES) expect(retrying(role).length).toBeGreaterThanOrEqual(5);
        },
        { timeout: 25_000, interval: 20 },
      );
      expect(mq.state).toBe('retrying');
      for (const role of ROLES) {
        const attempts = retrying(role).slice(0, 5);
        expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5]);
        // Half of 100 ms, doubling: never faster than was said.
        expect(attempts.map(({ delay }) => delay)).toEqual([50, 100, 200, 400, 800]);
        for (const [index, { reason, at, delay }] of attempts.entries()) {
          if (index > 0) expect(reason).toMatch(words);
          expect(reason).not.toContain('s3cret');
          const next = attempts[index + 1];
          if (next !== undefined) expect(next.at - at).toBeGreaterThanOrEqual(delay - 2);
        }
      }
      const reported = logger.lines.filter(
        ({ level, message }) => level === 'error' && /refuses/.test(message),
      );
      expect(reported.length).toBeGreaterThanOrEqual(8);
      expect(JSON.stringify(logger.lines)).not.toContain('s3cret');
      expect(await mq.health()).toMatchObject({ status: 'down' });
      await allow();
      await vi.waitFor(() => expect(mq.state).toBe('connected'), { timeout: 15_000, interval: 50 });
      expect((await mq.health()).status).toBe('up');
    },
  );

  test('by a stub that says no to every password is one too, and leaves no socket', async () => {
    const stub = await serve(refusingServer());
    const error = await open([stub.url, node.url]).catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: 'ACEMQ_CONNECT_REFUSED', refused: true });
    await vi.waitFor(() => expect(stub.open).toBe(0));
  });
});
