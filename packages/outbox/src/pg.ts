// An outbox in PostgreSQL, through `pg`.
export { PgOutboxStore } from './pg-store.ts';
export type { PgOutboxOptions } from './pg-store.ts';
