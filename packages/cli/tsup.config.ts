import { defineConfig } from 'tsup';
import base from '../../tsup.base.ts';

/** A program: one format, and no types. */
export default defineConfig({
  ...base,
  entry: ['src/cli.ts'],
  format: ['esm'],
  dts: false,
  noExternal: ['@acemq/terminal'],
});
