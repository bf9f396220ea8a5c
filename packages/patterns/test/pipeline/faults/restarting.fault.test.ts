import { setTimeout as sleep } from 'node:timers/promises';
import { deadLetterQueueName } from '@acemq/core';
import { expect, test, vi } from 'vitest';
import { next, Pipeline, type Run, type StepAnswer } from '../../../src/pipeline/index.ts';
import { ownName } from '../setting.ts';
import { PATIENCE, serviceOn, useNode } from './on-node.ts';

const node = useNode();

const RUNS = 500;

test.each([
  ['classic', 'stopped'],
  ['quorum', 'stopped'],
  ['classic', 'killed'],
  ['quorum', 'killed'],
] as const)(
  '500 runs over %s queues all finish, though the broker is %s and started in the middle of them and no step is tried again',
  async (type, how) => {
    const { mq } = await serviceOn(node());
    const pipeline = new Pipeline(ownName(), ['one', 'two', 'three'], { type });
    await pipeline.declare(mq);
    // A quorum queue is on disk half a second after it was declared.
    await sleep(1_000);
    const ids = await Promise.all(Array.from({ length: RUNS }, (_, number) => pipeline.send(mq, number)));
    const finished: string[] = [];
    const work = async (_: unknown, run: Run): Promise<StepAnswer> => {
      await sleep(20);
      if (run.next === undefined) finished.push(run.id);
      return next();
    };
    await pipeline.run(mq, { one: work, two: work, three: work }, { concurrency: 4 });
    await vi.waitFor(() => expect(finished.length).toBeGreaterThan(RUNS / 5), PATIENCE);
    await node()[how === 'stopped' ? 'stop' : 'kill']();
    expect(new Set(finished).size).toBeLessThan(RUNS);
    await node().start();
    await vi.waitFor(() => expect(new Set(finished).size).toBe(RUNS), PATIENCE);
    expect(new Set(finished)).toEqual(new Set(ids));
    await vi.waitFor(async () => {
      for (const step of pipeline.steps) {
        expect(await mq.messageCount(pipeline.queue(step))).toBe(0);
        expect(await mq.messageCount(deadLetterQueueName(pipeline.queue(step)))).toBe(0);
      }
      expect(mq.consumers.every(({ inFlight }) => inFlight === 0)).toBe(true);
    }, PATIENCE);
    // Twice is what was out on the lost link: at most what the prefetch lets out at each of three steps. A broker that is
    // killed has also forgotten the acknowledgements that it had not written yet.
    if (how === 'stopped') expect(finished.length).toBeLessThanOrEqual(RUNS + 3 * 20);
  },
  120_000,
);
