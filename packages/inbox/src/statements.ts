import { type Dialect, integer, type Statement, sql, type TableName } from '@acemq/sql';
import { CLEANING_BATCH } from './cleaning.ts';
import type { InboxKey } from './store.ts';

/** Every statement of a store, for one table of one database. */
export interface InboxStatements {
  /** Writes the row unless there is one. `owner` null confirms it at once. */
  insert(key: InboxKey, owner: string | null, lasting: number): Statement;
  /** The row's `owner`, and whether it is past its deadline. */
  look(key: InboxKey): Statement;
  /** Writes a row that is past its deadline; the guard lets one of several through. */
  takeOver(key: InboxKey, owner: string | null, lasting: number): Statement;
  confirm(key: InboxKey, owner: string, lasting: number): Statement;
  release(key: InboxKey, owner: string): Statement;
  /** Removes some rows that are past their deadline. */
  readonly clean: Statement;
}

export function inboxStatements(dialect: Dialect, table: TableName): InboxStatements {
  const { now } = dialect;
  const until = (lasting: number): Statement => sql`${now} + ${integer(lasting)}`;
  const that = ({ scope, id }: InboxKey): Statement => sql`scope = ${scope} and message_id = ${id}`;
  // A unique violation would end a transaction of PostgreSQL, and mysql2 counts a no-op update as a row.
  const insert = dialect.name === 'mysql' ? sql`insert ignore` : sql`insert`;
  const unlessThere = dialect.name === 'mysql' ? sql`` : sql`on conflict (scope, message_id) do nothing`;
  return {
    insert: (key, owner, lasting) => sql`
      ${insert} into ${table} (scope, message_id, owner, claimed_at, expires_at)
      values (${key.scope}, ${key.id}, ${owner}, ${now}, ${until(lasting)})
      ${unlessThere}`,
    look: (key) => sql`
      select owner, case when expires_at <= ${now} then 1 else 0 end as expired
      from ${table} where ${that(key)}`,
    takeOver: (key, owner, lasting) => sql`
      update ${table} set owner = ${owner}, claimed_at = ${now}, expires_at = ${until(lasting)}
      where ${that(key)} and expires_at <= ${now}`,
    confirm: (key, owner, lasting) => sql`
      update ${table} set owner = null, expires_at = ${until(lasting)}
      where ${that(key)} and owner = ${owner}`,
    release: (key, owner) => sql`delete from ${table} where ${that(key)} and owner = ${owner}`,
    clean: cleaning(dialect, table),
  };
}

/** By the index on the deadline, whose first entries are the ones to go. */
function cleaning(dialect: Dialect, table: TableName): Statement {
  const expired = sql`where expires_at <= ${dialect.now} order by expires_at limit ${integer(CLEANING_BATCH)}`;
  switch (dialect.name) {
    case 'postgres':
      // The rows that another process is removing, or a consumer is taking over, are left to them.
      return sql`delete from ${table} where ctid = any (array(
        select ctid from ${table} ${expired} for update skip locked))`;
    case 'mysql':
      return sql`delete from ${table} ${expired}`;
    case 'sqlite':
      return sql`delete from ${table} where rowid in (select rowid from ${table} ${expired})`;
  }
}
