import { defineConfig } from 'tsup';

/** How every package is built: one file for import and one for require, with types for both. */
export default defineConfig({
  entry: ['src/index.ts'],
  format: ['esm', 'cjs'],
  target: 'node20.19',
  // tsup sets baseUrl, which TypeScript 6 refuses without the first; types come from the built siblings, so without our condition.
  dts: { compilerOptions: { ignoreDeprecations: '6.0', customConditions: [] } },
  sourcemap: true,
  clean: true,
  treeshake: true,
});
