import { setImmediate as turn } from 'node:timers/promises';
import { type AceMQError, accept, fixed, type Link, type Transport, topology } from '@acemq/core';
import { type LinkChoice, type MemoryBroker, manualClock, memoryBroker } from '@acemq/testing';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Connection, type ConnectOptions, connect, type StateEvent } from '../src/index.ts';
import { deferred, keepingLogger, onManualTime, onMemory } from './setting.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Full jitter at its upper end, so that the waits are what they can be at most. */
function longestWaits(): void {
  vi.spyOn(Math, 'random').mockReturnValue(1);
}

/** Several brokers behind one transport, as the nodes of a cluster are. */
function cluster(...brokers: MemoryBroker[]): Transport & { readonly dialled: string[] } {
  const dialled: string[] = [];
  return {
    name: 'memory',
    endpoints: brokers.map((_, at) => `memory://node-${at}`),
    clock: brokers[0]?.clock as MemoryBroker['clock'],
    dialled,
    dial(request) {
      dialled.push(`${request.name} ${request.endpoint}`);
      return (brokers[request.endpoint] as MemoryBroker).dial({ ...request, endpoint: 0 });
    },
  };
}

/** A broker on whose links `change` works before anybody uses them. `dial` counts from 1. */
function changed(change: (link: Link, dial: number) => void, broker = memoryBroker()): MemoryBroker {
  const dial = broker.dial.bind(broker);
  let dials = 0;
  broker.dial = async (request) => {
    const link = await dial(request);
    dials += 1;
    change(link, dials);
    return link;
  };
  return broker;
}

/** What a connection tells, in words. */
function eventsOf(mq: Connection): string[] {
  const events: string[] = [];
  mq.onState((event) => events.push(words(event)));
  return events;
}

function words(event: StateEvent): string {
  switch (event.type) {
    case 'retrying':
      return `${event.link} retrying ${event.attempt} in ${event.delay}`;
    case 'recovered':
      return `${event.link} recovered after ${event.attempts}`;
    case 'closed':
      return 'closed';
    default:
      return `${event.link} ${event.type}`;
  }
}

/** Cuts links, and resolves when as many have recovered. */
async function cut(mq: Connection, broker: MemoryBroker, choice: LinkChoice = {}): Promise<void> {
  const back = deferred();
  let missing = 0;
  const remove = mq.onState(({ type }) => {
    if (type !== 'recovered') return;
    missing -= 1;
    if (missing === 0) back.resolve();
  });
  missing = broker.dropLinks(choice);
  await back.promise;
  remove();
}

/** Asks again at once: there is no network to wait for. */
const OFTEN = { interval: 1 };

const consumersOf = (broker: MemoryBroker, queue: string): number | undefined =>
  broker.queues.find(({ name }) => name === queue)?.consumers;

const isConsuming = (name: string): boolean => name.endsWith(' consume');
const isPublishing = (name: string): boolean => name.endsWith(' publish');

const FAST: ConnectOptions = { reconnect: { initial: 1, max: 2 } };

describe('a lost connection', () => {
  it('comes back by itself, with its topology, its consumers and its publishers', async () => {
    const { mq, broker, queue } = await onMemory(FAST);
    await mq.declare(topology().exchange('events', 'topic').queue(queue).bind(queue, 'events', 'a.*'));
    const handled: unknown[] = [];
    const consumer = await mq.consume(queue, ({ payload }) => {
      handled.push(payload);
      return accept();
    });
    const running: boolean[] = [];
    mq.onState(() => running.push(consumer.running));
    await cut(mq, broker);
    expect(running[0]).toBe(false);
    expect(mq.state).toBe('connected');
    expect(consumer.running).toBe(true);
    expect(consumersOf(broker, queue)).toBe(1);
    await mq.publisher({ exchange: 'events', routingKey: 'a.b' }).send('again');
    await vi.waitFor(() => expect(handled).toEqual(['again']));
  });

  it('has its queue, bindings and exchange made again where the broker lost them', async () => {
    const { mq, broker, queue } = await onMemory(FAST);
    await mq.declare(
      topology()
        .exchange('fleeting', 'topic', { durable: false })
        .queue(queue, { durable: false })
        .bind(queue, 'fleeting', '#'),
    );
    await mq.consume(queue, () => accept(), { tag: 'the-one' });
    broker.stop();
    await vi.waitFor(() => expect(mq.state).toBe('retrying'));
    expect(broker.queues.map(({ name }) => name)).not.toContain(queue);
    broker.start();
    await vi.waitFor(() => expect(mq.state).toBe('connected'));
    expect(broker.bindings).toContainEqual({ queue, exchange: 'fleeting', routingKey: '#' });
    expect(mq.consumers[0]?.tag).toBe('the-one');
    await mq.publisher({ exchange: 'fleeting', routingKey: 'x' }).send(1);
  });

  it('does not bring back what was deleted, nor its bindings', async () => {
    const { mq, broker, queue } = await onMemory(FAST);
    await mq.declare(topology().exchange('events', 'fanout').queue(queue).bind(queue, 'events'));
    await mq.deleteQueue(queue);
    await mq.deleteExchange('events');
    await cut(mq, broker);
    expect(broker.queues).toEqual([]);
    expect(broker.exchanges.map(({ name }) => name)).not.toContain('events');
    expect(mq.refusedDeclarations).toEqual([]);
  });

  it('leaves a consumer closed that was closed, before it or while it lasts', async () => {
    longestWaits();
    const { mq, broker, clock, queue } = await onManualTime();
    await mq.declare(topology().queue(queue));
    const [before, during, kept] = await Promise.all([1, 2, 3].map(() => mq.consume(queue, () => accept())));
    await before?.close();
    broker.dropLinks();
    await clock.advance(0);
    expect(mq.state).toBe('retrying');
    expect(await during?.close()).toEqual({ finished: true, unsettled: 0 });
    await clock.advance(1_000);
    expect(mq.state).toBe('connected');
    expect(consumersOf(broker, queue)).toBe(1);
    expect([before?.running, during?.running, kept?.running]).toEqual([false, false, true]);
    expect(mq.consumers).toEqual([kept]);
  });

  it('takes a delivery back, and what its handler then answers is counted and otherwise nothing', async () => {
    const { mq, broker, queue } = await onMemory(FAST);
    await mq.declare(topology().queue(queue));
    const gates = [deferred(), deferred()];
    const seen: boolean[] = [];
    const consumer = await mq.consume(queue, async ({ redelivered }) => {
      seen.push(redelivered);
      await gates[seen.length - 1]?.promise;
      return accept();
    });
    await mq.publisher({ routingKey: queue }).send(1);
    await vi.waitFor(() => expect(seen).toEqual([false]));
    await cut(mq, broker, { name: isConsuming });
    gates[0]?.resolve();
    await vi.waitFor(() => expect(seen).toEqual([false, true]));
    expect(consumer.lateSettlements).toBe(1);
    gates[1]?.resolve();
    await vi.waitFor(() => expect(consumer.inFlight).toBe(0));
    expect(broker.depth(queue)).toBe(0);
    expect(consumer.lateSettlements).toBe(1);
  });

  it('twenty times in a row leaves each queue its one consumer, its tag and its prefetch', async () => {
    const { mq, broker, queue } = await onMemory(FAST);
    await mq.declare(topology().queue(queue).queue(`${queue}-2`));
    const consumer = await mq.consume(queue, () => new Promise(() => {}), { tag: 'first', prefetch: 3 });
    await mq.consume(`${queue}-2`, () => accept());
    for (let time = 1; time <= 20; time += 1) await cut(mq, broker);
    expect([consumersOf(broker, queue), consumersOf(broker, `${queue}-2`)]).toEqual([1, 1]);
    expect(broker.links).toHaveLength(2);
    expect(consumer.tag).toBe('first');
    await mq.publisher({ routingKey: queue }).sendAll([1, 2, 3, 4, 5]);
    await vi.waitFor(() => {
      expect(broker.queues.find(({ name }) => name === queue)).toMatchObject({ unsettled: 3, messages: 2 });
    });
  });

  it('of one socket leaves the other alone', async () => {
    longestWaits();
    const { mq, broker, clock, queue } = await onManualTime();
    await mq.declare(topology().queue(queue));
    const consumer = await mq.consume(queue, () => accept());
    const events = eventsOf(mq);
    broker.dropLinks({ name: isPublishing });
    await clock.advance(0);
    expect(mq.state).toBe('retrying');
    expect(mq.blocked).toBeNull();
    expect(consumer.running).toBe(true);
    expect(await mq.messageCount(queue)).toBe(0);
    await clock.advance(1_000);
    broker.dropLinks({ name: isConsuming });
    await clock.advance(0);
    expect(mq.state).toBe('retrying');
    expect(mq.blocked).toBe(false);
    await mq.publisher({ routingKey: queue }).send(1);
    expect(events).toEqual([
      'publish lost',
      'publish retrying 1 in 1000',
      'publish recovered after 1',
      'consume lost',
      'consume retrying 1 in 1000',
    ]);
  });
});

describe('a connection cut at any moment', () => {
  const CUTS = Array.from({ length: 40 }, (_, at) => at);

  /** Everything works: each queue has one consumer, and a message sent is handled. */
  const expectWhole = async (
    mq: Connection,
    broker: MemoryBroker,
    queues: readonly string[],
    handled: unknown[],
  ) => {
    await vi.waitFor(() => {
      expect(mq.state).toBe('connected');
      expect(broker.links).toHaveLength(2);
      for (const queue of queues) expect(consumersOf(broker, queue)).toBe(1);
    }, OFTEN);
    handled.length = 0;
    for (const queue of queues) await mq.publisher({ routingKey: queue }).send(queue);
    await vi.waitFor(() => expect([...handled].sort()).toEqual([...queues].sort()), OFTEN);
  };

  it.each([
    ['either', () => true],
    ['the publishing', isPublishing],
    ['the consuming', isConsuming],
  ])('while %s link is being restored is whole in the end', async (_which, chosen) => {
    for (const turns of CUTS) {
      const { mq, broker, queue } = await onMemory(FAST);
      const queues = [queue, `${queue}-2`];
      await mq.declare(
        topology()
          .exchange('events', 'topic')
          .queue(queue, { retry: fixed(3, '1m') })
          .queue(`${queue}-2`)
          .bind(queue, 'events', '#'),
      );
      const handled: unknown[] = [];
      for (const name of queues) {
        await mq.consume(name, ({ payload }) => {
          handled.push(payload);
          return accept();
        });
      }
      broker.dropLinks();
      await vi.waitFor(() => expect(broker.links.length).toBeGreaterThan(0), OFTEN);
      for (let count = 0; count < turns; count += 1) await turn();
      broker.dropLinks({ name: chosen });
      await turn();
      await expectWhole(mq, broker, queues, handled);
      await mq.close();
      expect(broker.links).toEqual([]);
    }
  });

  it.each([1, 2])('while it is made, after dial %i, is refused and leaves nothing behind', async (at) => {
    const broker = memoryBroker();
    changed((_link, dial) => {
      if (dial === at) broker.dropLinks();
    }, broker);
    await expect(connect(broker, { ...FAST, logger: keepingLogger() })).rejects.toMatchObject({
      code: 'ACEMQ_CONNECT_FAILED',
      retryable: true,
    });
    await turn();
    expect(broker.links).toEqual([]);
  });

  it('as soon as it is made is whole in the end, and publishes and consumes', async () => {
    for (const turns of CUTS.slice(0, 4)) {
      const { mq, broker, queue } = await onMemory(FAST);
      for (let count = 0; count < turns; count += 1) await turn();
      broker.dropLinks();
      await mq.declare(topology().queue(queue)).catch(() => mq.declare(topology().queue(queue)));
      const handled: unknown[] = [];
      await mq.consume(queue, ({ payload }) => {
        handled.push(payload);
        return accept();
      });
      await expectWhole(mq, broker, [queue], handled);
      await mq.close();
    }
  });

  it('while it declares and subscribes answers that call, and everything after it works', async () => {
    for (const turns of CUTS.slice(0, 30)) {
      const { mq, broker, queue } = await onMemory(FAST);
      const work = (async () => {
        await mq.declare(topology().queue(queue, { deadLetter: true }));
        return mq.consume(queue, () => accept());
      })();
      const settled = work.then(
        () => 'done',
        (error: AceMQError) => error.code,
      );
      for (let count = 0; count < turns; count += 1) await turn();
      broker.dropLinks();
      expect(['done', 'ACEMQ_CONNECTION_LOST']).toContain(await settled);
      await turn();
      await vi.waitFor(() => expect(mq.state).toBe('connected'), OFTEN);
      if ((await settled) !== 'done') {
        await mq.declare(topology().queue(queue, { deadLetter: true }));
        await mq.consume(queue, () => accept());
      }
      await vi.waitFor(() => expect(consumersOf(broker, queue)).toBe(1), OFTEN);
      expect(mq.consumers).toHaveLength(1);
      await mq.close();
    }
  });
});

describe('a link that dies while it is restored', () => {
  it('is a failed attempt, and never said to have recovered', async () => {
    longestWaits();
    const clock = manualClock();
    const broker = memoryBroker({ clock });
    changed((link, dial) => {
      if (dial !== 3) return;
      link.declareQueue = () => {
        broker.dropLinks({ name: isConsuming, reason: 'cut while declaring' });
        return new Promise((_, reject) => reject(new (class extends Error {})('cut while declaring')));
      };
    }, broker);
    const { mq, queue } = await onMemory({}, broker);
    await mq.declare(topology().queue(queue));
    const events = eventsOf(mq);
    broker.dropLinks({ name: isConsuming });
    await clock.advance(1_000);
    expect(mq.state).toBe('retrying');
    expect(events).toEqual(['consume lost', 'consume retrying 1 in 1000', 'consume retrying 2 in 2000']);
    await clock.advance(2_000);
    expect(events.at(-1)).toBe('consume recovered after 2');
    expect(mq.state).toBe('connected');
    expect(broker.links).toHaveLength(2);
  });

  it('after everything was restored, but before it was said, is a failed attempt too', async () => {
    longestWaits();
    const clock = manualClock();
    const broker = memoryBroker({ clock });
    changed((link, dial) => {
      if (dial !== 3) return;
      const consume = link.consume.bind(link);
      link.consume = async (...args) => {
        const subscription = await consume(...args);
        broker.dropLinks({ name: isConsuming });
        return subscription;
      };
    }, broker);
    const { mq, queue } = await onMemory({}, broker);
    await mq.declare(topology().queue(queue));
    const consumer = await mq.consume(queue, () => accept());
    const events = eventsOf(mq);
    broker.dropLinks({ name: isConsuming });
    await clock.advance(1_000);
    expect(events).not.toContain('consume recovered after 1');
    expect(consumer.running).toBe(false);
    await clock.advance(2_000);
    expect(events.at(-1)).toBe('consume recovered after 2');
    expect(consumer.running).toBe(true);
    expect(consumersOf(broker, queue)).toBe(1);
  });
});

describe('what the broker refuses when a connection is restored', () => {
  /** A service and somebody else on one broker. */
  async function two() {
    longestWaits();
    const service = await onManualTime({ name: 'service' });
    const other = await connect(service.broker, { name: 'other', logger: keepingLogger() });
    onTestFinished(async () => void (await other.close()));
    return {
      ...service,
      other,
      drop: () => service.broker.dropLinks({ name: (name) => name.startsWith('service') }),
    };
  }

  it('keeps nothing else from being restored, is reported once, and is tried again until it is right', async () => {
    const { mq, other, broker, clock, log, queue, drop } = await two();
    await mq.declare(
      topology().queue(queue).queue(`${queue}-2`).exchange('events', 'topic').bind(queue, 'events', 'a'),
    );
    const good = await mq.consume(`${queue}-2`, () => accept());
    drop();
    await clock.advance(0);
    await other.deleteQueue(queue);
    await other.declare(topology().queue(queue, { type: 'classic' }));
    await clock.advance(1_000);
    expect(mq.state).toBe('connected');
    expect(good.running).toBe(true);
    expect(mq.refusedDeclarations).toEqual([
      { what: `queue ${queue}`, reason: expect.stringContaining("inequivalent arg 'x-queue-type'") },
    ]);
    await mq.publisher({ routingKey: `${queue}-2` }).send(1);
    await clock.advance(60_000);
    const errors = log.filter(
      ({ level, message }) => level === 'error' && message.includes('declaration was refused'),
    );
    expect(errors).toHaveLength(1);
    await other.deleteQueue(queue);
    await clock.advance(30_000);
    expect(mq.refusedDeclarations).toEqual([]);
    expect(broker.queues.find(({ name }) => name === queue)?.type).toBe('quorum');
    expect(broker.bindings).toContainEqual({ queue, exchange: 'events', routingKey: 'a' });
  });

  it('stalls a consumer whose queue is gone, says why, and resumes when the queue is there again', async () => {
    const { mq, other, clock, log, queue, drop } = await two();
    await other.declare(topology().queue(queue).queue(`${queue}-2`));
    const [lost, kept] = [
      await mq.consume(queue, () => accept()),
      await mq.consume(`${queue}-2`, () => accept()),
    ];
    drop();
    await clock.advance(0);
    await other.deleteQueue(queue);
    await clock.advance(1_000);
    expect(mq.state).toBe('connected');
    expect([lost.running, kept.running]).toEqual([false, true]);
    expect(lost.stalled).toContain(`404 NOT_FOUND - no queue '${queue}'`);
    await clock.advance(120_000);
    const warnings = log.filter(({ level, details }) => level === 'warn' && details['queue'] === queue);
    expect(warnings).toHaveLength(1);
    await other.declare(topology().queue(queue));
    await clock.advance(30_000);
    expect(lost.running).toBe(true);
    expect(lost.stalled).toBeUndefined();
  });

  it('stalls a consumer whose dead-letter queue was re-made otherwise, and the link stays up', async () => {
    const { mq, other, clock, queue, drop } = await two();
    await other.declare(topology().queue(queue));
    const consumer = await mq.consume(queue, () => accept());
    drop();
    await clock.advance(0);
    await other.deleteQueue(`${queue}.dlq`);
    await other.declare(topology().queue(`${queue}.dlq`));
    await clock.advance(1_000);
    expect(mq.state).toBe('connected');
    expect(consumer.running).toBe(false);
    expect(consumer.stalled).toContain('x-queue-type');
    await other.deleteQueue(`${queue}.dlq`);
    await clock.advance(30_000);
    expect(consumer.running).toBe(true);
  });

  it('is tried again also where restoring the rest takes longer than the wait for that', async () => {
    longestWaits();
    const clock = manualClock();
    const gate = deferred();
    const broker = changed((link, dial) => {
      if (dial <= 4) return; // Both links of both connections.
      const consume = link.consume.bind(link);
      link.consume = async (queue, spec, events) => {
        await gate.promise;
        return consume(queue, spec, events);
      };
    }, memoryBroker({ clock }));
    const other = await connect(broker, { name: 'other', logger: keepingLogger() });
    onTestFinished(async () => void (await other.close()));
    const { mq, queue } = await onMemory({ name: 'service' }, broker);
    await mq.declare(topology().queue(queue).queue(`${queue}-2`));
    await mq.consume(`${queue}-2`, () => accept(), { declare: false });
    broker.dropLinks({ name: (name) => name.startsWith('service') });
    await clock.advance(0);
    await other.deleteQueue(queue);
    await other.declare(topology().queue(queue, { type: 'classic' }));
    await clock.advance(20_000);
    expect(mq.state).toBe('restoring');
    expect(mq.refusedDeclarations).toHaveLength(1);
    gate.resolve();
    await clock.advance(0);
    expect(mq.state).toBe('connected');
    await other.deleteQueue(queue);
    await clock.advance(30_000);
    expect(mq.refusedDeclarations).toEqual([]);
  });

  it('is forgotten when the connection closes: nothing is asked any more', async () => {
    const { mq, other, clock, queue, drop } = await two();
    await mq.declare(topology().queue(queue));
    drop();
    await clock.advance(0);
    await other.deleteQueue(queue);
    await other.declare(topology().queue(queue, { type: 'classic' }));
    await clock.advance(1_000);
    expect(mq.refusedDeclarations).toHaveLength(1);
    await mq.close();
    await other.close();
    expect(clock.timers).toBe(0);
  });
});

describe('a consumer that the broker cancels', () => {
  it('subscribes again after a second, says meanwhile why it does not read, and once that it stopped', async () => {
    const { mq, broker, clock, log, queue } = await onManualTime();
    await mq.declare(topology().queue(queue));
    const handled: unknown[] = [];
    const consumer = await mq.consume(queue, ({ payload }) => {
      handled.push(payload);
      return accept();
    });
    expect(broker.cancelConsumers(queue)).toBe(1);
    await clock.advance(0);
    expect(consumer.running).toBe(false);
    expect(consumer.stalled).toContain('cancelled');
    expect(String(consumer)).toContain('cancelled');
    expect(mq.state).toBe('connected');
    await clock.advance(999);
    expect(consumer.running).toBe(false);
    await clock.advance(1);
    expect(consumer.running).toBe(true);
    expect(consumersOf(broker, queue)).toBe(1);
    await mq.publisher({ routingKey: queue }).send('after');
    await clock.advance(0);
    expect(handled).toEqual(['after']);
    expect(log.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });

  it('since its queue was deleted asks less and less often, up to every 30 s, and resumes', async () => {
    const { mq, clock, queue } = await onManualTime();
    await mq.declare(topology().queue(queue));
    const consumer = await mq.consume(queue, () => accept());
    await mq.deleteQueue(queue);
    await clock.advance(0);
    expect(consumer.running).toBe(false);
    // Asked after 1, 2, 4, 8, 16 s: the next question comes 30 s after the last.
    await clock.advance(31_000);
    expect(consumer.stalled).toContain('404');
    await mq.declare(topology().queue(queue));
    await clock.advance(29_999);
    expect(consumer.running).toBe(false);
    await clock.advance(1);
    expect(consumer.running).toBe(true);
    // Once it reads, the next cancellation is met with a second again.
    await mq.deleteQueue(queue);
    await mq.declare(topology().queue(queue));
    await clock.advance(1_000);
    expect(consumer.running).toBe(true);
  });

  it('and that is closed then does not come back', async () => {
    const { mq, broker, clock, queue } = await onManualTime();
    await mq.declare(topology().queue(queue));
    const consumer = await mq.consume(queue, () => accept());
    broker.cancelConsumers(queue);
    await clock.advance(0);
    expect(await consumer.close()).toEqual({ finished: true, unsettled: 0 });
    await clock.advance(60_000);
    expect(consumersOf(broker, queue)).toBe(0);
    expect(consumer.stalled).toBeUndefined();
  });

  it('while the link is lost is restored once, not twice', async () => {
    longestWaits();
    const { mq, broker, clock, queue } = await onManualTime();
    await mq.declare(topology().queue(queue));
    await mq.consume(queue, () => accept());
    broker.cancelConsumers(queue);
    await clock.advance(500);
    broker.dropLinks();
    await clock.advance(60_000);
    expect(consumersOf(broker, queue)).toBe(1);
  });
});

describe('the attempts', () => {
  it('wait longer and longer, with full jitter, and begin anew after a recovery', async () => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(1);
    const { mq, broker, clock } = await onManualTime();
    const events = eventsOf(mq);
    broker.refuseDials('unreachable');
    broker.dropLinks({ name: isPublishing });
    await clock.advance(61_000);
    expect(events).toEqual([
      'publish lost',
      'publish retrying 1 in 1000',
      'publish retrying 2 in 2000',
      'publish retrying 3 in 4000',
      'publish retrying 4 in 8000',
      'publish retrying 5 in 16000',
      'publish retrying 6 in 30000',
      'publish retrying 7 in 30000',
    ]);
    broker.acceptDials();
    random.mockReturnValue(0.25);
    await clock.advance(30_000);
    expect(events.at(-1)).toBe('publish recovered after 7');
    broker.dropLinks({ name: isPublishing });
    await clock.advance(0);
    expect(events.at(-1)).toBe('publish retrying 1 in 250');
    random.mockReturnValue(0);
    await clock.advance(250);
    broker.dropLinks({ name: isPublishing });
    await clock.advance(0);
    expect(events.slice(-2)).toEqual(['publish retrying 1 in 0', 'publish recovered after 1']);
  });

  it('go to the next endpoint each time, round and round', async () => {
    longestWaits();
    const clock = manualClock();
    const nodes = [1, 2, 3].map(() => memoryBroker({ clock }));
    const transport = cluster(...nodes);
    const mq = await connect(transport, { logger: keepingLogger() });
    onTestFinished(async () => void (await mq.close()));
    expect(transport.dialled.sort()).toEqual(['acemq consume 0', 'acemq publish 0']);
    transport.dialled.length = 0;
    for (const node of nodes) node.stop();
    await clock.advance(15_000);
    expect(transport.dialled.filter((one) => one.includes('publish'))).toEqual([
      'acemq publish 1',
      'acemq publish 2',
      'acemq publish 0',
      'acemq publish 1',
    ]);
    nodes[2]?.start();
    await clock.advance(16_000);
    expect(mq.state).toBe('connected');
    expect(nodes.map((node) => node.links.length)).toEqual([0, 0, 2]);
  });

  it('end when the connection is closed in between', async () => {
    longestWaits();
    const { mq, broker, clock } = await onManualTime();
    broker.refuseDials('unreachable');
    broker.dropLinks();
    await clock.advance(5_000);
    expect(await mq.close()).toEqual({ finished: true, unsettled: 0, unconfirmed: 0 });
    expect(clock.timers).toBe(0);
    expect(mq.state).toBe('closed');
  });

  it('go on, reported, when the broker refuses the password later', async () => {
    longestWaits();
    const { mq, broker, clock, log } = await onManualTime();
    broker.refuseDials('credentials');
    broker.dropLinks({ name: isPublishing });
    await clock.advance(3_000);
    const refusals = log.filter(({ message }) => message === 'the broker refuses this connection');
    expect(refusals.map(({ level, details }) => [level, details['attempt']])).toEqual([
      ['error', 1],
      ['error', 2],
    ]);
    broker.acceptDials();
    await clock.advance(4_000);
    expect(mq.state).toBe('connected');
  });
});

describe('what a connection tells', () => {
  it('is what happened, in order, with the reason', async () => {
    longestWaits();
    const { mq, broker, clock } = await onManualTime();
    const events: StateEvent[] = [];
    mq.onState((event) => events.push(event));
    broker.dropLinks({ name: isConsuming, reason: 'somebody pulled a plug' });
    await clock.advance(1_000);
    expect(events).toEqual([
      { type: 'lost', link: 'consume', reason: 'somebody pulled a plug' },
      { type: 'retrying', link: 'consume', attempt: 1, delay: 1_000, reason: 'somebody pulled a plug' },
      { type: 'recovered', link: 'consume', attempts: 1 },
    ]);
  });

  it('agrees with its state at each event', async () => {
    const { mq, broker } = await onMemory(FAST);
    const states: string[] = [];
    mq.onState(({ type }) => states.push(`${type}: ${mq.state}`));
    broker.dropLinks({ name: isPublishing });
    await vi.waitFor(() => expect(states).toHaveLength(3));
    await mq.close();
    expect(states).toEqual([
      'lost: retrying',
      'retrying: retrying',
      'recovered: connected',
      'closed: closed',
    ]);
  });

  it('is a block and its end, with the words of the broker', async () => {
    const { mq, broker, clock, queue } = await onManualTime();
    await mq.declare(topology().queue(queue));
    const events: StateEvent[] = [];
    mq.onState((event) => events.push(event));
    broker.block('low on disk');
    expect(mq.blocked).toBe(false);
    const sent = mq.publisher({ routingKey: queue }).send(1);
    await clock.advance(0);
    expect([mq.blocked, mq.blockedReason, mq.state]).toEqual([true, 'low on disk', 'connected']);
    broker.unblock();
    await sent;
    expect([mq.blocked, mq.blockedReason]).toEqual([false, undefined]);
    expect(events).toEqual([
      { type: 'blocked', link: 'publish', reason: 'low on disk' },
      { type: 'unblocked', link: 'publish' },
    ]);
  });

  it('forgets a block with the link that was blocked', async () => {
    longestWaits();
    const { mq, broker, clock, queue } = await onManualTime();
    await mq.declare(topology().queue(queue));
    broker.block();
    const sent = mq.publisher({ routingKey: queue }).send(1);
    const cut = expect(sent).rejects.toMatchObject({ code: 'ACEMQ_PUBLISH_LOST', mayHaveArrived: true });
    await clock.advance(0);
    expect(mq.blocked).toBe(true);
    broker.dropLinks({ name: isPublishing });
    await clock.advance(0);
    await cut;
    expect([mq.blocked, mq.blockedReason]).toEqual([null, undefined]);
    broker.unblock();
    await clock.advance(1_000);
    expect(mq.blocked).toBe(false);
    await mq.publisher({ routingKey: queue }).send(2);
  });

  it('is told to everybody, whatever one of them throws or rejects with', async () => {
    const { mq, broker, log } = await onMemory(FAST);
    const told: string[] = [];
    mq.onState(() => {
      throw new Error('a broken listener');
    });
    mq.onState((async () => {
      throw new Error('a broken async listener');
    }) as () => void);
    mq.onState(({ type }) => told.push(type));
    broker.dropLinks({ name: isPublishing });
    await vi.waitFor(() => expect(told).toEqual(['lost', 'retrying', 'recovered']));
    const failures = log.filter(({ message }) => message === 'a listener of the connection failed');
    expect(failures).toHaveLength(6);
  });

  it('is no longer told once the listener was taken away', async () => {
    const { mq, broker } = await onMemory(FAST);
    const told: string[] = [];
    const remove = mq.onState(({ type }) => told.push(type));
    remove();
    remove();
    await cut(mq, broker);
    expect(told).toEqual([]);
  });

  it('ends with closed, told once', async () => {
    const { mq } = await onMemory();
    const events = eventsOf(mq);
    await Promise.all([mq.close(), mq.close()]);
    await mq.close();
    expect(events).toEqual(['closed']);
  });
});

describe('what needs the connection while it is down', () => {
  it('waits for it', async () => {
    longestWaits();
    const { mq, broker, clock, queue } = await onManualTime();
    broker.dropLinks();
    await clock.advance(0);
    const declared = mq.declare(topology().queue(queue));
    const sent = mq.publisher({ routingKey: queue }).send(1, { allowUnroutable: true });
    await clock.advance(1_000);
    expect((await declared).items[0]?.state).toBe('create');
    await sent;
  });

  it('gives up after the connect time-out', async () => {
    longestWaits();
    const { mq, broker, clock, queue } = await onManualTime({ connectTimeout: '3s' });
    broker.refuseDials('unreachable');
    broker.dropLinks();
    await clock.advance(0);
    const outcomes = Promise.allSettled([
      mq.declare(topology().queue(queue)),
      mq.consume(queue, () => accept()),
      mq.queueExists(queue),
      mq.pull(queue),
    ]);
    await clock.advance(3_000);
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { code: 'ACEMQ_CONNECTION_LOST', message: 'there has been no connection for 3000 ms' },
      });
    }
    expect(mq.consumers).toEqual([]);
  });

  it('gives up when its signal is aborted, or was', async () => {
    longestWaits();
    const { mq, broker, clock, queue } = await onManualTime();
    await mq.declare(topology().queue(queue));
    broker.dropLinks();
    await clock.advance(0);
    const before = mq.consume(queue, () => accept(), { signal: AbortSignal.abort('too late') });
    await expect(before).rejects.toMatchObject({ code: 'ACEMQ_ABORTED', cause: 'too late' });
    const abort = new AbortController();
    const during = mq.consume(queue, () => accept(), { signal: abort.signal });
    const ended = expect(during).rejects.toMatchObject({ code: 'ACEMQ_ABORTED', cause: 'enough' });
    await clock.advance(500);
    abort.abort('enough');
    await ended;
    await clock.advance(10_000);
    expect(consumersOf(broker, queue)).toBe(0);
  });

  it('gives up when the connection is closed', async () => {
    const { mq, broker, clock, queue } = await onManualTime();
    broker.refuseDials('unreachable');
    broker.dropLinks();
    await clock.advance(0);
    const declared = mq.declare(topology().queue(queue));
    const ended = expect(declared).rejects.toMatchObject({ code: 'ACEMQ_CONNECTION_CLOSED' });
    await mq.close();
    await ended;
    await expect(mq.queueExists(queue)).rejects.toMatchObject({ code: 'ACEMQ_CONNECTION_CLOSED' });
  });
});

describe('connecting', () => {
  it('tries the endpoints in turn until one answers, both links at the same', async () => {
    const nodes = [memoryBroker(), memoryBroker(), memoryBroker()];
    nodes[0]?.refuseDials('unreachable');
    const transport = cluster(...nodes);
    const mq = await connect(transport, { name: 'service' });
    onTestFinished(async () => void (await mq.close()));
    expect(nodes.map((node) => node.links.map(({ name }) => name).sort())).toEqual([
      [],
      ['service consume', 'service publish'],
      [],
    ]);
  });

  it('fails with what each endpoint said when none answers', async () => {
    const nodes = [memoryBroker(), memoryBroker()];
    for (const node of nodes) node.refuseDials('unreachable');
    const error = await connect(cluster(...nodes), { logger: keepingLogger() }).catch((refusal) => refusal);
    expect(error).toMatchObject({ code: 'ACEMQ_CONNECT_FAILED', retryable: true, refused: false });
    expect(error.message).toMatch(/memory:\/\/node-0: .*; memory:\/\/node-1: /);
  });

  it('is refused at once with a wrong password, and no other endpoint is asked', async () => {
    const nodes = [memoryBroker(), memoryBroker()];
    nodes[0]?.refuseDials('credentials');
    const transport = cluster(...nodes);
    await expect(connect(transport, { logger: keepingLogger() })).rejects.toMatchObject({
      code: 'ACEMQ_CONNECT_REFUSED',
      retryable: false,
      refused: true,
    });
    expect(transport.dialled.every((one) => one.endsWith(' 0'))).toBe(true);
  });

  it('leaves no link behind when only one of the two was refused', async () => {
    const broker = memoryBroker();
    broker.refuseDials('unreachable', 1);
    await expect(connect(broker, { logger: keepingLogger() })).rejects.toMatchObject({
      code: 'ACEMQ_CONNECT_FAILED',
    });
    await turn();
    expect(broker.links).toEqual([]);
  });

  it('gives up on a mute broker after the connect time-out, and tries the next', async () => {
    const clock = manualClock();
    const nodes = [memoryBroker({ clock }), memoryBroker({ clock })];
    nodes[0]?.freeze();
    const connecting = connect(cluster(...nodes), { connectTimeout: '2s', logger: keepingLogger() });
    await clock.advance(1_999);
    expect(nodes[1]?.links).toEqual([]);
    await clock.advance(1);
    const mq = await connecting;
    onTestFinished(async () => void (await mq.close()));
    expect(nodes[1]?.links).toHaveLength(2);
  });

  it('is over at once with a signal that was aborted, and nothing is dialled', async () => {
    const transport = cluster(memoryBroker());
    const aborted = connect(transport, { signal: AbortSignal.abort('not now') });
    await expect(aborted).rejects.toMatchObject({ code: 'ACEMQ_ABORTED', cause: 'not now' });
    expect(transport.dialled).toEqual([]);
  });

  it('ends when its signal is aborted, tries no further endpoint and leaves nothing behind', async () => {
    const clock = manualClock();
    const nodes = [memoryBroker({ clock }), memoryBroker({ clock })];
    nodes[0]?.freeze();
    const abort = new AbortController();
    const connecting = connect(cluster(...nodes), { signal: abort.signal, logger: keepingLogger() });
    const ended = expect(connecting).rejects.toMatchObject({ code: 'ACEMQ_ABORTED', cause: 'enough' });
    await clock.advance(1_000);
    abort.abort('enough');
    await ended;
    nodes[0]?.thaw();
    await clock.advance(0);
    expect(nodes.map((node) => node.links)).toEqual([[], []]);
    expect(clock.timers).toBe(0);
  });

  it('is not undone by a signal that is aborted later', async () => {
    const abort = new AbortController();
    const { mq, broker } = await onMemory({ ...FAST, signal: abort.signal });
    abort.abort();
    await cut(mq, broker);
    expect(mq.state).toBe('connected');
  });

  it('fails with an error that a transport made by mistake, as it is', async () => {
    const broken: Transport = {
      name: 'broken',
      endpoints: ['broken://'],
      dial: () => Promise.reject(new RangeError('a bug')),
    };
    await expect(connect(broken)).rejects.toThrow(new RangeError('a bug'));
  });
});
