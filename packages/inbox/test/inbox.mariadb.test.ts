import { mysql, mysqlDatabase } from '@acemq/sql/mysql';
import mysqlDriver from 'mysql2/promise';
import { sqlSuite } from './sql-suite.ts';

sqlSuite({
  dialect: mysql,
  open: async () => {
    const pool = mysqlDriver.createPool(process.env['MARIADB_URL'] ?? '');
    return { database: mysqlDatabase(pool), close: () => pool.end() };
  },
});
