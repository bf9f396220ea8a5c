// PostgreSQL, through `pg`.
export { postgres } from './dialect.ts';
export type { PgClientOf, PgPool, PgPoolClient } from './pg-database.ts';
export { pgDatabase } from './pg-database.ts';
export type { PgClient, PgTransaction } from './pg-executor.ts';
export { pgExecutor } from './pg-executor.ts';
