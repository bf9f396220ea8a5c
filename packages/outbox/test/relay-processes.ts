import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
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
  // Within the package, so that the worker finds pg.
  const folder = fileURLToPath(new URL(`../node_modules/.relay-${process.pid}/`, import.meta.url));
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    const conditions = ['@acemq/source', 'node'];
    await build({
      configFile: false,
      logLevel: 'error',
      resolve: { conditions },
      ssr: { noExternal: true, external: ['pg'], resolve: { conditions } },
      build: {
        ssr: fileURLToPath(new URL('relay-worker.ts', import.meta.url)),
        outDir: folder,
        rollupOptions: { output: { entryFileNames: 'worker.mjs' } },
      },
    });
  }, 60_000);

  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  return {
    start: async (options) => {
      const told: WorkerOptions = {
        ...options,
        amqp: process.env['AMQP_URL'] ?? '',
        postgres: process.env['POSTGRES_URL'] ?? '',
      };
      const child = spawn(process.execPath, [`${folder}worker.mjs`, JSON.stringify(told)], {
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
