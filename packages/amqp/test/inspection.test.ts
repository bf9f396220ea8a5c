import { BrokerRefusedError, type Link, type QueueSpec, TopologyError, topology } from '@acemq/core';
import { memoryBroker } from '@acemq/testing';
import { describe, expect, it } from 'vitest';
import { inspectPlan, readDifference, refusedDeclaration } from '../src/inspection.ts';
import { onMemory } from './setting.ts';

/** A transport whose links write down what is declared, bound and deleted. */
function watched(): { readonly broker: ReturnType<typeof memoryBroker>; readonly orders: string[] } {
  const broker = memoryBroker();
  const orders: string[] = [];
  const dial = broker.dial.bind(broker);
  broker.dial = async (request) => {
    const link = await dial(request);
    const watch = <K extends 'declareExchange' | 'declareQueue' | 'bind' | 'deleteQueue' | 'deleteExchange'>(
      name: K,
    ): void => {
      const work = link[name].bind(link) as (...args: unknown[]) => Promise<never>;
      link[name] = ((...args: unknown[]) => {
        orders.push(`${name} ${args.filter((arg) => typeof arg === 'string').join(' ')}`);
        return work(...args);
      }) as Link[K];
    };
    for (const name of [
      'declareExchange',
      'declareQueue',
      'bind',
      'deleteQueue',
      'deleteExchange',
    ] as const) {
      watch(name);
    }
    return link;
  };
  return { broker, orders };
}

describe('reading the words of a refusal', () => {
  const read = (text: string): unknown => {
    const { argument, wanted, found } = readDifference('queue', 'q', `PRECONDITION_FAILED - ${text}`);
    return { argument, wanted, found };
  };

  it('reads a flag, whose values stand bare', () => {
    expect(
      read("inequivalent arg 'durable' for queue 'q' in vhost '/': received 'false' but current is 'true'"),
    ).toEqual({ argument: 'durable', wanted: 'false', found: 'true' });
  });

  it('reads an argument that both have', () => {
    expect(
      read(
        "inequivalent arg 'x-message-ttl' for queue 'q' in vhost '/': received '6000' but current is '5000'",
      ),
    ).toEqual({ argument: 'x-message-ttl', wanted: '6000', found: '5000' });
  });

  it('reads an argument that only one of them has', () => {
    expect(
      read(
        "inequivalent arg 'x-message-ttl' for queue 'q' in vhost '/': received none but current is the value '5000' of type 'short'",
      ),
    ).toEqual({ argument: 'x-message-ttl', wanted: 'none', found: '5000' });
    expect(
      read(
        "inequivalent arg 'x-queue-type' for queue 'q' in vhost '/': received the value 'quorum' of type 'longstr' but current is none",
      ),
    ).toEqual({ argument: 'x-queue-type', wanted: 'quorum', found: 'none' });
  });

  it('reads both values with their types', () => {
    expect(
      read(
        "inequivalent arg 'x-max-length' for queue 'q' in vhost '/': received the value '3' of type 'byte' but current is the value '4' of type 'signedint'",
      ),
    ).toEqual({ argument: 'x-max-length', wanted: '3', found: '4' });
  });

  it('keeps the quotes that a value has in it', () => {
    expect(
      read(
        "inequivalent arg 'x-dead-letter-exchange' for queue 'q' in vhost '/': received 'it's not' but current is 'it's'",
      ),
    ).toEqual({ argument: 'x-dead-letter-exchange', wanted: "it's not", found: "it's" });
    expect(
      read(
        "inequivalent arg 'x-dead-letter-exchange' for queue 'q' in vhost '/': received none but current is the value 'it's' of type 'longstr'",
      ),
    ).toEqual({ argument: 'x-dead-letter-exchange', wanted: 'none', found: "it's" });
  });

  it('is not misled by a queue that is called like the sentence', () => {
    expect(
      read(
        "inequivalent arg 'durable' for queue 'received none but current is none' in vhost '/': received 'false' but current is 'true'",
      ),
    ).toEqual({ argument: 'durable', wanted: 'false', found: 'true' });
  });

  it('gives the whole text where the words are not known, or were cut at 255 bytes', () => {
    const cut = "inequivalent arg 'x-message-ttl' for queue 'q' in vhost '/': received '6000' but curr...";
    for (const text of ['invalid property x', cut]) {
      expect(read(text)).toEqual({
        argument: 'declaration',
        wanted: 'as planned',
        found: `PRECONDITION_FAILED - ${text}`,
      });
    }
  });

  it('passes on a refusal that speaks of something else', () => {
    const error = new BrokerRefusedError(403, 'ACCESS_REFUSED - no');
    expect(refusedDeclaration('queue', 'q', error)).toBe(error);
  });

  it('makes a topology error of one that speaks of a difference', () => {
    const refusal = new BrokerRefusedError(
      406,
      "PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'q' in vhost '/': received 'false' but current is 'true'",
    );
    const error = refusedDeclaration('queue', 'q', refusal);
    expect(error).toBeInstanceOf(TopologyError);
    expect(error.code).toBe('ACEMQ_TOPOLOGY_DRIFT');
    expect(error.message).toBe('queue q exists with durable true, and false is wanted; nothing was changed');
    expect(error.cause).toBe(refusal);
  });
});

describe('a plan held against the broker', () => {
  it('says create for everything on an empty broker, and unknown for the bindings', async () => {
    const { mq, broker, queue } = await onMemory();
    const report = await mq.plan(
      topology().exchange('events', 'topic').queue(queue).bind(queue, 'events', 'a.*'),
    );
    expect(report.items.map(({ kind, name, state }) => [kind, name, state])).toEqual([
      ['exchange', 'events', 'create'],
      ['queue', queue, 'create'],
      ['binding', `${queue} <- events ("a.*")`, 'unknown'],
    ]);
    expect(report.items[2]?.reason).toContain('no question for a binding');
    expect(report.drift).toBe(false);
    expect(broker.queues).toEqual([]);
    expect(broker.exchanges.map(({ name }) => name)).not.toContain('events');
  });

  it('says present for what is there as planned, and leaves its messages alone', async () => {
    const { mq, broker, queue } = await onMemory();
    const plan = topology().exchange('events', 'topic').queue(queue);
    await mq.declare(plan);
    await mq.publisher({ routingKey: queue }).send('kept');
    const report = await mq.plan(plan);
    expect(report.items.map((item) => item.state)).toEqual(['present', 'present']);
    expect(broker.depth(queue)).toBe(1);
  });

  it('says what differs, in the name of the argument and both values', async () => {
    const { mq, queue } = await onMemory();
    await mq.declare(topology().exchange('events', 'topic').queue(queue, { type: 'classic' }));
    const report = await mq.plan(
      topology()
        .exchange('events', 'fanout')
        .queue(queue, { type: 'classic', arguments: { 'x-message-ttl': 5_000 } }),
    );
    expect(report.drift).toBe(true);
    expect(report.items.map((item) => item.differences)).toEqual([
      [{ kind: 'exchange', name: 'events', argument: 'type', wanted: 'fanout', found: 'topic' }],
      [{ kind: 'queue', name: queue, argument: 'x-message-ttl', wanted: '5000', found: 'none' }],
    ]);
    expect(String(report)).toContain(`differs queue ${queue}: queue ${queue} exists with x-message-ttl none`);
  });

  it('says unknown, and why, for what the login may not ask', async () => {
    const { broker } = await onMemory();
    const link = await broker.dial({
      name: 'asks',
      endpoint: 0,
      timeout: 1_000,
      heartbeat: 0,
      events: { lost() {}, blocked() {}, unblocked() {} },
    });
    link.checkQueue = () => Promise.reject(new BrokerRefusedError(403, 'ACCESS_REFUSED - may not ask'));
    const asked = await inspectPlan(topology().queue('secret').plan(), link);
    expect(asked.items[0]).toMatchObject({ state: 'unknown', reason: '403 ACCESS_REFUSED - may not ask' });
    expect(asked.drift).toBe(false);
  });

  it('says create for a queue that went between the question and the offer', async () => {
    const { broker } = await onMemory();
    const link = await broker.dial({
      name: 'asks',
      endpoint: 0,
      timeout: 1_000,
      heartbeat: 0,
      events: { lost() {}, blocked() {}, unblocked() {} },
    });
    link.checkQueue = () => Promise.resolve({ messages: 0, consumers: 0 });
    link.declareQueue = () => Promise.reject(new BrokerRefusedError(404, 'NOT_FOUND - gone'));
    expect((await inspectPlan(topology().queue('gone').plan(), link)).items[0]?.state).toBe('create');
  });

  it('rejects when the link goes away while it asks', async () => {
    const { mq, broker, queue } = await onMemory({ reconnect: { initial: '1h', max: '1h' } });
    const asked = mq.plan(topology().queue(queue));
    broker.dropLinks();
    await expect(asked).rejects.toMatchObject({ code: 'ACEMQ_CONNECTION_LOST' });
  });

  it('is frozen, and prints one line an item', async () => {
    const { mq, queue } = await onMemory();
    const report = await mq.plan(topology().queue(queue));
    expect(Object.isFrozen(report)).toBe(true);
    expect(Object.isFrozen(report.items)).toBe(true);
    expect(Object.isFrozen(report.items[0])).toBe(true);
    expect(String(report)).toBe(`create  queue ${queue}`);
  });
});

describe('declaring', () => {
  it('declares nothing at all when one thing differs, and says which', async () => {
    const { broker, orders } = watched();
    const { mq, queue } = await onMemory({}, broker);
    await mq.declare(topology().queue(`${queue}-old`, { type: 'classic' }));
    orders.length = 0;
    const declared = mq.declare(
      topology().exchange('new-exchange', 'topic').queue(`${queue}-new`).queue(`${queue}-old`),
    );
    await expect(declared).rejects.toMatchObject({
      code: 'ACEMQ_TOPOLOGY_DRIFT',
      differences: [
        {
          kind: 'queue',
          name: `${queue}-old`,
          argument: 'x-queue-type',
          wanted: 'quorum',
          found: expect.any(String),
        },
      ],
    });
    // Only what exists is offered to the broker; nothing else was said to it.
    expect(orders).toEqual([`declareQueue ${queue}-old`]);
    expect(broker.queues.map(({ name }) => name)).toEqual([`${queue}-old`]);
  });

  it('deletes nothing, whatever differs', async () => {
    const { broker, orders } = watched();
    const { mq, queue } = await onMemory({}, broker);
    await mq.declare(topology().queue(queue));
    await mq.publisher({ routingKey: queue }).send('kept');
    await expect(mq.declare(topology().queue(queue, { type: 'classic' }))).rejects.toThrow(TopologyError);
    await mq.plan(topology().queue(queue, { durable: false }));
    expect(orders.filter((order) => order.startsWith('delete'))).toEqual([]);
    expect(broker.depth(queue)).toBe(1);
  });

  it('resolves to how the plan stood before', async () => {
    const { mq, queue } = await onMemory();
    expect((await mq.declare(topology().queue(queue))).items[0]?.state).toBe('create');
    expect((await mq.declare(topology().queue(queue))).items[0]?.state).toBe('present');
  });

  it('explains a difference that came up only while declaring', async () => {
    const { broker } = watched();
    const dial = broker.dial.bind(broker);
    broker.dial = async (request) => {
      const link = await dial(request);
      const declare = link.declareQueue.bind(link);
      link.declareQueue = async (name: string, spec: QueueSpec) => {
        // Somebody else is faster.
        await declare(name, { ...spec, durable: false, arguments: {} });
        return declare(name, spec);
      };
      return link;
    };
    const { mq, queue } = await onMemory({}, broker);
    await expect(mq.declare(topology().queue(queue, { type: 'classic' }))).rejects.toMatchObject({
      code: 'ACEMQ_TOPOLOGY_DRIFT',
      differences: [{ name: queue, argument: 'durable', wanted: 'true', found: 'false' }],
      cause: { replyCode: 406 },
    });
  });

  it('names a difference in what a consumer needs, as a topology error', async () => {
    const { mq, broker, queue } = await onMemory();
    await mq.declare(topology().queue(queue).queue(`${queue}.dlq`));
    await expect(mq.consume(queue, async () => undefined as never)).rejects.toMatchObject({
      code: 'ACEMQ_TOPOLOGY_DRIFT',
      differences: [{ kind: 'queue', name: `${queue}.dlq`, argument: 'x-queue-type' }],
    });
    expect(mq.consumers).toEqual([]);
    expect(broker.queues.find(({ name }) => name === queue)?.consumers).toBe(0);
  });

  it('refuses a topology that contradicts itself before it asks anything', async () => {
    const { broker, orders } = watched();
    const { mq, queue } = await onMemory({}, broker);
    await expect(mq.declare(topology().bind(queue, 'nowhere'))).rejects.toMatchObject({
      code: 'ACEMQ_TOPOLOGY',
    });
    expect(orders).toEqual([]);
  });
});
