// An outbox in MySQL or MariaDB, through `mysql2`.

export type { MysqlOutboxOptions } from './mysql-store.ts';
export { MysqlOutboxStore } from './mysql-store.ts';
