import { defineConfig } from 'tsup';

/** A program, not a library: one format and no types. */
export default defineConfig({
  entry: ['src/main.ts'],
  format: ['esm'],
  target: 'node20.19',
  sourcemap: true,
  clean: true,
});
