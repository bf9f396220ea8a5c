import { PgOutboxStore } from '../src/pg.ts';
import { inTransaction, onPostgres, pool } from './on-postgres.ts';
import { relaySuite } from './relay-suite.ts';

relaySuite(async () => {
  const { store, table } = await onPostgres();
  return { stores: [store, new PgOutboxStore(pool(), { table })], inTransaction };
});
