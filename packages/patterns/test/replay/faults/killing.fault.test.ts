import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Connection, connect } from '@acemq/amqp';
import { topology } from '@acemq/core';
import { type BundledProgram, bundled } from '@acemq/fault-node/bundled-program';
import type { Moment } from '@acemq/fault-node/dying-transport';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { connectionsOf, PATIENCE, serviceOn, useNode } from '../../pipeline/faults/on-node.ts';
import { ownName } from '../../pipeline/setting.ts';

const node = useNode();
let program: BundledProgram;

beforeAll(async () => {
  program = await bundled(new URL('killed-replay.ts', import.meta.url));
});

afterAll(() => program?.remove());

function start(...args: string[]): ChildProcess {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  return spawn(process.execPath, [program.file, node().url, ...args], { stdio: [...stdio] });
}

/** A queue of dead letters `m-0 …`, over a connection of this process. */
async function deadLetters(count: number): Promise<{ mq: Connection; queue: string; dlq: string }> {
  const { mq } = await serviceOn(node());
  const queue = ownName();
  await mq.declare(topology().queue(queue, { type: 'classic', deadLetter: true }));
  const letters = mq.publisher<object>({ routingKey: `${queue}.dlq` });
  const ids = Array.from({ length: count }, (_, index) => `m-${index}`);
  for (let at = 0; at < count; at += 500) {
    await Promise.all(ids.slice(at, at + 500).map((id) => letters.send({}, { id, error: 'no', attempt: 3 })));
  }
  return { mq, queue, dlq: `${queue}.dlq` };
}

/** Waits until the broker has noticed that the process is gone, and taken back what it had. */
async function alone(): Promise<void> {
  await vi.waitFor(async () => expect(await connectionsOf(node())).toBe(2), PATIENCE);
}

/** How often each id is in a queue. Takes them out. */
async function countIds(queue: string, counts: Map<string, number>): Promise<void> {
  const reader = await connect(node().url, { name: 'reader' });
  for (let one = await reader.pull(queue); one !== undefined; one = await reader.pull(queue)) {
    counts.set(one.messageId ?? '', (counts.get(one.messageId ?? '') ?? 0) + 1);
    one.ack();
  }
  await reader.close();
}

test.each<[Moment, number]>([
  ['before the publish', 0],
  ['after the publish', 1],
  ['before the acknowledgement', 1],
  ['after the acknowledgement', 1],
  ['when all is done', 1],
])('a replay killed %s loses no message, and has one twice at most', async (moment, most) => {
  const { queue, dlq } = await deadLetters(5);
  const child = start(dlq, '1', moment);
  const deadline = setTimeout(() => child.kill('SIGTERM'), PATIENCE.timeout);
  const [code, signal] = await once(child, 'exit');
  clearTimeout(deadline);
  expect({ code, signal }).toEqual({ code: null, signal: 'SIGKILL' });
  await alone();
  const counts = new Map<string, number>();
  for (const one of [queue, dlq]) await countIds(one, counts);
  expect([...counts.keys()].sort()).toEqual(['m-0', 'm-1', 'm-2', 'm-3', 'm-4']);
  const twice = [...counts.values()].reduce((sum, times) => sum + times - 1, 0);
  expect(twice).toBeLessThanOrEqual(most);
});

test('a replay killed again and again at any moment moves every message in the end, and few twice', {
  timeout: 120_000,
}, async () => {
  const { mq, queue, dlq } = await deadLetters(3000);
  const window = 10;
  let kills = 0;
  // As long as there are messages; each process gets a little further.
  while ((await mq.messageCount(dlq)) > 0) {
    const child = start(dlq, `${window}`);
    const exited = once(child, 'exit');
    await Promise.race([once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data'), exited]);
    await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 60));
    if (child.exitCode === null && kills < 20) {
      child.kill('SIGKILL');
      kills += 1;
    }
    await exited;
    await alone();
  }
  const counts = new Map<string, number>();
  await countIds(queue, counts);
  expect(counts.size).toBe(3000);
  const twice = [...counts.values()].reduce((sum, times) => sum + times - 1, 0);
  expect(kills).toBeGreaterThanOrEqual(3);
  expect(twice).toBeLessThanOrEqual(kills * window);
});
