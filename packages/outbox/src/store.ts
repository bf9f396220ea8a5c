import type { HeaderTable } from '@acemq/core';
import type { OutboxRecord } from './record.ts';

/** An exchange and a routing key. */
export interface Destination {
  readonly exchange: string;
  readonly routingKey: string;
}

/** What a relay learns of a record before it fetches it. */
export interface OwedKey {
  /** Where it stands: by this the records of a destination leave. */
  readonly seq: number;
  /** `destinationHash` of where it goes. */
  readonly destination: number;
  /** Bytes of its body. */
  readonly size: number;
}

/** Which owed records are asked for, in sequence order. */
export interface OwedQuery {
  /** Those behind this sequence number. */
  readonly after: number;
  /** Those up to this one, itself included. Without it, all. */
  readonly upTo?: number | undefined;
  /** Those of these lanes: a bit for each. */
  readonly lanes: bigint;
  /** Those of this destination only. */
  readonly only?: number | undefined;
  /** Those of all but these destinations. */
  readonly without?: readonly number[] | undefined;
  readonly limit: number;
}

/** An owed record, as it is to be published. */
export interface OwedRecord extends Destination {
  readonly seq: number;
  readonly id: string;
  readonly contentType: string;
  readonly body: Uint8Array;
  /** `undefined` when what is stored cannot be read: somebody has changed the row. */
  readonly headers: HeaderTable | undefined;
  /** How often the broker has refused it. */
  readonly attempts: number;
  /** Milliseconds since it was written, by the store's own clock; negative where that was set back. */
  readonly age: number;
}

/** The lanes that a relay has after it asked. */
export interface Lease {
  readonly lanes: readonly number[];
  /** How many relays are alive, this one included. */
  readonly relays: number;
}

/** A record that the broker judged and did not take. */
export interface Refusal {
  readonly seq: number;
  readonly reason: string;
  /** It has no attempts left: it is kept, and not tried again. */
  readonly retire: boolean;
}

/** A destination that is left alone for a while. */
export interface Rest extends Destination {
  /** Milliseconds from now; 0 or less when it is over. */
  readonly remaining: number;
  /** How many rests in a row, from 1. */
  readonly refusals: number;
}

/** Who may still commit records whose sequence numbers have been given out. */
export interface Writers {
  /** A name for each open transaction that has written to the outbox, or may be about to. */
  readonly running: readonly string[];
  /** Whether there may be others that cannot be named. */
  readonly unsure: boolean;
}

/** How many records of a destination are owed. */
export interface OwedDestination extends Destination {
  readonly count: number;
  /** Milliseconds since the oldest of them was written. */
  readonly oldestAge: number;
}

/** A record that the broker has refused until it had no attempts left. */
export interface RetiredRecord extends Destination {
  readonly id: string;
  readonly attempts: number;
  /** The broker's last words about it. */
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch. */
  readonly retiredAt: number;
}

/** Being told across processes that something was committed. */
export interface WakeLine {
  /** Whether to be told: set before a relay goes to sleep and looks once more. */
  asleep(asleep: boolean): Promise<void>;
  close(): Promise<void>;
}

/** What a store tells those who watch it. */
export type OutboxChange =
  /** A record was written in a transaction that may still be open. */
  | 'added'
  /** A transaction with records has committed, or a record was released. */
  | 'committed';

/**
 * The relay's side of a store. Each call commits by itself. What cannot be done for the moment (the database is away)
 * rejects, and is asked again.
 */
export interface OutboxLedger {
  /**
   * Keeps the relay's lanes for `leaseTime` more milliseconds, by the store's clock, and takes free or lapsed ones up to
   * the relay's share: the lanes divided by the relays that are alive, rounded up.
   */
  lease(relay: string, leaseTime: number): Promise<Lease>;
  /** Gives lanes to whoever takes them. Those of others are left alone. */
  giveUp(relay: string, lanes: readonly number[]): Promise<void>;
  /** Gives up every lane, and is no longer alive. */
  leave(relay: string): Promise<void>;
  /** Owed records, without those retired. */
  owed(query: OwedQuery): Promise<readonly OwedKey[]>;
  /** Those that are still owed, in sequence order. */
  fetch(seqs: readonly number[]): Promise<readonly OwedRecord[]>;
  /**
   * Marks records that the broker has taken. Those in lanes that the relay no longer has are left alone. Resolves to how
   * many were marked.
   */
  published(relay: string, seqs: readonly number[]): Promise<number>;
  /** Spends an attempt of each record, and lets destinations rest. Records in lanes of others are left alone. */
  refused(relay: string, refusals: readonly Refusal[], rests: readonly Rest[]): Promise<void>;
  /** The destinations in these lanes that rest, or have not been reached since. */
  rests(lanes: bigint): Promise<readonly Rest[]>;
  /** These destinations have been reached: they rest no more. */
  recovered(destinations: readonly Destination[]): Promise<void>;
  /** `undefined` where the store cannot tell. */
  writers(): Promise<Writers | undefined>;
  /**
   * Removes records that were published more than `age` milliseconds ago, at most `limit`. Resolves to how many were
   * removed. Never one that is owed or retired.
   */
  removePublished(age: number, limit: number): Promise<number>;
  /** Calls `wake` when another process has committed a record. `undefined` where there is no such thing. */
  listen?(
    relay: string,
    wake: () => void,
    warn: (message: string, error?: unknown) => void,
  ): Promise<WakeLine | undefined>;
  /** Records that are not published, the retired ones included. */
  pendingCount(): Promise<number>;
  /** Milliseconds since the oldest owed record was written; `undefined` when none is owed. Retired ones are left out. */
  oldestAge(): Promise<number | undefined>;
  /** Retired records are left out. Reads every owed record. */
  owedByDestination(): Promise<readonly OwedDestination[]>;
  /** Retired records, the oldest first, at most `limit`. */
  retired(limit: number): Promise<readonly RetiredRecord[]>;
  /** Gives a retired record its attempts back. False when no retired record has this id. */
  release(id: string): Promise<boolean>;
}

/** How a record is added. */
export interface AddOptions<Tx> {
  /** The caller's own transaction. It is neither committed nor closed. */
  readonly tx: Tx;
}

/** Where records are kept between the commit and the broker's answer. */
export interface OutboxStore<Tx = unknown, Connection = Tx> extends OutboxLedger {
  /** The largest body that is taken, in bytes. */
  readonly maxBody: number;
  /**
   * Writes a record inside the caller's transaction. An id that is there already is left as it is.
   *
   * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for what is no transaction, a body above the limit, or a table
   * that is not there.
   */
  add(record: OutboxRecord, options: AddOptions<Tx>): Promise<void>;
  /** Runs `work` in a transaction of its own, commits, and wakes the relays of this process. */
  transaction<T>(work: (tx: Connection) => Promise<T>): Promise<T>;
  /** Applies the migrations that are missing. Resolves to their names. */
  migrate(): Promise<readonly string[]>;
  /** Calls `listener` on each change that is made through this store, until the returned function is called. */
  watch(listener: (change: OutboxChange) => void): () => void;
}
