import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { connect } from '@acemq/amqp';
import { topology } from '@acemq/core';
import { bundled } from '@acemq/fault-node/bundled-program';
import type { Plugin } from 'vite';
import { expect, onTestFinished, test } from 'vitest';

interface Line {
  readonly scope: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string;
  readonly outcome: string;
}

const url = process.env['AMQP_URL'] ?? '';
const OURS = 'org.acemq.amqp';
const THEIRS = '@opentelemetry/instrumentation-amqplib';

/** Leaves amqplib and OpenTelemetry where they are installed: the instrumentation patches what Node loads. */
function loadedByNode(): Plugin {
  const from = [
    createRequire(import.meta.url),
    createRequire(createRequire(import.meta.url).resolve('@acemq/amqp/package.json')),
  ];
  return {
    name: 'loaded-by-node',
    enforce: 'pre',
    resolveId(id) {
      if (!/^(?:amqplib|@opentelemetry)\//.test(id)) return undefined;
      for (const require of from) {
        try {
          return { id: pathToFileURL(require.resolve(id)).href, external: true };
        } catch {
          // The other one has it.
        }
      }
      throw new Error(`${id} is installed in neither package`);
    },
  };
}

/** The program, as one file that Node runs with the modules that are to be instrumented beside it. */
async function built(): Promise<string> {
  const program = await bundled(new URL('instrumented-process.ts', import.meta.url), {
    plugins: [loadedByNode()],
  });
  onTestFinished(() => program.remove());
  return program.file;
}

async function spansOf(program: string, first: string, second: string): Promise<Line[]> {
  const child = spawn(process.execPath, [program, url, first, second], {
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
}

test('beside the instrumentation of amqplib there is one trace, with the right parents', async () => {
  const first = `acemq-test-${randomUUID()}`;
  const second = `${first}-next`;
  const mq = await connect(url);
  onTestFinished(async () => {
    const names = [first, second].flatMap((queue) => [queue, `${queue}.dlq`, `${queue}.parked`]);
    for (const name of names) await mq.deleteQueue(name);
    await mq.close();
  });
  await mq.declare(topology().queue(first).queue(second));
  const lines = await spansOf(await built(), first, second);
  expect(new Set(lines.map(({ traceId }) => traceId)).size).toBe(1);
  const the = (name: string, outcome: string): Line | undefined =>
    lines.find((line) => line.scope === OURS && line.name === name && line.outcome === outcome);
  const publish = the(`${first} publish`, 'confirmed');
  const retried = the(`${first} process`, 'retried');
  const acked = the(`${first} process`, 'acked');
  const onward = the(`${second} publish`, 'confirmed');
  const last = the(`${second} process`, 'acked');
  expect(lines.filter(({ scope }) => scope === OURS)).toHaveLength(5);
  expect(publish?.parent).toBe('');
  expect([retried?.parent, acked?.parent]).toEqual([publish?.spanId, publish?.spanId]);
  expect(onward?.parent).toBe(acked?.spanId);
  expect(last?.parent).toBe(onward?.spanId);
  // Its own: no publish, and one more span for each delivery, beside ours. That it is on at all shows here.
  const theirs = lines.filter(({ scope }) => scope === THEIRS);
  // In no order: each ends with its acknowledgement.
  expect(theirs.map(({ name, parent }) => [name, parent]).sort()).toEqual([
    [`${first} process`, publish?.spanId],
    [`${first} process`, publish?.spanId],
    [`${second} process`, onward?.spanId],
  ]);
});
