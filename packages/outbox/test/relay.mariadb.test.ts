import { MysqlOutboxStore } from '../src/mysql.ts';
import { inTransaction, onMariadb, pool } from './on-mariadb.ts';
import { relaySuite } from './relay-suite.ts';

relaySuite(async () => {
  const { store, table } = await onMariadb();
  return { stores: [store, new MysqlOutboxStore(pool(), { table })], inTransaction };
});
