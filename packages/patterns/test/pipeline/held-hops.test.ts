import { describe, expect, test } from 'vitest';
import { next, Pipeline } from '../../src/pipeline/index.ts';
import { onManualTime, onMemory, ownName, pulled, type Setting, until } from './setting.ts';

interface Held {
  readonly pipeline: Pipeline<'one' | 'two'>;
  /** How often the first step began its work. */
  readonly runs: () => number;
  /** Lets its work come to an end. */
  readonly finish: () => void;
}

/** A pipeline without retries. A message is at its first step, and its second queue is not read. */
async function atFirstStep({ mq }: Setting): Promise<Held> {
  const pipeline = new Pipeline(ownName(), ['one', 'two']);
  await pipeline.declare(mq);
  let runs = 0;
  let finish: () => void = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  await pipeline.follow(mq, 'one', async () => {
    runs += 1;
    await finished;
    return next();
  });
  await pipeline.send(mq, {});
  await until(() => expect(runs).toBe(1));
  return { pipeline, runs: () => runs, finish };
}

/** The ids of what has come to the second step. */
async function arrived({ mq }: Setting, { pipeline }: Held): Promise<string[]> {
  await until(async () => expect(await mq.messageCount(pipeline.queue('two'))).toBeGreaterThan(0));
  return (await pulled(mq, pipeline.queue('two'))).map(({ messageId }) => messageId ?? '');
}

async function deadLetters({ mq }: Setting, { pipeline }: Held): Promise<number> {
  return mq.messageCount(`${pipeline.queue('one')}.dlq`);
}

const publishing = { name: (name: string): boolean => name.endsWith(' publish') };
const consuming = { name: (name: string): boolean => name.endsWith(' consume') };
const FAST = { reconnect: { initial: 1, max: 5 } } as const;

describe('an outage spends no attempt, and the work of the step is not done again:', () => {
  test('the broker blocks publishing for a while', async () => {
    const setting = await onManualTime();
    const held = await atFirstStep(setting);
    const { broker, mq, clock, metrics } = setting;
    broker.block();
    const told = mq.publisher({ routingKey: 'nobody', allowUnroutable: true }).send({});
    await until(() => expect(mq.blocked).toBe(true));
    held.finish();
    const refused = `acemq.publish.total{exchange="${held.pipeline.name}",outcome="refused",routing.key="two"}`;
    await until(() => expect(metrics.counts.get(refused)).toBe(1));
    broker.unblock();
    await told;
    await clock.advance(1_000);
    expect(await arrived(setting, held)).toHaveLength(1);
    expect([held.runs(), await deadLetters(setting, held)]).toEqual([1, 0]);
  });

  test('the link that publishes is down for longer than a send waits for it', async () => {
    const setting = await onMemory({ ...FAST, confirmTimeout: 20 });
    const held = await atFirstStep(setting);
    setting.broker.refuseDials('unreachable');
    setting.broker.dropLinks(publishing);
    held.finish();
    const failed = `acemq.publish.total{exchange="${held.pipeline.name}",outcome="failed",routing.key="two"}`;
    await until(() => expect(setting.metrics.counts.get(failed)).toBe(1));
    setting.broker.acceptDials();
    expect(await arrived(setting, held)).toHaveLength(1);
    expect([held.runs(), await deadLetters(setting, held)]).toEqual([1, 0]);
  });

  test('the link that publishes is lost before the confirm: what may come twice has one id', async () => {
    const setting = await onMemory(FAST);
    const held = await atFirstStep(setting);
    let cut = false;
    setting.mq.interceptPublish(async ({ routingKey }, send) => {
      const sent = send();
      if (routingKey === 'two' && !cut) {
        cut = true;
        setting.broker.dropLinks(publishing);
      }
      await sent;
    });
    held.finish();
    const { mq, pipeline } = { ...setting, ...held };
    await until(async () => {
      expect(setting.broker.queues.find(({ name }) => name === pipeline.queue('one'))?.unsettled).toBe(0);
    });
    expect(await mq.messageCount(pipeline.queue('one'))).toBe(0);
    expect(new Set(await arrived(setting, held)).size).toBe(1);
    expect([held.runs(), await deadLetters(setting, held)]).toEqual([1, 0]);
  });
});

/** Loses the link that consumes, and resolves when its messages are out again. */
async function loseDeliveries({ broker, mq }: Setting): Promise<void> {
  const lost = new Promise<void>((resolve) => {
    mq.onState((event) => {
      if (event.type === 'recovered') resolve();
    });
  });
  broker.dropLinks(consuming);
  await lost;
}

test('a delivery that went with its link sends nothing on: the one that comes in its place does', async () => {
  const setting = await onMemory(FAST);
  const held = await atFirstStep(setting);
  await loseDeliveries(setting);
  held.finish();
  await until(() => expect(held.runs()).toBe(2));
  expect(await arrived(setting, held)).toHaveLength(1);
  expect(await deadLetters(setting, held)).toBe(0);
});

test('a run that ends is counted once, although its delivery went with its link and came again', async () => {
  const setting = await onMemory(FAST);
  const { mq, broker, metrics } = setting;
  const pipeline = new Pipeline(ownName(), ['one']);
  await pipeline.declare(mq);
  let runs = 0;
  await pipeline.follow(mq, 'one', async () => {
    runs += 1;
    if (runs === 1) await loseDeliveries(setting);
    return next();
  });
  await pipeline.send(mq, {});
  await until(() => {
    expect(runs).toBe(2);
    expect(broker.queues.every(({ messages, unsettled }) => messages + unsettled === 0)).toBe(true);
  });
  expect([...metrics.counts].filter(([key]) => key.startsWith('acemq.pipeline'))).toEqual([
    [expect.any(String), 1],
  ]);
});

test('a close does not wait for an outage past its deadline, and the message stays in its queue', async () => {
  const setting = await onManualTime();
  const held = await atFirstStep(setting);
  const { broker, mq, clock, metrics } = setting;
  broker.block();
  const told = mq.publisher({ routingKey: 'nobody', allowUnroutable: true }).send({});
  await until(() => expect(mq.blocked).toBe(true));
  held.finish();
  const refused = `acemq.publish.total{exchange="${held.pipeline.name}",outcome="refused",routing.key="two"}`;
  await until(() => expect(metrics.counts.get(refused)).toBe(1));
  const closed = mq.consumers[0]?.close({ timeout: 10 });
  await clock.advance(10);
  expect(await closed).toEqual({ finished: false, unsettled: 1 });
  broker.unblock();
  await told;
  await clock.advance(60_000);
  expect(await mq.messageCount(held.pipeline.queue('two'))).toBe(0);
  expect(await mq.messageCount(held.pipeline.queue('one'))).toBe(1);
});

test('a broker that will not have the message is a verdict: the policy of the step decides', async () => {
  const setting = await onMemory();
  const held = await atFirstStep(setting);
  setting.broker.nackNext(1, held.pipeline.queue('two'));
  held.finish();
  await until(async () => expect(await deadLetters(setting, held)).toBe(1));
  const [dead] = await pulled(setting.mq, `${held.pipeline.queue('one')}.dlq`);
  expect(dead?.headers['x-acemq-error']).toContain('the run cannot go on to its next stop "two"');
  expect(dead?.headers['x-acemq-error']).toContain('the broker refused to take message');
});
