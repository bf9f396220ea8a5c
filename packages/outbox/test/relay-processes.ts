import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type BundledProgram, bundled } from '@acemq/fault-node/bundled-program';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { WorkerOptions } from './relay-worker.ts';

/** Relays in processes of their own. */
export interface RelayProcesses {
  start(options: Omit<WorkerOptions, 'amqp' | 'postgres'>): Promise<RelayProcess>;
}

/** One of them. */
interface RelayProcess {
  /** Resolves when it holds still at its step. */
  held(): Promise<void>;
  /** Ends it with SIGKILL. Resolves when it has gone. */
  kill(): Promise<void>;
}

/** Builds the worker for the tests of a file, and ends what they leave. */
export function useRelayProcesses(): RelayProcesses {
  let worker: BundledProgram;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    worker = await bundled(new URL('relay-worker.ts', import.meta.url), {
      external: ['pg'],
      within: new URL('../', import.meta.url),
    });
  }, 60_000);

  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  afterAll(() => worker?.remove());

  return {
    start: async (options) => {
      const told: WorkerOptions = {
        ...options,
        amqp: process.env['AMQP_URL'] ?? '',
        postgres: process.env['POSTGRES_URL'] ?? '',
      };
      const child = spawn(process.execPath, [worker.file, JSON.stringify(told)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      children.push(child);
      let said = '';
      const waiting: { readonly word: string; readonly resolve: () => void }[] = [];
      child.stdout.on('data', (text: Buffer) => {
        said += text.toString();
        for (const one of waiting) if (said.includes(one.word)) one.resolve();
      });
      const heard = (word: string): Promise<void> =>
        new Promise((resolve) => {
          if (said.includes(word)) resolve();
          else waiting.push({ word, resolve });
        });
      await heard('started');
      return {
        held: () => heard('held'),
        kill: async () => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          child.kill('SIGKILL');
          await once(child, 'exit');
        },
      };
    },
  };
}
