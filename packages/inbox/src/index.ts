// A handler that runs once for each message.
export { idempotent } from './idempotent.ts';
export type { IdempotentOptions } from './idempotent.ts';
export type { KeyOptions } from './message-key.ts';

// A handler whose effect happens once for each message.
export { idempotentTransaction } from './idempotent-transaction.ts';
export type {
  IdempotentTransactionOptions,
  OpenedTransactionOptions,
  OpenTransaction,
  TransactionHandler,
} from './idempotent-transaction.ts';

// Where claims are kept.
export { memoryInbox } from './memory-inbox.ts';
export type { MemoryInboxOptions } from './memory-inbox.ts';
export { sqlInbox } from './sql-inbox.ts';
export type { SqlInbox, SqlInboxOptions } from './sql-inbox.ts';
export type { InboxTimes } from './inbox-options.ts';

// What a store of one's own must do.
export type { Claim, InboxKey, InboxStore } from './store.ts';
