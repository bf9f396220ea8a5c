import { defineConfig } from 'vitest/config';

// All tests in one run: one pool of workers and one report. A folder is a project by its own vitest.config.ts.
export default defineConfig({
  test: {
    projects: [
      '{packages,examples}/*/vitest.config.ts',
      '{contract-fixtures,bench,scripts}/vitest.config.ts',
    ],
    maxWorkers: 2,
  },
});
