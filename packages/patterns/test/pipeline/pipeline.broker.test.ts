import { type Connection, connect } from '@acemq/amqp';
import { fixed, type Message, park, topology } from '@acemq/core';
import { Metrics } from '@acemq/observe';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  end,
  followSlip,
  LONGEST_SLIP,
  next,
  Pipeline,
  type Run,
  type StepAnswer,
  type Stop,
  startSlip,
  writeSlip,
} from '../../src/pipeline/index.ts';
import { ownName, pulled, until } from './setting.ts';

let mq: Connection;
let metrics: Metrics;
const made: { readonly queues: string[]; readonly exchanges: string[] } = { queues: [], exchanges: [] };

beforeEach(async () => {
  metrics = new Metrics();
  mq = await connect(process.env['AMQP_URL'] ?? '', { name: 'pipeline tests', observer: metrics });
});

afterEach(async () => {
  await Promise.all(mq.consumers.map((consumer) => consumer.close()));
  for (const queue of made.queues.splice(0)) await mq.deleteQueue(queue);
  for (const exchange of made.exchanges.splice(0)) await mq.deleteExchange(exchange);
  await mq.close();
});

/** Declares it, and takes it away when the test has ended. */
async function declared<P extends Pipeline<string>>(pipeline: P): Promise<P> {
  await pipeline.declare(mq);
  made.queues.push(
    ...pipeline
      .topology()
      .plan()
      .queues.map(({ name }) => name),
  );
  made.exchanges.push(pipeline.name);
  return pipeline;
}

function counted(step: string, outcome: string, { name }: { readonly name: string }): number {
  return (
    metrics.counts.get(`acemq.pipeline.run.total{outcome="${outcome}",pipeline="${name}",step="${step}"}`) ??
    0
  );
}

test('300 runs on RabbitMQ end, are completed or are dead letters, and every one is accounted for', async () => {
  const retry = fixed(2, '300ms').waitInBrokerFrom('300ms');
  const pipeline = await declared(new Pipeline(ownName(), ['validate', 'enrich', 'store'], { retry }));
  const stored = new Set<string>();
  await pipeline.run<Record<'validate' | 'enrich' | 'store', number>>(
    mq,
    {
      validate: ({ payload }) => (payload % 10 === 0 ? end() : payload % 10 === 1 ? park('odd') : next()),
      enrich: ({ payload, envelope }) => {
        if (payload % 10 === 2) throw new Error('no such country');
        if (payload % 10 === 3 && envelope.attempt === 1) throw new Error('try again');
        return next({ payload });
      },
      store: (_, { id }) => {
        stored.add(id);
        return next();
      },
    },
    { concurrency: 10 },
  );
  const ids = await Promise.all(Array.from({ length: 300 }, (_, number) => pipeline.send(mq, number)));
  await until(() => expect(counted('store', 'completed', pipeline)).toBe(210));
  await until(async () => expect(await mq.messageCount(`${pipeline.queue('enrich')}.dlq`)).toBe(30));
  expect(counted('validate', 'ended_early', pipeline)).toBe(30);
  expect(await mq.messageCount(`${pipeline.queue('validate')}.parked`)).toBe(30);
  expect(stored.size).toBe(210);
  const dead = await pulled(mq, `${pipeline.queue('enrich')}.dlq`);
  const asides = [...dead, ...(await pulled(mq, `${pipeline.queue('validate')}.parked`))];
  const left = asides.map(({ headers }) => String(headers['x-acemq-route-id']));
  expect(new Set([...stored, ...left]).size).toBe(270);
  expect([...stored, ...left].every((id) => ids.includes(id))).toBe(true);
  expect(new Set(dead.map(({ headers }) => headers['x-acemq-error']))).toEqual(
    new Set(['exhausted 2 attempts: Error: no such country']),
  );
});

test('what the broker wrote on a message in a rung does not go on to the next step', async () => {
  const retry = fixed(2, '50ms').waitInBrokerFrom('50ms');
  const pipeline = await declared(new Pipeline(ownName(), ['one', 'two'], { retry }));
  const seen: Message[] = [];
  const answer = (message: Message): StepAnswer => {
    seen.push(message);
    if (message.envelope.attempt === 1 && message.envelope.routePosition === 0) throw new Error('not yet');
    return next();
  };
  await pipeline.run(mq, { one: answer, two: answer });
  await pipeline.send(
    mq,
    { a: 1 },
    { headers: { tenant: 'acme', when: new Date(1_700_000_000_000), bytes: Buffer.from('b') } },
  );
  await until(() => expect(seen).toHaveLength(3));
  const [, retried, second] = seen.map(({ envelope }) => envelope);
  expect(retried?.headers).toHaveProperty('x-death');
  expect(Object.keys(second?.headers ?? {}).sort()).toEqual(['bytes', 'tenant', 'when']);
  expect(second?.headers).toMatchObject({ tenant: 'acme', bytes: Buffer.from('b') });
  expect(second).toMatchObject({
    attempt: 1,
    causationId: retried?.id,
    correlationId: retried?.correlationId,
  });
});

test('a slip that another library wrote is read from bytes and from text, and goes on letter by letter', async () => {
  const name = ownName('slip');
  const [first, second] = [`${name}-1`, `${name}-2`];
  made.queues.push(...[first, second].flatMap((queue) => [queue, `${queue}.dlq`, `${queue}.parked`]));
  await mq.declare(topology().queue(first).queue(second));
  await followSlip(mq, first, () => next());
  const slip = `{"run" : 12345678901234567890,"steps":[{"routingKey":"${first}","exchange":"","x":1.0},{ "exchange" : "","routingKey":"${second}","hops":[1e2] }],"done":null}`;
  for (const value of [slip, Buffer.from(slip)]) {
    await mq.publishRaw('', first, {
      body: Buffer.from('x'),
      contentType: 'text/plain',
      headers: { 'acemq-routing-slip': value },
    });
  }
  await until(async () => expect(await mq.messageCount(second)).toBe(2));
  for (const found of await pulled(mq, second)) {
    expect(found.headers['acemq-routing-slip']).toMatch(
      new RegExp(
        `^\\{"run":12345678901234567890,"steps":\\[\\{ "exchange" : "","routingKey":"${second}","hops":\\[1e2\\] \\}\\],` +
          `"done":\\[\\{"routingKey":"${first}","exchange":"","x":1\\.0,"completedAt":"[^"]+Z"\\}\\]\\}$`,
      ),
    );
    expect(Buffer.from(found.body).toString()).toBe('x');
    expect(found.contentType).toBe('text/plain');
  }
});

test('a slip of the longest size goes through, and its message is set aside with it', async () => {
  const name = ownName('long');
  made.queues.push(name, `${name}.dlq`, `${name}.parked`);
  await mq.declare(topology().queue(name));
  const stops: Stop[] = [];
  const another = { exchange: '', routingKey: name, name: 'n'.repeat(200) };
  for (;;) {
    try {
      writeSlip([...stops, another]);
    } catch {
      break;
    }
    stops.push(another);
  }
  const runs: Run[] = [];
  await followSlip(mq, name, (_, run) => {
    runs.push(run);
    return run.next === undefined ? park('é'.repeat(2_000)) : next();
  });
  await startSlip(mq, stops, {});
  await until(async () => expect(await mq.messageCount(`${name}.parked`)).toBe(1));
  const [parked] = await pulled(mq, `${name}.parked`);
  const slip = String(parked?.headers['acemq-routing-slip']);
  expect(runs).toHaveLength(stops.length);
  expect(stops.length).toBeGreaterThan(100);
  expect(Buffer.byteLength(slip)).toBeGreaterThan(0.9 * LONGEST_SLIP);
  expect(JSON.parse(slip)).toMatchObject({ steps: [another] });
});

test('a next step that no queue receives is tried by the policy, and then named in the reason', async () => {
  const pipeline = await declared(new Pipeline(ownName(), ['one', 'two'], { retry: fixed(2, 0) }));
  await mq.deleteQueue(pipeline.queue('two'));
  await pipeline.follow(mq, 'one', () => next());
  await pipeline.send(mq, {});
  const aside = `${pipeline.queue('one')}.dlq`;
  await until(async () => expect(await mq.messageCount(aside)).toBe(1));
  const [dead] = await pulled(mq, aside);
  expect(dead?.headers['x-acemq-error']).toBe(
    `exhausted 2 attempts: PublishError: the run cannot go on to its next stop "two" (exchange "${pipeline.name}", key "two"): ` +
      'it reached no queue (312 NO_ROUTE)',
  );
});
