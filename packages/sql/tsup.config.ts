import { defineConfig } from 'tsup';
import base from '../../tsup.base.ts';

export default defineConfig({
  ...base,
  entry: [
    'src/index.ts',
    'src/pg.ts',
    'src/mysql.ts',
    'src/sqlite.ts',
    'src/kysely.ts',
    'src/drizzle.ts',
    'src/knex.ts',
  ],
});
