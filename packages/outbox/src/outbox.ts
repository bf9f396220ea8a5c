import { ConfigurationError, type MessageRecorder } from '@acemq/core';
import { type OutboxMessage, type OutboxRecord, record } from './record.ts';
import type { OutboxStore } from './store.ts';

/** Messages that are published if, and only if, the transaction that they are sent in commits. */
export class Outbox<Tx, Connection = Tx> {
  readonly #mq: MessageRecorder;
  readonly #store: OutboxStore<Tx, Connection>;

  /**
   * @param mq - Encodes the payloads, and stamps its origin and the active trace. Needs no open link.
   * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for what is no connection or no store.
   */
  constructor(mq: MessageRecorder, store: OutboxStore<Tx, Connection>) {
    if (typeof mq?.encode !== 'function') {
      throw new ConfigurationError(
        'an outbox needs a connection that encodes, such as connect() of @acemq/amqp returns',
      );
    }
    if (typeof store?.add !== 'function') {
      throw new ConfigurationError('an outbox needs a store, such as PgOutboxStore of @acemq/outbox/pg');
    }
    this.#mq = mq;
    this.#store = store;
  }

  /**
   * Records a message inside the caller's own transaction, which is neither committed nor closed. Resolves to what was
   * recorded. Rejects as `record` throws and `store.add` rejects; then nothing was written.
   */
  async send(tx: Tx, message: OutboxMessage): Promise<OutboxRecord> {
    const made = record(this.#mq, message);
    await this.#store.add(made, { tx });
    return made;
  }

  /**
   * Runs `work` in a transaction of the store's own and commits it, then wakes the relays of this process. What `work`
   * throws rolls everything back, and is thrown on.
   */
  transaction<T>(work: (tx: Connection) => Promise<T>): Promise<T> {
    return this.#store.transaction(work);
  }
}
