import { setTimeout as sleep } from 'node:timers/promises';
import { deadLetterQueueName } from '@acemq/core';
import { expect, test, vi } from 'vitest';
import { next, Pipeline, type Run, type StepAnswer } from '../../../src/pipeline/index.ts';
import { ownName } from '../setting.ts';
import { PATIENCE, serviceOn, useNode } from './on-node.ts';

const node = useNode();

const RUNS = 300;

test('runs wait while the broker has an alarm: each step works each of them once, without a retry policy', async () => {
  const { mq } = await serviceOn(node());
  const pipeline = new Pipeline(ownName(), ['one', 'two', 'three']);
  await pipeline.declare(mq);
  const ids = await Promise.all(Array.from({ length: RUNS }, (_, number) => pipeline.send(mq, number)));
  const worked: string[] = [];
  // The alarm takes its time, in which the work would be done.
  let raised = (): void => {};
  const alarm = new Promise<void>((resolve) => {
    raised = resolve;
  });
  const work = async (_: unknown, run: Run): Promise<StepAnswer> => {
    await (worked.length > RUNS / 2 ? alarm : sleep(5));
    worked.push(`${run.step} ${run.id}`);
    return next();
  };
  await pipeline.run(mq, { one: work, two: work, three: work }, { concurrency: 4 });
  await vi.waitFor(() => expect(worked.length).toBeGreaterThan(RUNS / 2), PATIENCE);
  await node().alarm('memory');
  raised();
  await vi.waitFor(() => expect(mq.blocked).toBe(true), PATIENCE);
  // Longer than a hop waits before it is tried again, and shorter than one waits for its confirm.
  await sleep(2_000);
  expect(worked.length).toBeLessThan(3 * RUNS);
  await node().clearAlarms();
  await vi.waitFor(() => expect(worked).toHaveLength(3 * RUNS), PATIENCE);
  const expected = ids.flatMap((id) => pipeline.steps.map((step) => `${step} ${id}`));
  expect([...worked].sort()).toEqual(expected.sort());
  for (const step of pipeline.steps)
    expect(await mq.messageCount(deadLetterQueueName(pipeline.queue(step)))).toBe(0);
});
