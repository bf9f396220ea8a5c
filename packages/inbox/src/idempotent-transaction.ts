import {
  type Ack,
  accept,
  ConfigurationError,
  type Duration,
  type Handler,
  inProgress,
  isAck,
  type Message,
  milliseconds,
} from '@acemq/core';
import { failureOf, type SqlExecutor, type SqlTransaction, withLockWait } from '@acemq/sql';
import { type KeyOptions, keyReader } from './message-key.ts';
import type { SqlInbox } from './sql-inbox.ts';
import type { Claim, InboxKey } from './store.ts';

/** A handler that does all its writing in the transaction that it is given. It neither commits nor rolls back. */
export type TransactionHandler<T, Tx> = (message: Message<T>, tx: Tx) => Ack | Promise<Ack>;

/**
 * Opens a transaction, runs `work` in it, commits, and gives back what it resolved to; rolls back where it rejects, and
 * rejects with the same error.
 */
export type OpenTransaction<Tx> = <R>(work: (tx: Tx, executor: SqlExecutor) => Promise<R>) => Promise<R>;

/** How {@link idempotentTransaction} behaves. */
export interface IdempotentTransactionOptions<T = unknown> extends KeyOptions<T> {
  /**
   * How long a repeat waits for the transaction that has the same message, from 1 ms (MySQL: whole seconds). Where that
   * takes longer, the message comes back later. 5 s by default.
   */
  readonly lockWait?: Duration | undefined;
}

/** {@link IdempotentTransactionOptions}, with transactions of a query layer. */
export interface OpenedTransactionOptions<T, Tx> extends IdempotentTransactionOptions<T> {
  /** How a transaction of the layer is opened, such as `(work) => db.transaction().execute((trx) => work(trx, forKysely(trx)))`. */
  readonly open: OpenTransaction<Tx>;
}

/**
 * Makes the effect of a handler happen once for each message: the claim, what the handler writes, and the confirmation are
 * one transaction. It commits when the handler accepts, and rolls back when it throws or answers anything else, as if the
 * message had never been seen.
 *
 * A repeat that comes while the first is at work waits for it to commit. Only what is written in that transaction happens
 * once: a mail that the handler sends is sent again with the repeat.
 *
 * @param store - Its `claimTimeout` plays no part here, since nothing is claimed that is not confirmed.
 * @returns A handler, which throws what the handler or the database threw, a serialization failure or a deadlock among
 * them: that is a retry.
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for options that cannot be used.
 */
export function idempotentTransaction<T, Connection>(
  handler: TransactionHandler<T, SqlTransaction<Connection>>,
  store: SqlInbox<Connection>,
  options?: IdempotentTransactionOptions<T>,
): Handler<T>;
export function idempotentTransaction<T, Tx>(
  handler: TransactionHandler<T, Tx>,
  store: SqlInbox,
  options: OpenedTransactionOptions<T, Tx>,
): Handler<T>;
export function idempotentTransaction<T, Tx>(
  handler: TransactionHandler<T, Tx>,
  store: SqlInbox,
  options: IdempotentTransactionOptions<T> & Partial<OpenedTransactionOptions<T, Tx>> = {},
): Handler<T> {
  const keyOf = keyReader(options, ['lockWait', 'open'], 'idempotentTransaction');
  const lockWait = milliseconds(options.lockWait ?? '5s', 'lockWait', { min: 1 });
  const open = options.open ?? openedBy<Tx>(store, lockWait);

  // Where the transaction is ours, the answer to COMMIT says so on PostgreSQL, and SQLite ends none of itself.
  const mayEndUnnoticed = options.open !== undefined || store.database.dialect === 'mysql';

  async function checkOpen(executor: SqlExecutor, key: InboxKey): Promise<void> {
    let isOpen = false;
    let cause: unknown;
    try {
      isOpen = await store.isClaimedWithin(executor, key);
    } catch (error) {
      cause = error;
    }
    if (!isOpen) throw new ConfigurationError(SWALLOWED, { cause });
  }

  return async (message) => {
    const key = keyOf(message);
    let begun = false;
    let decided: { readonly ack: Ack } | undefined;
    const rollBack = (ack: Ack): Error => {
      decided = { ack };
      return new Error('the transaction is rolled back, since the message was not accepted in it');
    };
    try {
      return await open(async (tx, executor) => {
        begun = true;
        const answer = await claimed(executor);
        if (answer !== 'claimed') throw rollBack(answer === 'duplicate' ? accept() : inProgress());
        const ack = await handler(message, tx);
        if (!isAck(ack) || ack.decision !== 'accept') throw rollBack(ack);
        if (mayEndUnnoticed) await checkOpen(executor, key);
        return ack;
      });
    } catch (error) {
      if (decided !== undefined) return decided.ack;
      // SQLite has one writer: a transaction may not even begin while another is open.
      if (!begun && failureOf(error) === 'lock-timeout') return inProgress();
      throw error;
    }

    async function claimed(executor: SqlExecutor): Promise<Claim['answer']> {
      const { dialect } = store.database;
      try {
        return await withLockWait(executor, dialect, lockWait, () => store.claimWithin(executor, key));
      } catch (error) {
        if (failureOf(error) === 'lock-timeout') return 'in_progress';
        throw error;
      }
    }
  };
}

const SWALLOWED =
  'the transaction was ended before the handler accepted: a statement in it had failed, and the error was not thrown on';

function openedBy<Tx>({ database }: SqlInbox, lockWait: number): OpenTransaction<Tx> {
  // Of the others only the claim is to wait no longer, not what the handler does.
  const options = database.dialect === 'sqlite' ? { lockWait } : {};
  return (work) => database.transaction((tx) => work(tx as Tx, tx), options);
}
