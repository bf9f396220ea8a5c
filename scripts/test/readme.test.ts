import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Block } from '../readme-blocks.mjs';
import { readmeBlocks, transpile, typeCheck, writeBlocks } from '../readme-blocks.mjs';

const blocks = readmeBlocks();
const files = writeBlocks(blocks);
const cases = blocks.map((block, index) => ({
  place: `${block.file}:${block.line}`,
  block,
  file: files[index] ?? '',
}));
const limit = 60_000;

describe('the code blocks of the READMEs', () => {
  let faults: Map<string, string[]>;
  beforeAll(() => {
    faults = typeCheck(files);
  }, limit);

  const running: { kill(): void }[] = [];
  afterEach(() => {
    for (const one of running.splice(0)) one.kill();
  });

  test.for(cases)('$place type-checks', ({ file }) => {
    expect(faults.get(file)).toEqual([]);
  });

  test.for(cases.filter(({ block }) => block.noRun === undefined))(
    '$place runs as written',
    { timeout: limit },
    async ({ block, file }, { skip }) => {
      const broker = process.env['AMQP_URL'];
      skip(broker === undefined && /amqp:\/\/|AMQP_URL/.test(block.code), 'needs RabbitMQ');
      const { code, output } = await execute(transpile(file, broker ?? ''), block.until);
      expect(code, output).toBe(0);
    },
  );

  /** Runs a program to its end, or until it has printed the text and is told to stop. */
  function execute(program: string, until: Block['until']): Promise<{ code: number | null; output: string }> {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, ['--enable-source-maps', program], {
        cwd: dirname(program),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      running.push({ kill: () => child.kill('SIGKILL') });
      let output = '';
      let stopping = false;
      const collect = (chunk: Buffer): void => {
        output += chunk.toString();
        if (until === undefined || stopping || !output.includes(until)) return;
        stopping = true;
        child.kill('SIGTERM');
      };
      child.stdout.on('data', collect);
      child.stderr.on('data', collect);
      child.once('error', reject);
      child.once('close', (code) => {
        const early = until !== undefined && !stopping;
        if (early) reject(new Error(`It ended before it printed "${until}".\n${output}`));
        else resolve({ code, output });
      });
    });
  }
});
