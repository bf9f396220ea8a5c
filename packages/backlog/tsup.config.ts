import { defineConfig } from 'tsup';
import base from '../../tsup.base.ts';

/** The library, and the program `acemq-backlog`, which has no types. */
export default defineConfig({
  ...base,
  entry: ['src/index.ts', 'src/cli.ts'],
  noExternal: ['@acemq/terminal'],
  dts: { ...(base as { dts: object }).dts, entry: 'src/index.ts' },
});
