import { fileURLToPath } from 'node:url';
import type { ViteUserConfig } from 'vitest/config';
import { configDefaults, defineConfig } from 'vitest/config';

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** How the tests of one package run: against the sources of its siblings, with the services that were found. */
const packageTests: ViteUserConfig = defineConfig({
  resolve: { conditions: ['@acemq/source'] },
  ssr: { resolve: { conditions: ['@acemq/source'] } },
  test: {
    include: ['test/**/*.test.ts'],
    // Those are a project of the whole workspace, in vitest.config.ts.
    exclude: [...configDefaults.exclude, '**/*.fault.test.ts'],
    globalSetup: [file('./scripts/vitest/setup-services.ts')],
    runner: file('./scripts/vitest/service-runner.ts'),
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    coverage: { provider: 'v8', include: ['src/**'] },
  },
});

export default packageTests;
