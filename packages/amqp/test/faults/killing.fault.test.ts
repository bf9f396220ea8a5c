import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accept, fixed, topology } from '@acemq/core';
import { type BundledProgram, bundled } from '@acemq/fault-node/bundled-program';
import type { Moment } from '@acemq/fault-node/dying-transport';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Answer } from './killed-worker.ts';
import { depthOf, openOn, PATIENCE, queueName, serviceOn, useNode } from './on-node.ts';

const node = useNode();

let program: BundledProgram;

beforeAll(async () => {
  program = await bundled(new URL('killed-worker.ts', import.meta.url));
});

afterAll(() => program?.remove());

/** Runs a consumer in a process of its own until that has killed itself. */
async function killed(queue: string, answer: Answer, step: Moment): Promise<void> {
  const args = [program.file, node().url, queue, answer, step];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const deadline = setTimeout(() => child.kill('SIGTERM'), PATIENCE.timeout);
  const [code, signal] = await once(child, 'exit');
  clearTimeout(deadline);
  expect({ code, signal }).toEqual({ code: null, signal: 'SIGKILL' });
}

const RETRIES: readonly Answer[] = ['retry here', 'retry in the broker'];
const SET_ASIDES: readonly Answer[] = ['reject', 'park'];

/** What is left of one message: deliveries of the original, and copies of it. */
interface Left {
  readonly original: readonly number[];
  readonly copies: readonly number[];
}

/** A duplicate may be there where the process died between two words to the broker and nobody knows what it had heard. */
const EXPECTED: Readonly<Record<Moment, Left>> = {
  'before the publish': { original: [1], copies: [0] },
  'after the publish': { original: [1], copies: [0, 1] },
  'before the acknowledgement': { original: [1], copies: [1] },
  'after the acknowledgement': { original: [0, 1], copies: [1] },
  'when all is done': { original: [0], copies: [1] },
};

const CASES = [...RETRIES, ...SET_ASIDES].flatMap((answer) =>
  (Object.keys(EXPECTED) as Moment[]).map((step) => [step, answer] as const),
);

test.each(CASES)(
  'a consumer killed %s, whose answer is "%s", loses nothing and doubles only what nobody can know',
  async (step, answer) => {
    const { mq } = await serviceOn(node().url);
    const queue = queueName();
    const inBroker = fixed(3, '500ms').waitInBrokerFrom('500ms');
    await mq.declare(topology().queue(queue, { type: 'classic', retry: inBroker }));
    const { id } = await mq.publisher({ routingKey: queue }).send('x');
    await killed(queue, answer, step);
    // Its sockets have gone, and what it had out has gone back.
    await vi.waitFor(async () => expect((await openOn(node())).connections).toBe(2), PATIENCE);
    const seen: { readonly id: string; readonly attempt: number; readonly redelivered: boolean }[] = [];
    await mq.consume(queue, ({ envelope, redelivered }) => {
      seen.push({ id: envelope.id, attempt: envelope.attempt, redelivered });
      return accept();
    });
    const rung = `${queue}.retry.500ms`;
    await vi.waitFor(async () => {
      for (const name of [queue, rung])
        expect(await depthOf(node(), name)).toEqual({ ready: 0, unsettled: 0 });
    }, PATIENCE);
    const asides: string[] = [];
    for (const name of [`${queue}.dlq`, `${queue}.parked`]) {
      for (let found = await mq.pull(name); found !== undefined; found = await mq.pull(name)) {
        expect(found.messageId).toBe(id);
        found.ack();
        asides.push(name);
      }
    }
    const original = seen.filter(({ attempt }) => attempt === 1);
    const copies = answer === 'reject' || answer === 'park' ? asides.length : seen.length - original.length;
    expect(EXPECTED[step].original).toContain(original.length);
    expect(EXPECTED[step].copies).toContain(copies);
    expect(original.length + copies).toBeGreaterThan(0);
    expect(new Set(seen.map((one) => one.id))).toEqual(seen.length === 0 ? new Set() : new Set([id]));
    expect(original.every(({ redelivered }) => redelivered)).toBe(true);
    expect(asides).toEqual(asides.map(() => `${queue}.${answer === 'park' ? 'parked' : 'dlq'}`));
    expect(seen.every(({ attempt }) => attempt <= 2)).toBe(true);
  },
);

test.each([
  ['before the acknowledgement', 1, 1],
  ['after the acknowledgement', 0, 1],
  ['when all is done', 0, 0],
] as const)(
  'a consumer killed %s, whose answer is accept, leaves the message where it must be',
  async (step, least, most) => {
    const { mq } = await serviceOn(node().url);
    const queue = queueName();
    await mq.declare(topology().queue(queue, { type: 'classic' }));
    const { id } = await mq.publisher({ routingKey: queue }).send('x');
    await killed(queue, 'accept', step);
    await vi.waitFor(async () => expect((await openOn(node())).connections).toBe(2), PATIENCE);
    const { ready } = await vi.waitFor(async () => {
      const depth = await depthOf(node(), queue);
      expect(depth.unsettled).toBe(0);
      return depth;
    }, PATIENCE);
    expect(ready).toBeGreaterThanOrEqual(least);
    expect(ready).toBeLessThanOrEqual(most);
    if (ready > 0) expect(await mq.pull(queue)).toMatchObject({ messageId: id, redelivered: true });
  },
);
