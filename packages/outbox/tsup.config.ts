import { defineConfig } from 'tsup';
import base from '../../tsup.base.ts';

export default defineConfig({
  ...base,
  entry: ['src/index.ts', 'src/pg.ts', 'src/mysql.ts', 'src/sqlite.ts'],
  // The migrations are found beside the module, in the CommonJS form too.
  shims: true,
});
