import { readFileSync } from 'node:fs';
import { type Connection, connect } from '@acemq/amqp';
import { topology } from '@acemq/core';
import { Metrics } from '@acemq/observe';
import { type ManualClock, manualClock, memoryBroker } from '@acemq/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { end, next, Pipeline, type StepAnswer } from '../src/pipeline/index.ts';
import { Requester, respond } from '../src/request/index.ts';
import { PATIENCE, SILENT } from './request/setting.ts';

type Numbers = Readonly<Record<string, number>>;
interface Moment {
  readonly of: string;
  readonly when: string;
  readonly counted: Numbers;
  readonly totals: Numbers;
}

const fixture = JSON.parse(
  readFileSync(new URL('../../../contract-fixtures/telemetry.json', import.meta.url), 'utf8'),
) as { readonly moments: readonly Moment[] };
const moments = fixture.moments.filter(({ of }) => of === 'request' || of === 'pipeline');

interface Stage {
  readonly mq: Connection;
  readonly clock: ManualClock;
}

const QUEUE = 'orders';

/** One ask, of a responder where there is one, and as long as it waits. */
async function ask(
  { mq, clock }: Stage,
  routingKey: string,
  responder?: () => number,
  wait = 0,
): Promise<void> {
  await mq.declare(topology().queue(QUEUE));
  if (responder !== undefined) await respond(mq, QUEUE, responder);
  const requester = await Requester.open(mq, { routingKey, timeout: '3s' });
  const asked = Promise.allSettled([requester.ask({})]);
  await clock.advance(wait);
  await asked;
}

const broken = (): never => {
  throw new Error('out of stock');
};

/** One run of two steps, whose first message was published 2.5 s ago, or by a clock that is ahead. */
async function run(
  { mq, clock }: Stage,
  steps: { readonly one: () => StepAnswer; readonly two: () => StepAnswer },
  firstSeen?: number,
): Promise<void> {
  const pipeline = new Pipeline('onboarding', ['one', 'two']);
  await pipeline.declare(mq);
  if (firstSeen === undefined) await pipeline.send(mq, {});
  else {
    const body = new TextEncoder().encode('{}');
    await mq.publishRaw(pipeline.name, 'two', { body, headers: { 'x-acemq-first-seen': BigInt(firstSeen) } });
  }
  await clock.advance(2_500);
  await pipeline.run(mq, steps);
}

/** How each moment of the contract comes about. */
const SCENES: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  'a reply comes': (stage) => ask(stage, QUEUE, () => 1),
  'a reply comes that says that the responder failed': (stage) => ask(stage, QUEUE, broken),
  'no reply comes within 3 s': (stage) => ask(stage, QUEUE, undefined, 3_000),
  'an ask reaches no queue': (stage) => ask(stage, 'nowhere'),
  'the last step of a run of 2.5 s hands its answer on': (stage) =>
    run(stage, { one: () => next(), two: () => next() }),
  'a step ends a run of 2.5 s with a step to go': (stage) =>
    run(stage, { one: () => end(), two: () => next() }),
  'a run that began later, by the clock of its last step, is through': (stage) =>
    run(stage, { one: broken, two: () => next() }, stage.clock.now() + 3_600_000),
  'a step fails for good': async (stage) => {
    await run(stage, { one: broken, two: () => next() });
    await expect.poll(() => stage.mq.messageCount('onboarding.one.dlq'), PATIENCE).toBe(1);
  },
};

describe('a number of a pattern moves when the contract says so, and no other of it does', () => {
  test.for(moments.map((moment) => [moment.when, moment] as const))('%s', async ([when, moment]) => {
    const scene = SCENES[when];
    if (scene === undefined) throw new Error(`nothing here makes it happen that ${when}`);
    const clock = manualClock();
    const metrics = new Metrics();
    const mq = await connect(memoryBroker({ clock }), { observer: metrics, logger: SILENT });
    onTestFinished(async () => {
      await mq.close({ timeout: 0 });
    });
    await scene({ mq, clock });
    const own = <Value>(all: ReadonlyMap<string, Value>): [string, Value][] =>
      [...all].filter(([key]) => key.startsWith(`acemq.${moment.of}.`));
    const counted = (): Numbers => {
      const samples = own(metrics.durations).map(([key, { count }]) => [key, count] as const);
      return Object.fromEntries([...own(metrics.counts), ...samples]);
    };
    await expect.poll(counted, PATIENCE).toEqual(moment.counted);
    for (const [key, total] of Object.entries(moment.totals)) {
      expect(metrics.durations.get(key)?.total, key).toBe(total);
    }
  });

  test('every scene is one of the contract', () => {
    expect(Object.keys(SCENES).sort()).toEqual(moments.map(({ when }) => when).sort());
  });
});
