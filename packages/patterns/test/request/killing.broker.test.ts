import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type BundledProgram, bundled } from '@acemq/fault-node/bundled-program';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { Requester, respond } from '../../src/request/index.ts';
import type { Step } from './killed-process.ts';
import { amqpUrl, onBroker, queueOn } from './on-broker.ts';
import { PATIENCE } from './setting.ts';

let program: BundledProgram;
const processes: ChildProcess[] = [];

beforeAll(async () => {
  program = await bundled(new URL('killed-process.ts', import.meta.url));
}, 60_000);

afterEach(() => {
  for (const one of processes.splice(0)) one.kill('SIGKILL');
});

afterAll(() => program?.remove());

/** Starts one. Resolves to what it has said when it has said a word. */
async function started(
  queue: string,
  step: Step,
  word: string,
): Promise<{ child: ChildProcess; said(): string }> {
  const child = spawn(process.execPath, [program.file, amqpUrl(), queue, step], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  processes.push(child);
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    text += more;
  });
  const said = (): string => text;
  await vi.waitFor(() => expect(said()).toContain(word), PATIENCE);
  return { child, said };
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

test('a responder killed before its reply left: the request comes again, and is answered once', async () => {
  const mq = await onBroker();
  const queue = await queueOn(mq, 'classic');
  const { child, said } = await started(queue, 'before the reply', 'responding');
  await using requester = await Requester.open(mq, { routingKey: queue });
  const answer = requester.ask('who?');
  await vi.waitFor(() => expect(said()).toContain('held'), PATIENCE);
  await kill(child);
  const redelivered: boolean[] = [];
  await using _next = await respond(mq, queue, (message) => {
    redelivered.push(message.redelivered);
    return 'the next one';
  });
  expect(await answer).toBe('the next one');
  expect(redelivered).toEqual([true]);
  expect(requester).toMatchObject({ answered: 1, unmatched: 0, outstanding: 0 });
});

test('a responder killed after its reply left: the ask is answered once, and the second reply counted as unmatched', async () => {
  const mq = await onBroker();
  const queue = await queueOn(mq, 'classic');
  const { child, said } = await started(queue, 'after the reply', 'responding');
  await using requester = await Requester.open(mq, { routingKey: queue });
  expect(await requester.ask('who?')).toBe('killed');
  await vi.waitFor(() => expect(said()).toContain('held'), PATIENCE);
  await kill(child);
  await using next = await respond(mq, queue, () => 'the next one');
  await vi.waitFor(() => expect(requester.unmatched).toBe(1), PATIENCE);
  expect(requester).toMatchObject({ answered: 1, late: 0, outstanding: 0 });
  expect(next.answered).toBe(1);
});

test('a requester killed while it waits: its queue goes with it, and its responder is none the worse', async () => {
  const mq = await onBroker();
  const queue = await queueOn(mq, 'classic');
  const { child, said } = await started(queue, 'while asking', 'held');
  const [replyQueue = ''] = said().split('\n');
  expect(replyQueue).toMatch(/^acemq-reply-[0-9a-f]{32}$/);
  await vi.waitFor(async () => expect(await mq.messageCount(queue)).toBe(1), PATIENCE);
  await kill(child);
  await vi.waitFor(async () => expect(await mq.queueExists(replyQueue)).toBe(false), PATIENCE);
  await using responder = await respond(mq, queue, () => 'for nobody');
  await vi.waitFor(() => expect(responder.answered).toBe(1), PATIENCE);
  await responder.close();
  expect(await mq.messageCount(queue)).toBe(0);
  expect(await mq.messageCount(`${queue}.dlq`)).toBe(0);
});
