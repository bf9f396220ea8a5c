import type { Dialect, TableName } from '@acemq/sql';

/** What the table is called unless one says otherwise. */
export const DEFAULT_TABLE = 'acemq_outbox';

/** Where an outbox has its tables. */
export interface TableOptions {
  /** Up to 40 characters; the other tables are called after it. Default `acemq_outbox`. */
  readonly table?: string | undefined;
  /** Default: whatever the connection has. */
  readonly schema?: string | undefined;
}

/** The four tables. */
export interface OutboxTables {
  readonly records: TableName;
  readonly lanes: TableName;
  readonly relays: TableName;
  readonly rests: TableName;
}

/** Throws `ConfigurationError` for a name that is no identifier. */
export function tablesOf(dialect: Dialect, { table = DEFAULT_TABLE, schema }: TableOptions): OutboxTables {
  const records = dialect.table(table, schema);
  return {
    records,
    lanes: records.suffixed('_lanes'),
    relays: records.suffixed('_relays'),
    rests: records.suffixed('_rests'),
  };
}
