import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { connect } from '@acemq/amqp';
import { fixed, RetryLadder, topology } from '@acemq/core';
import { bundled } from '@acemq/fault-node/bundled-program';
import { expect, onTestFinished, test } from 'vitest';

interface Line {
  readonly pid: number;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string;
  readonly outcome: string;
}

const url = process.env['AMQP_URL'] ?? '';

test('one trace goes through three processes, and a retry that waits in the broker', async () => {
  const first = `acemq-test-${randomUUID()}`;
  const second = `${first}-next`;
  const policy = fixed(2, '1s').waitInBrokerFrom('1s');
  const mq = await connect(url);
  onTestFinished(async () => {
    const names = [first, second].flatMap((queue) => [queue, `${queue}.dlq`, `${queue}.parked`]);
    for (const name of [...names, ...RetryLadder.for(first, policy).queues]) await mq.deleteQueue(name);
    await mq.close();
  });
  await mq.declare(topology().queue(first, { retry: policy }).queue(second));
  const program = await bundled(new URL('traced-process.ts', import.meta.url));
  onTestFinished(() => program.remove());
  const run = async (role: string): Promise<Line[]> => {
    const child = spawn(process.execPath, [program.file, url, role, first, second], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => {
      child.kill();
    });
    const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect(code).toBe(0);
    return out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
  };
  const lines = (await Promise.all(['publisher', 'first', 'second'].map(run))).flat();
  expect(new Set(lines.map((line) => line.traceId)).size).toBe(1);
  expect(new Set(lines.map((line) => line.pid)).size).toBe(3);
  const the = (name: string, outcome: string): Line | undefined =>
    lines.find((line) => line.name === name && line.outcome === outcome);
  const publish = the(`${first} publish`, 'confirmed');
  const retried = the(`${first} process`, 'retried');
  const acked = the(`${first} process`, 'acked');
  const onward = the(`${second} publish`, 'confirmed');
  const last = the(`${second} process`, 'acked');
  expect(lines).toHaveLength(5);
  expect(publish?.parent).toBe('');
  expect([retried?.parent, acked?.parent]).toEqual([publish?.spanId, publish?.spanId]);
  expect(onward?.parent).toBe(acked?.spanId);
  expect(last?.parent).toBe(onward?.spanId);
});
