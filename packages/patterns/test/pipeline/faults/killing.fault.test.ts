import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accept, type Envelope } from '@acemq/core';
import { type BundledProgram, bundled } from '@acemq/fault-node/bundled-program';
import type { Moment } from '@acemq/fault-node/dying-transport';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { next, Pipeline } from '../../../src/pipeline/index.ts';
import { ownName } from '../setting.ts';
import { connectionsOf, PATIENCE, serviceOn, useNode } from './on-node.ts';

const node = useNode();

let program: BundledProgram;

beforeAll(async () => {
  program = await bundled(new URL('killed-step.ts', import.meta.url));
});

afterAll(() => program?.remove());

/** Runs the first step in a process of its own until that has killed itself. */
async function killed(pipeline: string, moment: Moment): Promise<void> {
  const args = [program.file, node().url, pipeline, moment];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const deadline = setTimeout(() => child.kill('SIGTERM'), PATIENCE.timeout);
  const [code, signal] = await once(child, 'exit');
  clearTimeout(deadline);
  expect({ code, signal }).toEqual({ code: null, signal: 'SIGKILL' });
}

// Twice where the process died after the broker had the next message, and before it had the acknowledgement of this one.
test.each<[Moment, number[]]>([
  ['before the publish', [1]],
  ['after the publish', [1, 2]],
  ['before the acknowledgement', [2]],
  ['after the acknowledgement', [1, 2]],
  ['when all is done', [1]],
])(
  'a step killed %s loses no run, and the next step sees it %j times: under other ids, by the same cause',
  async (moment, times) => {
    const { mq } = await serviceOn(node());
    const pipeline = new Pipeline(ownName(), ['one', 'two'], { type: 'classic' });
    await pipeline.declare(mq);
    const run = await pipeline.send(mq, {}, { id: 'm-1' });
    await killed(pipeline.name, moment);
    // Its sockets have gone, and what it had out has gone back.
    await vi.waitFor(async () => expect(await connectionsOf(node())).toBe(2), PATIENCE);
    await pipeline.follow(mq, 'one', () => next());
    const seen: Envelope[] = [];
    await mq.consume(pipeline.queue('two'), ({ envelope }) => {
      seen.push(envelope);
      return accept();
    });
    await vi.waitFor(async () => {
      expect(seen.length).toBeGreaterThan(0);
      for (const step of pipeline.steps) expect(await mq.messageCount(pipeline.queue(step))).toBe(0);
      expect(mq.consumers.map(({ inFlight }) => inFlight)).toEqual([0, 0]);
    }, PATIENCE);
    expect(times).toContain(seen.length);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
    expect(seen.map(({ causationId }) => causationId)).toEqual(seen.map(() => 'm-1'));
    expect(seen.map(({ routeId }) => routeId)).toEqual(seen.map(() => run));
  },
);
