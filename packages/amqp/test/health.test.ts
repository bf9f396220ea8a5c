import { randomUUID } from 'node:crypto';
import {
  accept,
  BrokerRefusedError,
  ConfigurationError,
  type DialRequest,
  type Link,
  reject,
  type Transport,
  topology,
} from '@acemq/core';
import { type MemoryBroker, memoryBroker } from '@acemq/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { decideHealth, type HealthFacts } from '../src/health.ts';
import { type Connection, connect } from '../src/index.ts';
import { deferred, keepingLogger, onManualTime, onMemory, type Setting } from './setting.ts';

const BLOCKED = 'the broker has blocked this connection; publishing is paused';

/** Raises an alarm, which ends before the connection is closed at the end of the test. */
function alarm(broker: MemoryBroker, reason: string): void {
  broker.block(reason);
  onTestFinished(() => {
    broker.thaw();
    broker.unblock();
  });
}

/** Raises an alarm, and publishes into it: a broker tells a link of an alarm at the link's next publish. */
async function blockedBy({ broker, mq, queue }: Setting, reason: string): Promise<void> {
  alarm(broker, reason);
  mq.publisher({ routingKey: queue })
    .send({})
    .catch(() => {});
  await vi.waitFor(() => expect(mq.blocked).toBe(true));
}

/** What each `checkQueue` of a link is to do instead. */
type Question = (link: string, queue: string, ask: () => ReturnType<Link['checkQueue']>) => unknown;

/** A connection on an in-memory broker whose questions about queues go through `question`. */
async function questioned(question: Question): Promise<{ mq: Connection; broker: MemoryBroker }> {
  const broker = memoryBroker();
  const transport: Transport = {
    name: 'questioned',
    endpoints: broker.endpoints,
    clock: broker.clock,
    async dial(request: DialRequest): Promise<Link> {
      const link = await broker.dial(request);
      const ask = link.checkQueue.bind(link);
      link.checkQueue = async (queue) =>
        (await question(request.name, queue, () => ask(queue))) as Awaited<ReturnType<Link['checkQueue']>>;
      return link;
    },
  };
  const mq = await connect(transport, { logger: keepingLogger() });
  onTestFinished(async () => {
    await mq.close({ timeout: 0 });
  });
  return { mq, broker };
}

describe('a connection that works', () => {
  test('is up, with nothing to say, and the facts behind it', async () => {
    const { mq, queue, broker } = await onMemory();
    await mq.declare(topology().queue(queue));
    await mq.consume(queue, () => accept());
    const report = await mq.health();
    expect(report).toMatchObject({ status: 'up', healthy: true, detail: '' });
    expect(`${report}`).toBe('up');
    expect(report.parts).toEqual({
      state: 'connected',
      consumers: 1,
      'in-flight': 0,
      blocked: false,
      'round-trip': expect.any(Number),
    });
    expect(report.checked.getTime()).toBeLessThanOrEqual(broker.clock.now());
  });

  test('asks over both links for a queue that nobody has declared, and creates nothing', async () => {
    const asked: [string, string][] = [];
    const { mq, broker } = await questioned((link, queue, ask) => {
      asked.push([link, queue]);
      return ask();
    });
    await mq.health();
    await mq.health();
    expect(asked.map(([link]) => link)).toEqual([
      'acemq publish',
      'acemq consume',
      'acemq publish',
      'acemq consume',
    ]);
    const names = asked.map(([, queue]) => queue);
    for (const name of names) expect(name).toMatch(/^acemq-health-[0-9a-f]{32}$/);
    expect(new Set(names).size).toBe(4);
    expect(broker.queues).toEqual([]);
  });

  test('takes the slower link for the round trip, in seconds to four decimals', async () => {
    const slow = deferred();
    const { mq } = await questioned(async (link, _queue, ask) => {
      if (link === 'acemq consume') await slow.promise;
      return ask();
    });
    const started = performance.now();
    const asking = mq.health();
    await vi.waitFor(() => expect(performance.now() - started).toBeGreaterThan(20));
    slow.resolve();
    const trip = (await asking).parts['round-trip'] as number;
    expect(trip).toBeGreaterThan(0.015);
    expect(Math.round(trip * 10_000) / 10_000).toBe(trip);
  });

  test('asks once for callers that come while the question is open', async () => {
    let questions = 0;
    const answer = deferred();
    const { mq } = await questioned(async (_link, _queue, ask) => {
      questions += 1;
      await answer.promise;
      return ask();
    });
    const asking = [mq.health(), mq.health(), mq.health()];
    answer.resolve();
    const reports = await Promise.all(asking);
    expect(reports.map(({ status }) => status)).toEqual(['up', 'up', 'up']);
    expect(questions).toBe(2);
  });

  test('counts what its handlers are at', async () => {
    const { mq, queue } = await onMemory();
    await mq.declare(topology().queue(queue));
    const hold = deferred();
    await mq.consume(
      queue,
      async () => {
        await hold.promise;
        return accept();
      },
      { concurrency: 2 },
    );
    await mq.publisher({ routingKey: queue }).sendAll([1, 2]);
    await vi.waitFor(async () => expect((await mq.health()).parts['in-flight']).toBe(2));
    hold.resolve();
    await vi.waitFor(async () => expect((await mq.health()).parts['in-flight']).toBe(0));
  });
});

describe('a blocked connection', () => {
  test('is up with the reason, and is not asked', async () => {
    const setting = await onManualTime();
    const { mq, queue, broker } = setting;
    await mq.declare(topology().queue(queue));
    await blockedBy(setting, 'low on disk');
    // It would never answer: that a report comes all the same, with no time passing, shows that nobody asked.
    broker.freeze();
    const report = await mq.health();
    expect(`${report}`).toBe(`up: ${BLOCKED}: low on disk`);
    expect(report.healthy).toBe(true);
    expect(report.parts).toEqual({
      state: 'connected',
      consumers: 0,
      'in-flight': 0,
      blocked: true,
      'blocked-reason': 'low on disk',
    });
  });

  test('is degraded where a consumer does not read, with both reasons', async () => {
    const setting = await onMemory();
    const { mq, queue, broker } = setting;
    await mq.declare(topology().queue(queue));
    await mq.consume(queue, () => accept());
    await blockedBy(setting, 'low on memory');
    broker.cancelConsumers(queue);
    await vi.waitFor(async () => {
      const report = await mq.health();
      expect(`${report}`).toBe(
        `degraded: these consumers have stopped reading: ${queue}; and ${BLOCKED}: low on memory`,
      );
      expect(report.parts).toMatchObject({ blocked: true, stalled: [queue] });
    });
  });

  test('that is learned of while the question is open is up, and not a silence', async () => {
    const setting = await onManualTime();
    const { mq, queue, broker, clock } = setting;
    await mq.declare(topology().queue(queue));
    const publisher = mq.publisher({ routingKey: queue });
    await publisher.send('opens the channel');
    alarm(broker, 'low on memory');
    // Written before the question, on the same link: the broker stops reading between the two.
    publisher.send('into the alarm').catch(() => {});
    const asking = mq.health();
    expect(mq.blocked).toBe(false);
    await clock.advance(3_000);
    expect(`${await asking}`).toBe(`up: ${BLOCKED}: low on memory`);
  });

  test('is up with what is held: that is the alarm’s doing', async () => {
    const setting = await onManualTime();
    const { mq, queue, clock } = setting;
    await mq.declare(topology().queue(queue));
    const hold = deferred();
    await mq.consume(queue, async () => {
      await hold.promise;
      return reject('bad');
    });
    await mq.publisher({ routingKey: queue }).send({});
    await clock.advance(1);
    await blockedBy(setting, 'low on memory');
    hold.resolve();
    await clock.advance(1);
    const report = await mq.health();
    expect(`${report}`).toBe(
      `up: ${BLOCKED}: low on memory; and 1 message is held: its copy cannot be placed`,
    );
    expect(report.parts).toMatchObject({ held: { [queue]: 1 }, 'in-flight': 1 });
  });
});

describe('a broker that does not answer', () => {
  test('is down after three seconds, and not before, and no timer is left', async () => {
    const { mq, broker, clock } = await onManualTime();
    const timers = clock.timers;
    broker.freeze();
    let report: string | undefined;
    const asking = mq.health().then((one) => {
      report = `${one}`;
      return one;
    });
    await clock.advance(2_999);
    expect(report).toBeUndefined();
    await clock.advance(1);
    expect(report).toBe('down: the broker did not answer within 3s');
    expect((await asking).healthy).toBe(false);
    expect((await asking).parts).toEqual({
      state: 'connected',
      consumers: 0,
      'in-flight': 0,
      blocked: false,
    });
    expect(clock.timers).toBe(timers);
    broker.thaw();
    expect(`${await mq.health()}`).toBe('up');
    expect(clock.timers).toBe(timers);
  });

  test('has the deadline that the caller gives, also where another caller has asked already', async () => {
    const { mq, broker, clock } = await onManualTime();
    broker.freeze();
    const patient = mq.health({ timeout: '20s' });
    const hasty = mq.health({ timeout: 1_500 });
    await clock.advance(1_500);
    expect(`${await hasty}`).toBe('down: the broker did not answer within 1.5s');
    broker.thaw();
    expect(`${await patient}`).toBe('up');
  });

  test('is down where only one of the links is dead', async () => {
    const { mq } = await questioned((link, _queue, ask) =>
      link === 'acemq publish' ? new Promise(() => {}) : ask(),
    );
    expect(`${await mq.health({ timeout: 20 })}`).toBe('down: the broker did not answer within 0.02s');
  });

  test('is asked no second question on a link while the first one is open', async () => {
    let questions = 0;
    const { mq } = await questioned(() => {
      questions += 1;
      return new Promise(() => {});
    });
    for (let probe = 0; probe < 3; probe += 1) {
      expect((await mq.health({ timeout: 5 })).status).toBe('down');
    }
    expect(questions).toBe(2);
  });

  test('may lose the link after the deadline: nobody waits for that any more', async () => {
    const { mq, broker } = await onMemory({ reconnect: { initial: '1h', max: '1h' } });
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    broker.freeze();
    expect((await mq.health({ timeout: 5 })).status).toBe('down');
    broker.dropLinks();
    await vi.waitFor(() => expect(mq.state).toBe('retrying'));
    expect(unhandled).toEqual([]);
  });
});

describe('a question that goes wrong', () => {
  test('is down with the words of the refusal', async () => {
    const words = "ACCESS_REFUSED - access to queue 'acemq-health' refused for user 'guest'";
    const { mq } = await questioned(() => {
      throw new BrokerRefusedError(403, words);
    });
    const report = await mq.health();
    expect(`${report}`).toBe(`down: the broker did not answer: the broker refused: 403 ${words}`);
    expect(report.parts).toMatchObject({ error: `the broker refused: 403 ${words}` });
    expect(report.parts).not.toHaveProperty('round-trip');
  });

  test('is down at once, also where the other link says nothing', async () => {
    const { mq } = await questioned((link) => {
      if (link === 'acemq consume') throw new Error('odd');
      return new Promise(() => {});
    });
    expect(`${await mq.health({ timeout: '1h' })}`).toBe('down: the broker did not answer: odd');
  });

  test('since the link was lost under it is down with the reason', async () => {
    const { mq, broker } = await onMemory({ reconnect: { initial: '1h', max: '1h' } });
    broker.freeze();
    const asking = mq.health();
    broker.dropLinks({ reason: 'the cable was pulled' });
    expect(`${await asking}`).toBe('down: the broker did not answer: the cable was pulled');
  });

  test('in whatever way does not make health reject', async () => {
    const { mq } = await questioned(() => {
      throw undefined;
    });
    expect(`${await mq.health()}`).toBe('down: the broker did not answer: no reason given');
  });
});

describe('a connection that is lost', () => {
  test('is down with its state and the reason, and is up again when it is restored', async () => {
    const { mq, broker, clock } = await onManualTime({ reconnect: { initial: 1_000, max: 1_000 } });
    broker.refuseDials('unreachable');
    broker.dropLinks({ reason: 'the cable was pulled' });
    await clock.advance(0);
    const lost = await mq.health();
    expect(`${lost}`).toBe('down: the connection is retrying: the cable was pulled');
    expect(lost.parts).toEqual({ state: 'retrying', consumers: 0, 'in-flight': 0, blocked: null });
    await clock.advance(5_000);
    expect(`${await mq.health()}`).toBe(
      'down: the connection is retrying: memory:// cannot be reached: nobody is there',
    );
    broker.acceptDials();
    await clock.advance(2_000);
    expect(`${await mq.health()}`).toBe('up');
  });

  test('by half is down, and says which link it is', async () => {
    const { mq, broker, clock } = await onManualTime();
    broker.refuseDials('unreachable');
    broker.dropLinks({ name: (name) => name.endsWith('consume'), reason: 'the cable was pulled' });
    await clock.advance(0);
    expect(`${await mq.health()}`).toBe('down: the consume link is retrying: the cable was pulled');
  });
});

describe('a connection that was closed', () => {
  test('is down, and nobody knows whether it is blocked', async () => {
    const { mq } = await onMemory();
    await mq.close();
    const report = await mq.health();
    expect(`${report}`).toBe('down: the connection has been closed');
    expect(report.parts).toEqual({ state: 'closed', consumers: 0, 'in-flight': 0, blocked: null });
  });

  test('is down from the call on, while its handlers still run', async () => {
    const { mq, queue } = await onMemory();
    await mq.declare(topology().queue(queue));
    const running = deferred();
    const hold = deferred();
    await mq.consume(queue, async () => {
      running.resolve();
      await hold.promise;
      return accept();
    });
    await mq.publisher({ routingKey: queue }).send({});
    await running.promise;
    const closing = mq.close();
    const report = await mq.health();
    expect(report.detail).toBe('the connection has been closed');
    expect(report.parts['in-flight']).toBe(1);
    hold.resolve();
    await closing;
  });

  test('under a question that is open is down as closed', async () => {
    const { mq, broker } = await onMemory();
    broker.freeze();
    const asking = mq.health();
    await mq.close();
    expect(`${await asking}`).toBe('down: the connection has been closed');
  });
});

describe('a consumer that does not read', () => {
  test('makes it degraded, each queue once and in order, until it reads again', async () => {
    const { mq, broker, clock } = await onManualTime();
    const [a, b, read] = ['a', 'b', 'c'].map((name) => `${name}-${randomUUID()}`) as [string, string, string];
    await mq.declare(topology().queue(b).queue(a).queue(read));
    for (const queue of [b, a, a, read]) await mq.consume(queue, () => accept());
    for (const queue of [b, a]) broker.cancelConsumers(queue);
    await clock.advance(1);
    const report = await mq.health();
    expect(`${report}`).toBe(`degraded: these consumers have stopped reading: ${a}, ${b}`);
    expect(report.healthy).toBe(true);
    expect(report.parts).toMatchObject({ consumers: 4, stalled: [a, b], 'round-trip': expect.any(Number) });
    await clock.advance(31_000);
    expect(`${await mq.health()}`).toBe('up');
  });

  test('because its owner closed it is none', async () => {
    const { mq, queue } = await onMemory();
    await mq.declare(topology().queue(queue));
    const consumer = await mq.consume(queue, () => accept());
    await consumer.close();
    expect((await mq.health()).parts).toMatchObject({ consumers: 0 });
    expect(`${await mq.health()}`).toBe('up');
  });
});

describe('a message that is held', () => {
  test('makes it degraded while the broker takes publishes, and is counted by its queue', async () => {
    const { mq, queue, clock, broker } = await onManualTime({ confirmTimeout: 1_000 });
    await mq.declare(topology().queue(queue));
    const hold = deferred();
    await mq.consume(queue, async () => {
      await hold.promise;
      return reject('bad');
    });
    await mq.publisher({ routingKey: queue }).send({});
    await clock.advance(1);
    broker.freeze();
    hold.resolve();
    // No confirm in time; then the broker answers, before the copy is tried again.
    await clock.advance(1_001);
    broker.thaw();
    const report = await mq.health();
    expect(`${report}`).toBe('degraded: 1 message is held: its copy cannot be placed');
    expect(report.parts).toMatchObject({ held: { [queue]: 1 } });
    await clock.advance(31_000);
    expect(`${await mq.health()}`).toBe('up');
  });
});

describe('a declaration that the broker refused when the link was restored', () => {
  test('makes it degraded, by name and reason, until the broker takes it', async () => {
    const { mq, queue, clock, broker } = await onManualTime({ reconnect: { initial: 1_000, max: 1_000 } });
    await mq.declare(topology().queue(queue));
    const other = await onMemory({}, broker);
    await other.mq.deleteQueue(queue);
    await other.mq.declare(topology().queue(queue, { type: 'classic' }));
    broker.dropLinks({ name: (name) => name.startsWith('acemq') });
    await clock.advance(2_000);
    const report = await mq.health();
    expect(`${report}`).toBe(`degraded: the broker has refused these declarations: queue ${queue}`);
    expect(report.parts['refused']).toEqual({ [`queue ${queue}`]: expect.stringContaining('406') });
    await other.mq.deleteQueue(queue);
    await clock.advance(2_000);
    expect(`${await mq.health()}`).toBe('up');
  });
});

describe('a timeout', () => {
  test.for<[string, unknown, string]>([
    ['that is negative', { timeout: -1 }, 'timeout must be at least 1ms, not -1'],
    ['of nothing', { timeout: 0 }, 'timeout must be at least 1ms, not 0'],
    ['that is no duration', { timeout: 'soon' }, 'timeout must be a whole number of milliseconds'],
    ['of another name', { deadline: 1 }, 'health has no option "deadline"; there are timeout'],
  ])('%s is refused', async ([, options, words]) => {
    const { mq } = await onMemory();
    const asking = mq.health(options as object);
    await expect(asking).rejects.toBeInstanceOf(ConfigurationError);
    await expect(asking).rejects.toThrow(words);
  });
});

describe('the decision', () => {
  const facts: HealthFacts = {
    now: 0,
    closed: false,
    state: 'connected',
    links: [
      { role: 'publish', state: 'connected', reason: undefined },
      { role: 'consume', state: 'connected', reason: undefined },
    ],
    blocked: false,
    blockedReason: undefined,
    consumers: [],
    refused: [],
  };
  const consumer = { queue: 'q', stalled: undefined, inFlight: 0, held: 0 };

  test('names everything that is not as it should be, the sentences of the family first', () => {
    const report = decideHealth(
      {
        ...facts,
        blocked: true,
        consumers: [
          { ...consumer, held: 2, inFlight: 3 },
          { ...consumer, stalled: 'cancelled' },
          { ...consumer, held: 1 },
        ],
        refused: [{ what: 'queue r', reason: '406 no' }],
      },
      undefined,
    );
    expect(`${report}`).toBe(
      `degraded: these consumers have stopped reading: q; and ${BLOCKED}; and 3 messages are held: ` +
        'their copies cannot be placed; and the broker has refused these declarations: queue r',
    );
    expect(report.parts).toEqual({
      state: 'connected',
      consumers: 3,
      'in-flight': 3,
      blocked: true,
      stalled: ['q'],
      held: { q: 3 },
      refused: { 'queue r': '406 no' },
    });
  });

  test('is down for a link that is down although the other one is blocked', () => {
    const links = [facts.links[0], { role: 'consume', state: 'restoring', reason: 'cut' }];
    const report = decideHealth(
      { ...facts, blocked: true, links: links as HealthFacts['links'], state: 'restoring' },
      undefined,
    );
    expect(`${report}`).toBe(`down: the consume link is restoring: cut; and ${BLOCKED}`);
  });

  test('takes silence for the alarm’s, and an error for an error, while it is blocked', () => {
    const blocked = { ...facts, blocked: true };
    expect(decideHealth(blocked, { kind: 'silent', timeout: 3_000 }).status).toBe('up');
    expect(`${decideHealth(blocked, { kind: 'failed', message: 'cut' })}`).toBe(
      `down: the broker did not answer: cut; and ${BLOCKED}`,
    );
  });

  test('says both where the links are down for different reasons', () => {
    const links = [
      { role: 'publish', state: 'retrying', reason: 'cut' },
      { role: 'consume', state: 'restoring', reason: 'cut' },
    ] as const;
    expect(`${decideHealth({ ...facts, links, blocked: null, state: 'retrying' }, undefined)}`).toBe(
      'down: the publish link is retrying: cut; and the consume link is restoring: cut',
    );
  });
});
