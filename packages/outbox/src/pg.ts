// An outbox in PostgreSQL, through `pg`.

export type { PgOutboxOptions } from './pg-store.ts';
export { PgOutboxStore } from './pg-store.ts';
