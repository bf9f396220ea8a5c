/**
 * What a statement failed of, as far as it matters to who decides what to do next:
 *
 * - `missing`: a table, column or schema is not there, so a migration was not applied
 * - `conflict`: a serialization failure or a deadlock; the transaction is gone and may be tried again
 * - `duplicate`: a unique key is taken
 * - `lock-timeout`: somebody else held a lock for too long
 * - `unavailable`: the database is away, shutting down, full or read-only; nobody can tell whether a commit went through
 * - `other`: all else
 */
export type SqlFailure = 'missing' | 'conflict' | 'duplicate' | 'lock-timeout' | 'unavailable' | 'other';

/** How far a `cause` chain is followed; drizzle, for one, wraps what the driver threw. */
const LONGEST_CAUSE_CHAIN = 8;

/** What an error of a driver says, or of a layer above it that keeps it as `cause`. */
export function failureOf(error: unknown): SqlFailure {
  let current: unknown = error;
  for (let depth = 0; depth < LONGEST_CAUSE_CHAIN; depth += 1) {
    if (typeof current !== 'object' || current === null) break;
    const failure = ofOne(current);
    if (failure !== undefined) return failure;
    current = 'cause' in current ? current.cause : undefined;
  }
  return 'other';
}

/** SQLSTATEs of PostgreSQL, names of MySQL and SQLite, codes of Node's sockets. */
const BY_CODE: Readonly<Record<string, SqlFailure>> = {
  '42P01': 'missing', // undefined_table
  '42703': 'missing', // undefined_column
  '3F000': 'missing', // invalid_schema_name
  '40001': 'conflict', // serialization_failure
  '40P01': 'conflict', // deadlock_detected
  '23505': 'duplicate', // unique_violation
  '55P03': 'lock-timeout', // lock_not_available
  '57P01': 'unavailable', // admin_shutdown
  '57P02': 'unavailable', // crash_shutdown
  '57P03': 'unavailable', // cannot_connect_now
  '57P05': 'unavailable', // idle_session_timeout
  '25P03': 'unavailable', // idle_in_transaction_session_timeout
  '53100': 'unavailable', // disk_full
  '53300': 'unavailable', // too_many_connections
  '25006': 'unavailable', // read_only_sql_transaction: a standby, during a failover

  ER_NO_SUCH_TABLE: 'missing',
  ER_BAD_FIELD_ERROR: 'missing',
  ER_BAD_DB_ERROR: 'missing',
  ER_LOCK_DEADLOCK: 'conflict',
  ER_CHECKREAD: 'conflict', // MariaDB, innodb_snapshot_isolation: the row has changed since the snapshot
  ER_DUP_ENTRY: 'duplicate',
  ER_LOCK_WAIT_TIMEOUT: 'lock-timeout',
  ER_LOCK_NOWAIT: 'lock-timeout',
  ER_SERVER_SHUTDOWN: 'unavailable',
  ER_CON_COUNT_ERROR: 'unavailable',
  ER_CONNECTION_KILLED: 'unavailable',
  ER_CLIENT_INTERACTION_TIMEOUT: 'unavailable',
  ER_OPTION_PREVENTS_STATEMENT: 'unavailable', // --read-only: a replica, during a failover
  ER_READ_ONLY_MODE: 'unavailable',
  ER_DISK_FULL: 'unavailable',
  ER_RECORD_FILE_FULL: 'unavailable',
  PROTOCOL_CONNECTION_LOST: 'unavailable',

  SQLITE_BUSY: 'lock-timeout',
  SQLITE_BUSY_RECOVERY: 'lock-timeout',
  SQLITE_BUSY_TIMEOUT: 'lock-timeout',
  SQLITE_LOCKED: 'lock-timeout',
  SQLITE_LOCKED_SHAREDCACHE: 'lock-timeout',
  SQLITE_BUSY_SNAPSHOT: 'conflict',
  SQLITE_CONSTRAINT_PRIMARYKEY: 'duplicate',
  SQLITE_CONSTRAINT_UNIQUE: 'duplicate',
  SQLITE_FULL: 'unavailable',
  SQLITE_CANTOPEN: 'unavailable',
  SQLITE_IOERR: 'unavailable',

  ACEMQ_TIMEOUT: 'lock-timeout', // Our own queue before a SQLite database

  ECONNREFUSED: 'unavailable',
  ECONNRESET: 'unavailable',
  ECONNABORTED: 'unavailable',
  EPIPE: 'unavailable',
  ETIMEDOUT: 'unavailable',
  EHOSTUNREACH: 'unavailable',
  ENETUNREACH: 'unavailable',
  ENOTFOUND: 'unavailable',
  EAI_AGAIN: 'unavailable',
};

/** The extended result codes that `node:sqlite` gives as a number. */
const BY_SQLITE_NUMBER: Readonly<Record<number, SqlFailure>> = {
  5: 'lock-timeout', // SQLITE_BUSY
  6: 'lock-timeout', // SQLITE_LOCKED
  261: 'lock-timeout', // SQLITE_BUSY_RECOVERY
  773: 'lock-timeout', // SQLITE_BUSY_TIMEOUT
  517: 'conflict', // SQLITE_BUSY_SNAPSHOT
  1555: 'duplicate', // SQLITE_CONSTRAINT_PRIMARYKEY
  2067: 'duplicate', // SQLITE_CONSTRAINT_UNIQUE
  13: 'unavailable', // SQLITE_FULL
  14: 'unavailable', // SQLITE_CANTOPEN
};

/** What has no code of its own: SQLite's generic error, and a driver that finds its connection gone. */
const BY_WORDS: readonly (readonly [RegExp, SqlFailure])[] = [
  [/^no such (table|column): |has no column named /, 'missing'],
  [/^Connection terminated|^Client has encountered a connection error|^Client was closed/, 'unavailable'],
  [
    /^timeout exceeded when trying to connect|^Can't add new command when connection is in closed state/,
    'unavailable',
  ],
];

function ofOne(error: object): SqlFailure | undefined {
  const { code, errcode, fatal, message } = error as {
    readonly code?: unknown;
    readonly errcode?: unknown;
    readonly fatal?: unknown;
    readonly message?: unknown;
  };
  if (typeof code === 'string') {
    if (Object.hasOwn(BY_CODE, code)) return BY_CODE[code];
    if (/^08...$/.test(code)) return 'unavailable'; // SQLSTATE class 08: connection exceptions
    if (code.startsWith('SQLITE_IOERR')) return 'unavailable';
  }
  if (fatal === true) return 'unavailable'; // mysql2: the connection cannot be used any more
  if (typeof errcode === 'number' && Object.hasOwn(BY_SQLITE_NUMBER, errcode))
    return BY_SQLITE_NUMBER[errcode];
  if (typeof message !== 'string') return undefined;
  return BY_WORDS.find(([words]) => words.test(message))?.[1];
}
