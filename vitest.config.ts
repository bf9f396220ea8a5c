import type { ViteUserConfig } from 'vitest/config';
import { defineConfig } from 'vitest/config';
import packageTests from './vitest.base.ts';

/**
 * The tests that start a broker of their own, of every package: one file at a time, since two brokers are too
 * much for a small machine, and after all others.
 */
const faultTests: ViteUserConfig = {
  ...packageTests,
  test: {
    ...packageTests.test,
    name: 'faults',
    include: ['{packages,fault-node}/**/test/**/*.fault.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    fileParallelism: false,
    sequence: { groupOrder: 1 },
    hookTimeout: 150_000,
    testTimeout: 60_000,
  },
};

// All tests in one run: one pool of workers and one report. A folder is a project by its own
// vitest.config.ts.
export default defineConfig({
  test: {
    projects: [
      '{packages,examples}/*/vitest.config.ts',
      '{contract-fixtures,fault-node,prometheus-server,terminal,bench,scripts,docs}/vitest.config.ts',
      faultTests,
    ],
    maxWorkers: 2,
  },
});
