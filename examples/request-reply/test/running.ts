import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type BundledProgram, bundled } from '@acemq/fault-node/bundled-program';
import { afterAll, beforeAll, expect } from 'vitest';

/** What a run ended with and printed. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Gives the tests of a file the program, built from the sources. */
export function useProgram(): (args: readonly string[], url: string) => Promise<Ran> {
  let program: BundledProgram;
  beforeAll(async () => {
    program = await bundled(new URL('../src/main.ts', import.meta.url), {
      within: new URL('../', import.meta.url),
    });
  }, 60_000);
  afterAll(() => program?.remove());
  return async (args, url) => {
    const child = spawn(process.execPath, [program.file, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, AMQP_URL: url },
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (bytes: Buffer) => (out += bytes.toString()));
    child.stderr.on('data', (bytes: Buffer) => (err += bytes.toString()));
    const [code] = (await once(child, 'close')) as [number];
    return { code, out, err };
  };
}

/** Holds the numbers of 200 asks. */
export function expectNumbers({ code, out, err }: Ran): void {
  expect(err).toBe('');
  expect(out).toContain('asked       200  at once, over one reply queue');
  expect(out).toContain('answered    182  with the right price');
  expect(out).toContain('refused      10  by the responder: UnknownSku');
  expect(out).toContain('timed out     8  after 200 ms');
  expect(out).toContain('late          8  replies');
  expect(out).toContain('requester  answered 192, timedOut 8, failed 0, unmatched 8, late 8');
  expect(out).toContain('responder  answered 190, failed 10, unanswerable 1');
  expect(out).toContain('11 dead letters');
  for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  expect(code).toBe(0);
}
