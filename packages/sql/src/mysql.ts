// MySQL and MariaDB, through `mysql2`.
export { mysql } from './dialect.ts';
export type { MysqlCallbackPool, MysqlPool, MysqlPoolConnection } from './mysql-database.ts';
export { mysqlDatabase } from './mysql-database.ts';
export type {
  MysqlCallbackConnection,
  MysqlConnection,
  MysqlParameter,
  MysqlQuery,
  MysqlTransaction,
} from './mysql-executor.ts';
export { mysqlExecutor } from './mysql-executor.ts';
